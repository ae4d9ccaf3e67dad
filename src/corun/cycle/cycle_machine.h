// One cycle-level GPU under the launches of several processes.
//
// Each process has an address space of its own: its launches are moved to a part of the address space that
// nobody else has. SMs, L2, the network and DRAM are shared as the device and --sharing have it. A launch
// that is granted may begin at that time; it waits for room on the SMs, and, with more of them granted than
// the hardware holds grids, in the order of the grants. All of that is time on the GPU.
//
// What has been simulated can't be undone: time goes on in steps of the network's latency, so a launch that
// is granted within such a step begins at its end, some tens of cycles later.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "corun/cycle/recording.h"
#include "corun/host.h"
#include "device/device.h"
#include "gpu/sharing.h"
#include "stream/moved_launch.h"
#include "timing/timing.h"

namespace simtlab::corun::cycle {

struct CycleOptions {
  timing::Options timing;  // its sharing is that of `sharing`
  gpu::Sharing sharing;    // parts may name kernels or applications
  // Of the programs: they take time, and what they write is gone from L2
  bool copies = false;
};

class CycleMachine final : public corun::Machine {
 public:
  struct Process {
    std::string application;
    const Recording* recording = nullptr;
  };
  // How a launch did: its place in the recording, and what was counted.
  using OnEnd = std::function<void(std::size_t process, std::size_t launch, result::KernelResult&& result)>;

  CycleMachine(const device::Device& device, const CycleOptions& options, std::vector<Process> processes,
               OnEnd on_end);

  void begin(std::size_t process, std::uint64_t launch, corun::Time now) override;
  corun::Time advance(corun::Time now, corun::Time until, std::vector<std::size_t>& ended) override;

 private:
  struct Job {
    std::size_t process = 0, launch = 0;
    std::unique_ptr<stream::MovedLaunch> source;
    timing::CycleGpu::Id id = 0;
  };
  struct Late {
    std::size_t process = 0;
    corun::Time at = 0;
  };

  void start_what_fits(corun::Time now);
  timing::CycleGpu::Setup setup_of(const Job& job) const;
  corun::Time time_of(std::uint64_t cycle) const;
  std::uint64_t cycle_of(corun::Time time) const;

  const device::Device device_;
  const CycleOptions options_;
  const std::vector<Process> processes_;
  const OnEnd on_end_;
  std::deque<Job> queue_;  // granted, in the order of the grants; the hardware has no room
  std::vector<Job> under_way_;
  std::unique_ptr<timing::CycleGpu> gpu_;  // goes before what it runs
  corun::Time period_ = 0;                 // when its clock was 0
  // Ended behind the time that was asked for, within what had been simulated
  std::optional<Late> late_;
};

}  // namespace simtlab::corun::cycle
