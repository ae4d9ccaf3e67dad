// Atomics on global memory. Each thread swaps nothing into a cell that holds the cell's own address, so the
// next one needs the one before.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "probe/analysis/sampling.h"
#include "probe/kinds.h"
#include "probe/timed.h"

namespace simtlab::probe {
namespace {

// Cells of 8 bytes side by side; each thread its own, or all the first (b = 0).
Timed atomics(bool dependent) {
  Timed t;
  t.setup =
      "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mad.lo.u32 %r0, %r0, %r1, %thread; cvt.u32.u64 %r1, %b; "
      "mul.wide.u32 %l0, %r0, %r1; add.u64 %l0, %l0, %a;";
  t.body = [dependent](unsigned) {
    return std::string(dependent ? "atom.global.or.b64 %l0, [%l0], 0;"
                                 : "atom.global.add.u32 %r2, [%l0], 0;");
  };
  t.finish = "mov.u64 %l15, %l0;";
  t.tie = "xor.b64 %l0, %l0, %v;";
  t.repetitions = 8;
  return t;
}

void probe_atomic(Bench& bench) {
  const gpu::BoardFacts& facts = bench.board.facts();
  const std::uint32_t threads = std::min(facts.max_threads_per_block, 1024u);
  const Bench::Buffer cells(bench, std::uint64_t{8} * threads * facts.sms);
  std::vector<std::uint64_t> own(cells.bytes() / 8);
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = cells.address() + 8 * i;
  bench.board.copy_in(cells.address(), own.data(), cells.bytes());
  TimedRun run;
  run.b = 8, run.threads = 1;
  // Of cells in several places: where L2 has parts, some are far from the SM.
  double far = 0;
  std::uint64_t nearest = cells.address(), farthest = cells.address();
  const Estimate e = estimate(sample(
      [&] {
        double near = std::numeric_limits<double>::infinity();
        for (std::uint64_t at = 0; at < std::min<std::uint64_t>(cells.bytes(), 16 * 2048); at += 2048) {
          run.a = cells.address() + at;
          const double cycles = slope_of_timed(bench, atomics(true), run);
          if (cycles < near) near = cycles, nearest = run.a;
          if (cycles > far) far = cycles, farthest = run.a;
        }
        return near;
      },
      bench.options.quick ? 1 : 9));
  const auto single = [&](std::uint64_t place) {
    run.a = place;
    return singles_of_timed(bench, atomics(true), run);
  };
  report_latency(bench,
                 {{"latency.atomic"},
                  e,
                  "slope of dependent atomics of one thread, the nearest of 16 places",
                  "an atomic of one thread, at the nearest of 16 places"},
                 [&] { return single(nearest); });
  report_latency(bench,
                 {{"atomic.latency.far"},
                  {far, {far, far}, e.samples},
                  "the farthest of them",
                  "an atomic at the farthest of them",
                  {},
                  false},
                 [&] { return single(farthest); });
  run.a = cells.address();
  run.threads = threads;
  const double many = threads / slope_of_timed(bench, atomics(false), run);
  bench.found.once("atomic.throughput.sm", many, "/cycle",
                   fmt::format("slope of atomics of {} threads on one SM, an address a thread", threads), 3);
  run.blocks = facts.sms;
  const double all = static_cast<double>(threads) * facts.sms / slope_of_timed(bench, atomics(false), run);
  bench.found.once("atomic.throughput", all, "/cycle",
                   fmt::format("slope of atomics of {} threads on each SM, an address a thread", threads), 3);
  run.b = 0, run.threads = 32;
  const double one = 32.0 * facts.sms / slope_of_timed(bench, atomics(false), run);
  bench.found.once("atomic.throughput.same_address", one, "/cycle",
                   "slope of atomics of one warp on each SM, all on one address", 3);
}

}  // namespace

extern constinit const Kind kind_atomic{
    "atomic",     "Atomics on global memory: latency, throughput on one address and on many",
    probe_atomic, "cache",
    130,          true};

}  // namespace simtlab::probe
