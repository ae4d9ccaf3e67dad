#include "probe/interval.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "probe/analysis/timer.h"

namespace simtlab::probe {
namespace {

double mean_of(const Histogram& samples) { return samples.mean(); }

}  // namespace

// Deconvolution stops at what the number of samples makes by chance.
Distribution left_of(Correction correction, const Singles& s) {
  const Distribution timed(s.timed), empty(s.empty);
  if (correction != Correction::deconvolve) return corrected(correction, timed, empty);
  DeconvolveOptions options;
  options.enough = std::max(options.enough, sampling_error(timed, s.timed.count()));
  return deconvolve(timed, empty, options).latency;
}

const char* way_of(Correction correction) {
  switch (correction) {
    case Correction::difference: return "less the clock's cost, as the difference of the two distributions";
    case Correction::deconvolve: return "without the clock's cost, by deconvolution";
    case Correction::subtract: return "less the median of the clock's cost";
    default: return "with the clock's cost left in";
  }
}

Estimate corrected_estimate(Correction correction, const Singles& s) {
  Estimate e;
  e.value = left_of(correction, s).mean() / s.operations - s.less;
  // Chance of the intervals and of the cost's: both ends as far off as they can be.
  const auto around = [](const Histogram& h) {
    const double mean = h.mean();
    const Interval i = h.bins().size() == 1 ? Interval{mean, mean} : bootstrap(h, mean_of);
    return Interval{i.low - mean, i.high - mean};
  };
  const Interval timed = around(s.timed),
                 empty = correction == Correction::none ? Interval{} : around(s.empty);
  e.interval = {e.value + (timed.low - empty.high) / s.operations,
                e.value + (timed.high - empty.low) / s.operations};
  e.samples = s.timed.count(), e.histogram = s.timed;
  return e;
}

void report_latency(Bench& bench, const TimedLatency& l, const std::function<Singles()>& measure) {
  const Correction correction = bench.options.correction;
  const auto slope = [&](const std::string& key) {
    if (l.repeated)
      bench.found.measured(key, l.slope, "cycles", l.method, l.curve);
    else
      bench.found.once(key, l.slope.value, "cycles", l.method, l.slope.samples, l.curve);
    bench.found.correct(key, "slope");
  };
  if (correction == Correction::slope) {
    for (const std::string& key : l.keys) slope(key);
    return;
  }
  for (const std::string& key : l.keys) slope("slope." + key);
  const Singles s = measure();
  const Estimate cost{
      s.empty.mean(),
      s.empty.bins().size() == 1 ? Interval{s.empty.mean(), s.empty.mean()} : bootstrap(s.empty, mean_of),
      s.empty.count(), s.empty};
  for (const std::string& key : l.keys)
    bench.found.measured("cost." + key, cost, "cycles",
                         "interval between two readings of the clock with nothing between, else as " + key);
  const auto give_up = [&](const std::string& why) {
    for (const std::string& key : l.keys) bench.found.unknown(key, why);
  };
  try {
    const Estimate e = corrected_estimate(correction, s);
    if (e.value <= 0)
      return give_up(fmt::format("an interval around {} is no longer than one around nothing", l.what));
    const std::string less = s.less == 0
                                 ? ""
                                 : fmt::format(", and less {:.4g} cycles that do not belong to it", s.less),
                      part = s.operations == 1 ? "" : fmt::format(", a {:g}th of it", s.operations);
    for (const std::string& key : l.keys) {
      bench.found.measured(
          key, e, "cycles",
          fmt::format("mean interval around {}{}, {}{}; one around nothing takes {:.4g} cycles", l.what, part,
                      way_of(correction), less, cost.value));
      bench.found.correct(key, std::string(name_of(correction)));
    }
  } catch (const Error& error) {  // distributions too wide for it
    give_up(error.what());
  }
}

}  // namespace simtlab::probe
