// Branches, divergence, barriers, fences.
#include <fmt/format.h>

#include <algorithm>

#include "probe/analysis/sampling.h"
#include "probe/kinds.h"
#include "probe/timed.h"

namespace simtlab::probe {
namespace {

// One round of a loop of which the clock sees nothing but: count, compare, branch back. The comparison waits
// for the count and the branch for the comparison.
void branch(Bench& bench) {
  Timed t;
  t.body = [](unsigned n) {
    return fmt::format(
        "mov.u32 %r0, 8;\nLOOP{0}:\nsub.u32 %r0, %r0, 1;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra LOOP{0};", n);
  };
  Timed longer = t;
  longer.body = [](unsigned n) {
    return fmt::format(
        "mov.u32 %r0, 24;\nLOOP{0}:\nsub.u32 %r0, %r0, 1;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra LOOP{0};", n);
  };
  t.repetitions = longer.repetitions = 8;
  const auto arithmetic = bench.found.by_slope("latency.int_alu");
  if (!arithmetic)
    return bench.found.unknown("sm.branch_latency", "the latency of integer instructions is not known");
  const Estimate e = estimate(sample([&] {
    return (slope_of_timed(bench, longer, {}) - slope_of_timed(bench, t, {})) / 16 - 2 * *arithmetic;
  }));
  bench.found.measured("control.loop", e.value + 2 * *arithmetic, "cycles",
                       {e.interval.low + 2 * *arithmetic, e.interval.high + 2 * *arithmetic},
                       "slope of rounds of a loop of count, comparison and branch", e.samples);
  bench.found.measured("sm.branch_latency", e, "cycles",
                       "round of a loop of count, comparison and branch, less two integer latencies");
  for (const char* key : {"control.loop", "sm.branch_latency"}) bench.found.correct(key, "slope");
}

// Each path does the same; lanes below k take paths of their own.
void divergence(Bench& bench) {
  Series curve{"control.divergence", "paths", "cycles", {}, {}};
  for (const unsigned paths : {1u, 2u, 4u, 8u, 16u, 32u}) {
    Timed t;
    t.repetitions = 2;
    t.setup = fmt::format(
        "and.b32 %r1, %lane, {}; mov.f32 %f0, 0f3f800000; mov.f32 %f1, 0f3f800000; cvt.rn.f32.u64 %f1, %c; "
        "mov.f32 %f2, 0f00000000;",
        paths - 1);
    t.body = [paths](unsigned n) {
      std::string out;
      for (unsigned p = 0; p < paths; ++p) {
        out += fmt::format("setp.ne.u32 %p0, %r1, {1};\n@%p0 bra SKIP{0}_{1};\n", n, p);
        for (int i = 0; i < 8; ++i) out += "fma.rn.f32 %f0, %f0, %f1, %f2;\n";
        out += fmt::format("SKIP{}_{}:\n", n, p);
      }
      return out;
    };
    t.finish = "cvt.rzi.u64.f32 %l15, %f0;";
    TimedRun run;
    run.c = 1;
    curve.points.push_back({static_cast<double>(paths), slope_of_timed(bench, t, run)});
  }
  const double slope =
      (curve.points.back().y - curve.points.front().y) / (curve.points.back().x - curve.points.front().x);
  bench.found.once("control.path", slope, "cycles",
                   "cost of one more path of eight dependent multiply-adds within a warp",
                   curve.points.size(), curve.name);
  bench.found.correct("control.path", "slope");
  bench.found.series(std::move(curve));
}

void barrier(Bench& bench) {
  Timed t;
  t.body = [](unsigned) { return std::string("bar.sync 0;"); };
  Series curve{"control.barrier", "warps", "cycles", {}, {}};
  const unsigned most = std::min(bench.board.facts().max_threads_per_block, 1024u) / 32;
  for (unsigned warps = 1; warps <= most; warps *= 2) {
    TimedRun run;
    run.threads = 32 * warps;
    curve.points.push_back({static_cast<double>(warps), slope_of_timed(bench, t, run)});
  }
  if (curve.points.size() > 1) {
    // The SM counts arrivals one after another, as many cycles apart as each further warp costs.
    const auto &last = curve.points.back(), &before = curve.points[curve.points.size() - 2];
    const double apart = std::max(1.0, std::round((last.y - before.y) / (last.x - before.x)));
    const double latency = curve.points[1].y - 2 * apart;
    report_latency(bench,
                   {{"sm.barrier_latency"},
                    {latency, {latency, latency}, 3},
                    "slope of barriers of two warps, less the cycles of two arrivals",
                    "a barrier of two warps",
                    curve.name,
                    false},
                   [&] {
                     TimedRun run;
                     run.threads = 64;
                     Singles singles = singles_of_timed(bench, t, run);
                     singles.less = 2 * apart;
                     return singles;
                   });
  }
  bench.found.series(std::move(curve));
}

void fence(Bench& bench) {
  Timed t;
  t.body = [](unsigned) { return std::string("membar.gl;"); };
  const Estimate e = estimate(sample([&] { return slope_of_timed(bench, t, {}); }));
  report_latency(bench,
                 {{"latency.fence"},
                  e,
                  "slope of fences of one warp with nothing under way",
                  "a fence of one warp with nothing under way"},
                 [&] { return singles_of_timed(bench, t, {}); });
}

void probe_control(Bench& bench) {
  branch(bench);
  divergence(bench);
  barrier(bench);
  fence(bench);
}

}  // namespace

extern constinit const Kind kind_control{
    "control", "Branches, divergence, barriers, fences", probe_control, "arithmetic issue", 140, true};

}  // namespace simtlab::probe
