// The cycle-level host of mixes: recorded applications together on one simulated GPU, each a process with an
// address space of its own, a policy deciding at simulated time which of them may launch. Alone means: the
// whole GPU, one application, no partition.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "corun/cycle/cycle_machine.h"
#include "corun/host.h"
#include "corun/profiles.h"

namespace simtlab::corun::cycle {

class CycleHost {
 public:
  CycleHost(const device::Device& device, const CycleOptions& options);
  ~CycleHost();

  // Runs the application alone. Throws as Recording and timing::CycleGpu.
  void add(const std::string& name, const std::filesystem::path& trace, std::uint64_t iterations,
           double gap_ns, const std::string& source);
  // What that found: kernels, and applications as their sequences.
  const corun::Profiles& profiles() const { return profiles_; }
  const corun::ApplicationResult& alone(const std::string& name) const;

  // Workloads of applications that were added. Times alone are those of the run alone.
  corun::MixResult run(std::span<const corun::Workload> mix, const corun::Policy& policy,
                       const corun::HostOptions& options) const;

 private:
  struct Application;

  void add_copies(const Application& application, corun::Workload& workload) const;
  result::KernelResult run_cold(const Application& application, std::size_t launch,
                                const CycleOptions& cycle) const;
  corun::MixResult run(std::span<const corun::Workload> mix, const corun::Policy& policy,
                       const corun::HostOptions& options, const CycleOptions& cycle,
                       std::vector<result::KernelResult>* results) const;

  const device::Device device_;
  const CycleOptions options_;
  corun::Profiles profiles_;
  std::map<std::string, std::unique_ptr<Application>> applications_;
};

}  // namespace simtlab::corun::cycle
