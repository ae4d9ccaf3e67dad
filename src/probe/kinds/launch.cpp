// Launching kernels, by the host's clock; and how fast blocks follow each other on an SM, by its own.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "probe/analysis/sampling.h"
#include "probe/kinds.h"
#include "probe/timed.h"

namespace simtlab::probe {
namespace {

constexpr const char* text = R"(
.visible .entry empty()
{
  ret;
}
.visible .entry arrival(.param .u64 out)
{
  .reg .pred %q; .reg .b32 %b, %s; .reg .b64 %o, %v, %t;
  mov.u64 %t, %clock64;
  mov.u32 %b, %tid.x;
  setp.ne.u32 %q, %b, 0;
  @%q bra END;
  ld.param.u64 %o, [out];
  mov.u32 %b, %ctaid.x; mul.wide.u32 %v, %b, 16; add.u64 %o, %o, %v;
  mov.u32 %s, %smid; cvt.u64.u32 %v, %s;
  st.global.u64 [%o], %t; st.global.u64 [%o+8], %v;
END:
  ret;
}
)";

void host_side(Bench& bench) {
  gpu::Board& board = bench.board;
  const auto begin = board.host_now_ns();
  gpu::Board::Launch launch;
  launch.function = bench.kernel(text, "empty");
  launch.grid = launch.block = {1, 1, 1};
  const auto timed = [&](unsigned count, bool each) {
    const double start = board.host_now_ns();
    for (unsigned i = 0; i < count; ++i) {
      board.launch(launch);
      if (each) board.synchronize();
    }
    board.synchronize();
    return board.host_now_ns() - start;
  };
  timed(1, true);
  const double first = board.host_now_ns() - begin;
  bench.found.once("launch.first", first, "ns", "loading the module, the first launch, and waiting for it",
                   1);
  const Estimate blocking = estimate(sample([&] { return timed(8, true) / 8; }));
  bench.found.measured("launch.blocking", blocking, "ns",
                       "launch of an empty kernel and waiting for it, mean of 8");
  const Estimate queued = estimate(sample([&] { return (timed(96, false) - timed(32, false)) / 64; }));
  bench.found.measured("host.launch_overhead", queued, "ns", "slope of 32 and 96 launches one after another");
  std::vector<gpu::Board::Launch> launches(32, launch);
  const auto batch = board.make_batch(launches);
  if (!batch) return bench.found.unknown("launch.graph", "the driver has no graphs");
  const auto graph = [&] {
    const double start = board.host_now_ns();
    board.launch_batch(*batch, 0);
    board.synchronize();
    return (board.host_now_ns() - start) / 32;
  };
  graph();
  const Estimate e = estimate(sample(graph));
  bench.found.measured("launch.graph", e, "ns", "a graph of 32 empty kernels, a kernel's share");
}

// Blocks follow each other on an SM as fast as they are handed over.
void blocks(Bench& bench) {
  const auto function = bench.kernel(text, "arrival");
  // As many as the SMs hold at once: later ones wait for the end of others.
  const std::uint32_t count =
      bench.board.facts().sms * std::max(2u, bench.board.blocks_per_sm(function, 32, 0));
  const Bench::Buffer out(bench, std::uint64_t{16} * count);
  const Estimate e = estimate(sample(
      [&] {
        const auto words = bench.run(function, count, 32, gpu::Arguments(out.address()), out.address(),
                                     2 * std::size_t{count});
        std::map<std::uint64_t, std::vector<double>> by_sm;
        for (std::uint32_t i = 0; i < count; ++i)
          by_sm[words[2 * i + 1]].push_back(static_cast<double>(words[2 * i]));
        std::vector<double> gaps;  // mean of each SM
        for (auto& [sm, times] : by_sm) {
          std::ranges::sort(times);
          if (times.size() > 1)
            gaps.push_back((times.back() - times.front()) / static_cast<double>(times.size() - 1));
        }
        return gaps.empty() ? 0 : median_of(gaps);
      },
      3));
  bench.found.measured("launch.block_gap", e, "cycles",
                       "mean gap between the first blocks that begin on one SM, median of SMs");
}

void probe_launch(Bench& bench) {
  host_side(bench);
  blocks(bench);
}

}  // namespace

extern constinit const Kind kind_launch{
    "launch", "Launching kernels: first, blocking, queued, as a graph; between blocks", probe_launch,
    "device", 150};

}  // namespace simtlab::probe
