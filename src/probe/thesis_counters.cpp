#include "probe/thesis_counters.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "probe/analysis/histogram.h"
#include "probe/analysis/timer.h"

namespace simtlab::probe {
namespace {

using Counts = std::vector<std::pair<const ThesisCounter*, double>>;  // of one launch
using Counted = std::map<const ThesisCounter*, Histogram>;

Counted counted(Bench& bench, const ThesisKernel& kernel, const CountedLaunch& l) {
  const gpu::Board::Function function = bench.kernel(kernel.text, "interval");
  Counted out;
  Counts before;
  for (unsigned i = 0; i < l.most; ++i) {
    static_cast<void>(bench.run(function, l.shape.blocks, l.shape.threads,
                                gpu::Arguments(l.out, l.data, 1.0f, 1.0f, 0u), l.out, 1));
    const result::Metrics told = bench.board.counters();
    Counts now;
    for (const ThesisCounter& c : thesis_counters)
      if (const auto value = told.get(c.metric); value && (l.local || !c.local))
        now.emplace_back(&c, *value / c.each);
    for (const auto& [counter, value] : now) out[counter].add(value);
    if (i > 0 && now == before) break;
    before = std::move(now);
  }
  return out;
}

void curve(Bench& bench, std::string name, const Distribution& d) {
  Series out{std::move(name), "count", "share", {}, {}};
  for (const auto& [count, mass] : d.masses()) out.points.push_back({static_cast<double>(count), mass});
  bench.found.series(std::move(out));
}

}  // namespace

void thesis_counts(Bench& bench, const CountedLaunch& l) {
  const Counted measured = counted(bench, l.timed, l),
                clock = counted(bench, clock_kernel(l.timed.intervals), l);
  if (measured.empty()) return bench.found.unknown("thesis.counters", "the board tells no counters");
  for (const ThesisCounter& c : thesis_counters) {
    const auto all = measured.find(&c), cost = clock.find(&c);
    if (all == measured.end() || cost == clock.end()) continue;
    const std::string name =
        fmt::format("counter.{}.{}.{}x{}", c.metric, l.name, l.shape.blocks, l.shape.threads);
    const Distribution of_all(all->second), of_clock(cost->second);
    const Distribution left = difference_of(of_all, of_clock);
    curve(bench, name + ".measured", of_all);
    curve(bench, name + ".clock", of_clock);
    curve(bench, name + ".estimate", left);
    bench.found.once(
        name, left.mean(), "",
        fmt::format("counts of {} launches less those of {} launches that only read the clock, by "
                    "difference of the distributions; mean",
                    all->second.count(), cost->second.count()),
        all->second.count(), name + ".estimate");
  }
}

}  // namespace simtlab::probe
