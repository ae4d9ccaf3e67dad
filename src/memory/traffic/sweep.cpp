#include "memory/traffic/sweep.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace simtlab::memory::traffic {

const std::vector<double>& usual_loads() {
  static const std::vector<double> loads = {0.01, 0.1, 0.2,  0.3, 0.4,  0.5, 0.6,
                                            0.7,  0.8, 0.85, 0.9, 0.95, 1.0};
  return loads;
}

std::vector<LoadPoint> sweep_load(memory::dram::Channels& memory, const Router& router,
                                  const DriverOptions& options,
                                  const std::function<std::unique_ptr<Source>()>& make, double peak,
                                  const std::vector<double>& loads,
                                  const std::function<void(const LoadPoint&)>& done) {
  std::vector<LoadPoint> points;
  const double seconds_a_clock = memory.clock_period() * 1e-12;
  const double line = static_cast<double>(options.line);
  DriverOptions driven = options;
  // Of one clock's share of the peak nothing may have to wait for the next clock.
  driven.per_clock = static_cast<std::uint32_t>(std::ceil(peak * seconds_a_clock / line)) + 1;
  for (const double load : loads) {
    std::unique_ptr<Source> source = make();
    if (source->pace() == Pace::chased)
      throw Error(ExitCode::usage, "sweep-load",
                  "pointer-chase has no load to sweep: one request is under way at a time",
                  "sweep random or stream");
    const double clocks = line / (load * peak * seconds_a_clock);
    Paced paced(std::move(source), clocks);
    memory.restart();
    points.push_back({load * peak, Driver(memory, router, driven).run(paced)});
    if (done) done(points.back());
    if (points.back().measured.outcome == Outcome::stopped) break;
  }
  return points;
}

}  // namespace simtlab::memory::traffic
