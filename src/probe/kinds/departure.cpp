// Departure delays, as MWP-CWP (Hong and Kim 2009) has them: how long after one memory transaction the next
// one of the same kind follows. Uncoalesced: transactions of one load whose lanes ask for k lines. Coalesced:
// loads of one line each by w warps that begin together.
#include <fmt/format.h>

#include <algorithm>

#include "probe/analysis/timer.h"
#include "probe/kinds.h"
#include "probe/ring.h"
#include "probe/timed.h"

namespace simtlab::probe {
namespace {

// One load a launch, past L1: lane l reads line min(l, b) of the warp's own part of the buffer, c bytes
// apart; the second reading of the clock waits for it. The first pass would bring the lines in: where they
// are to come from memory, b is of lines never read, and there is one pass only.
constexpr const char* text = R"(
.visible .entry departure(.param .u64 data, .param .u64 lanes, .param .u64 line, .param .u64 part, .param .u64 passes, .param .u64 out)
{
  .reg .pred %q; .reg .b32 %thread, %lane, %warp, %r; .reg .b64 %p, %o, %v, %t0, %t1, %line, %part, %n, %m;
  ld.param.u64 %p, [data]; ld.param.u64 %m, [lanes]; ld.param.u64 %line, [line]; ld.param.u64 %part, [part]; ld.param.u64 %n, [passes]; ld.param.u64 %o, [out];
  mov.u32 %thread, %tid.x; and.b32 %lane, %thread, 31; shr.u32 %warp, %thread, 5;
  cvt.u64.u32 %v, %lane; min.u64 %v, %v, %m; mad.lo.u64 %p, %v, %line, %p;
  cvt.u64.u32 %v, %warp; mad.lo.u64 %p, %v, %part, %p;
  mul.wide.u32 %v, %warp, 16; add.u64 %o, %o, %v;
PASS:
  bar.sync 0;
  mov.u64 %t0, %clock64;
  ld.global.cg.u32 %r, [%p];
  setp.eq.u32 %q, %r, 1;
  @%q bra END;
  mov.u64 %t1, %clock64;
  sub.u64 %n, %n, 1;
  setp.ne.u64 %q, %n, 0;
  @%q bra PASS;
  setp.ne.u32 %q, %lane, 0;
  @%q bra END;
  st.global.u64 [%o], %t0; st.global.u64 [%o+8], %t1;
END:
  ret;
}
)";

// Cycles from the first begin to the last end.
double span(Bench& bench, std::uint32_t warps, std::uint64_t data, std::uint64_t lanes, std::uint64_t line,
            std::uint64_t part, std::uint64_t passes, std::uint64_t out) {
  const auto w = bench.run(bench.kernel(text, "departure"), 1, 32 * warps,
                           gpu::Arguments(data, lanes, line, part, passes, out), out, 2 * std::size_t{warps});
  std::uint64_t begin = ~std::uint64_t{0}, end = 0;
  for (std::uint32_t i = 0; i < warps; ++i)
    begin = std::min(begin, w[2 * i]), end = std::max(end, w[2 * i + 1]);
  return static_cast<double>(end - begin);
}

struct Source {
  const char* name;
  bool cached;
};

void measure(Bench& bench, const Source& source) {
  // Lines in chunks of their own, so that they spread over slices
  constexpr std::uint64_t line = 512, part = 32 * line;
  const std::uint32_t most_warps = std::min(bench.board.facts().max_threads_per_block, 1024u) / 32;
  const std::uint64_t range = part * most_warps;
  constexpr std::uint32_t rounds = 3;
  const Bench::Buffer data(bench, range * (source.cached ? 1 : 2 * rounds * 8)), out(bench, 16 * 32);
  bench.board.fill(data.address(), std::byte{0}, data.bytes());
  if (!source.cached) flush(bench);
  std::uint64_t used = 0;
  const auto at = [&] { return data.address() + (source.cached ? 0 : used++ % (2 * rounds * 8) * range); };
  const auto fit = [&](const char* what, const char* x, const std::vector<std::uint32_t>& counts,
                       const auto& run, std::string method) {
    Series curve{fmt::format("departure.{}.{}", what, source.name), x, "cycles", {}, {}};
    std::vector<Chain> chains;
    for (const std::uint32_t count : counts) {
      std::vector<double> times;
      for (std::uint32_t i = 0; i < rounds; ++i) times.push_back(run(count));
      const double cycles = median_of(times);
      curve.points.push_back({static_cast<double>(count), cycles});
      chains.push_back({static_cast<double>(count), cycles});
    }
    const Slope slope = slope_of(chains);
    const auto n = static_cast<std::uint64_t>(counts.size()) * rounds;
    bench.found.once(curve.name, slope.latency, "cycles", method + fmt::format("; R2 {:.3g}", slope.r2), n,
                     curve.name);
    bench.found.correct(curve.name, "slope");
    bench.found.series(std::move(curve));
  };
  const std::uint64_t passes = source.cached ? 2 : 1;
  fit(
      "uncoalesced", "lines", {1, 2, 4, 8, 16, 32},
      [&](std::uint32_t k) { return span(bench, 1, at(), k - 1, line, part, passes, out.address()); },
      "slope of one load by the lines that its lanes ask for");
  std::vector<std::uint32_t> warps;
  for (std::uint32_t w = 1; w <= most_warps; w *= 2) warps.push_back(w);
  fit(
      "coalesced", "warps", warps,
      [&](std::uint32_t w) { return span(bench, w, at(), 0, line, part, passes, out.address()); },
      "slope of the last of several warps' loads of one line each");
}

void probe_departure(Bench& bench) {
  measure(bench, {"l2", true});
  measure(bench, {"dram", false});
}

}  // namespace

extern constinit const Kind kind_departure{
    "departure", "Departure delays: between loads of a warp, and between those of several", probe_departure,
    "cache memory", 120};

}  // namespace simtlab::probe
