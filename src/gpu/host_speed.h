// How fast the host simulates: the time that it spends on launches, and what they execute.
#pragma once

#include <chrono>

#include "result/metrics.h"

namespace simtlab::gpu {

class HostSpeed {
 public:
  using Clock = std::chrono::steady_clock;

  // Adds the time that passes while it lives to that of the launches.
  class Stopwatch {
   public:
    explicit Stopwatch(HostSpeed& speed) : speed_(speed) {}
    ~Stopwatch() { speed_.launch_seconds_ += seconds_since(begin_); }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

   private:
    HostSpeed& speed_;
    Clock::time_point begin_ = Clock::now();
  };

  void add_instructions(double warp_instructions) { instructions_ += warp_instructions; }
  // host.wall_time since this object began, host.rate.warp_instructions, host.peak_memory.
  void set_totals(result::Metrics& total) const;

 private:
  static double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  Clock::time_point start_ = Clock::now();
  double launch_seconds_ = 0, instructions_ = 0;
};

}  // namespace simtlab::gpu
