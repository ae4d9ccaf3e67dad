// The latency-bandwidth curve of a memory: the same traffic at rising rates.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "memory/traffic/driver.h"

namespace simtlab::memory::traffic {

// A source's accesses at a fixed rate, whatever pace it has itself.
class Paced : public Source {
 public:
  // clocks: between two accesses, may be a fraction.
  Paced(std::unique_ptr<Source> source, double clocks) : source_(std::move(source)), clocks_(clocks) {}

  bool next(Access& access) override {
    if (!source_->next(access)) return false;
    access.cycle = static_cast<std::uint64_t>(static_cast<double>(count_++) * clocks_);
    return true;
  }
  Pace pace() const override { return Pace::timed; }
  Diagnostic place() const override { return source_->place(); }

 private:
  std::unique_ptr<Source> source_;
  double clocks_;
  std::uint64_t count_ = 0;
};

struct LoadPoint {
  double offered = 0;  // bytes/s
  Measured measured;
};

// The shares of the peak that are offered unless somebody asks for others.
const std::vector<double>& usual_loads();

// One run a share. make: the traffic, from its start. peak: bytes/s. done: called after each run, while the
// memory is as it left it. Ends early when a run is stopped. Throws Error(usage, "sweep-load") for traffic
// that has one request under way at a time, and what the driver throws.
std::vector<LoadPoint> sweep_load(memory::dram::Channels& memory, const Router& router,
                                  const DriverOptions& options,
                                  const std::function<std::unique_ptr<Source>()>& make, double peak,
                                  const std::vector<double>& loads,
                                  const std::function<void(const LoadPoint&)>& done = {});

}  // namespace simtlab::memory::traffic
