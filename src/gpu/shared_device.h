// A simulated GPU that several processes use at the same time: what runs there of one process, and when, on a
// clock for all of them.
//
// A process executes its kernels by itself, in its own memory; what the shared GPU gets is the recorded
// launch, which it times beside those of the others. So nobody sees anybody's data, and a process that ends
// takes nothing along.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "result/metrics.h"
#include "timing/timing.h"

namespace simtlab::gpu {

class SharedDevice {
 public:
  virtual ~SharedDevice() = default;
  // A name for the trace of a launch, which begin() takes away.
  virtual std::filesystem::path trace_file() = 0;
  // The device's clock: the host of a program that waited for something else than the device has waited until
  // then.
  virtual double clock_ns() = 0;
  // The one kernel of the trace may begin at that time (ns), or now if the clock has passed it.
  virtual std::uint64_t begin(const std::filesystem::path& trace, const timing::CycleGpu::Setup& setup,
                              double at_ns) = 0;
  struct Ended {
    std::uint64_t id = 0;
    double begin_ns = 0, end_ns = 0;
    result::KernelResult result;
  };
  // Waits until a launch of this process has ended, or the clock has come to `until_ns` (nothing).
  virtual std::optional<Ended> advance(double until_ns) = 0;
  // Device memory was written by a copy.
  virtual void invalidate(std::uint64_t address, std::uint64_t bytes) = 0;
  // Throws Error(unavailable, "corun-device") if the device has gone.
  virtual void check() = 0;
  // What is under way is not asked for any more.
  virtual void give_up() = 0;
};

}  // namespace simtlab::gpu
