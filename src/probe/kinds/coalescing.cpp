// A warp's load by the stride of its lanes: how much each further sector costs. Every lane follows a cell
// that holds its own address.
#include <fmt/format.h>

#include <algorithm>

#include "probe/analysis/timer.h"
#include "probe/kinds.h"
#include "probe/timed.h"

namespace simtlab::probe {
namespace {

void measure(Bench& bench, const char* name, const char* load) {
  constexpr std::uint64_t most = 256;
  const Bench::Buffer cells(bench, 32 * most);
  std::vector<std::uint64_t> own(cells.bytes() / 8);
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = cells.address() + 8 * i;
  bench.board.copy_in(cells.address(), own.data(), cells.bytes());
  Series curve{fmt::format("coalescing.{}", name), "bytes", "cycles", {}, {}};
  std::vector<Chain> chains;
  for (const std::uint64_t stride : {0ull, 8ull, 16ull, 32ull, 64ull, 128ull, 256ull}) {
    Timed t;
    t.setup = "cvt.u64.u32 %l0, %lane; mad.lo.u64 %l0, %l0, %b, %a;";
    const std::string text = load;
    t.body = [text](unsigned) { return text; };
    t.finish = "mov.u64 %l15, %l0;";
    t.repetitions = 8;
    TimedRun run;
    run.a = cells.address(), run.b = stride;
    const double cycles = slope_of_timed(bench, t, run);
    curve.points.push_back({static_cast<double>(stride), cycles});
    // Sectors of 32 bytes that 32 lanes of 8 bytes touch.
    if (stride <= 128)
      chains.push_back(
          {static_cast<double>(stride == 0 ? 1
                                           : std::min<std::uint64_t>(32, std::max<std::uint64_t>(8, stride))),
           cycles});
  }
  const Slope slope = slope_of(chains);
  bench.found.once(fmt::format("coalescing.{}.sector", name), slope.latency, "cycles",
                   "slope of a warp's dependent loads by the sectors of 32 bytes that they touch",
                   curve.points.size(), curve.name);
  bench.found.correct(fmt::format("coalescing.{}.sector", name), "slope");
  bench.found.series(std::move(curve));
}

void probe_coalescing(Bench& bench) {
  const Finding* l1 = bench.found.find("l1.latency");
  if (l1 != nullptr && l1->known() && bench.board.facts().l1_caches_global != false)
    measure(bench, "l1", "ld.global.ca.u64 %l0, [%l0];");
  measure(bench, "l2", "ld.global.cg.u64 %l0, [%l0];");
}

}  // namespace

extern constinit const Kind kind_coalescing{"coalescing", "Cost of a warp's load by the stride of its lanes",
                                            probe_coalescing, "cache", 110};

}  // namespace simtlab::probe
