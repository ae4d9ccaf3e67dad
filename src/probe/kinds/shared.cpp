// Shared memory. Every lane reads a cell that holds its own address, again and again: the time of a read by
// the stride of the lanes says how many banks there are, and reads of two cells side by side how wide one is.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probe/analysis/sampling.h"
#include "probe/kinds.h"
#include "probe/timed.h"

namespace simtlab::probe {
namespace {

constexpr std::uint32_t most_stride = 512;

// Cell of a lane: lane * a + (lane & 1) * b. c: of a warp, so that warps write their own cells.
Timed reads(const char* body) {
  Timed t;
  t.declarations = fmt::format(".shared .align 16 .b8 cells[{}];\n", 32 * most_stride + 64);
  t.setup =
      "cvt.u32.u64 %r1, %a; mul.lo.u32 %r0, %lane, %r1; cvt.u32.u64 %r1, %b; and.b32 %r2, %lane, 1; "
      "mad.lo.u32 %r0, %r1, %r2, %r0;\n"
      "mov.u32 %r3, cells; add.u32 %r0, %r0, %r3; st.shared.u32 [%r0], %r0; bar.sync 0;\n";
  const std::string text = body;
  t.body = [text](unsigned) { return text; };
  t.finish = "cvt.u64.u32 %l15, %r0;";
  return t;
}

Singles single_reads(Bench& bench, const char* body, std::uint32_t apart) {
  TimedRun run;
  run.a = apart, run.threads = 1;
  Timed t = reads(body);
  t.tie = "cvt.u32.u64 %u, %v; xor.b32 %r0, %r0, %u;";
  return singles_of_timed(bench, t, run);
}

double cycles_of(Bench& bench, std::uint32_t stride, std::uint32_t odd, std::uint32_t threads = 32) {
  TimedRun run;
  run.a = stride, run.b = odd, run.threads = threads;
  return slope_of_timed(bench, reads("ld.volatile.shared.u32 %r0, [%r0];"), run);
}

void banks(Bench& bench) {
  Series curve{"shared.stride", "bytes", "cycles", {}, {}};
  for (std::uint32_t stride = 4; stride <= most_stride; stride *= 2)
    curve.points.push_back({static_cast<double>(stride), cycles_of(bench, stride, 0)});
  const double free = curve.points.front().y, most = curve.points.back().y;
  std::uint32_t row = 0;  // bytes of all banks
  for (const Series::Point& p : curve.points)
    if (row == 0 && p.y > most - 0.25 * (most - free) / 16) row = static_cast<std::uint32_t>(p.x);
  if (most < 1.5 * free || row == most_stride || row == 4) {
    bench.found.unknown("shared.banks", "no stride makes all lanes wait for one bank");
    bench.found.unknown("shared.bank_bytes", "the number of banks is not known");
  } else {
    // Odd lanes one word further: in a bank of four bytes it is the next one, and two halves of the warp have
    // one each.
    const double apart = cycles_of(bench, row, 4);
    const std::uint32_t width = apart < free + 0.75 * (most - free) ? 4 : 8;
    bench.found.exact("shared.bank_bytes", width, "B", "odd lanes one word further than those that conflict",
                      2);
    bench.found.exact("shared.banks", row / width, "", "smallest stride at which all lanes wait for one bank",
                      curve.points.size());
    curve.knees.push_back({static_cast<double>(row), static_cast<double>(row), static_cast<double>(row),
                           "all lanes in one bank"});
    const double passes = 32;
    bench.found.once("shared.conflict", (most - free) / (passes - 1), "cycles",
                     "cost of one more pass, from the worst conflict", curve.points.size(), curve.name);
    bench.found.correct("shared.conflict", "slope");
  }
  bench.found.series(std::move(curve));
}

// Of as many warps as a block has, four cells for each thread, of 16 bytes two. cell: the bytes of one.
double throughput(Bench& bench, unsigned threads, const char* operation, unsigned repetitions,
                  unsigned cell) {
  const unsigned part = 1024u * cell, parts = cell == 16 ? 2 : 4;
  Timed t;
  t.declarations = fmt::format(".shared .align 16 .b8 cells[{}];\n", parts * part);
  t.setup =
      fmt::format("mul.lo.u32 %r0, %thread, {};", cell) + " mov.u32 %r3, cells; add.u32 %r0, %r0, %r3; ";
  for (unsigned i = 1; i < 4; ++i) t.setup += fmt::format("add.u32 %r{}, %r0, {}; ", i + 3, i % parts * part);
  t.setup += "mov.u32 %r7, %r0; ";
  for (int i = 4; i < 8; ++i) t.setup += fmt::format("st.shared.u32 [%r{0}], %r{0}; ", i);
  t.setup += "bar.sync 0;\n";
  const std::string text = operation;
  t.body = [text](unsigned n) {
    std::string out = text;
    for (std::size_t at = 0; (at = out.find('X', at)) != std::string::npos;)
      out.replace(at, 1, fmt::format("%r{}", 4 + n % 4));
    return out;
  };
  t.finish = "add.u32 %r0, %r4, %r5; add.u32 %r0, %r0, %r6; add.u32 %r0, %r0, %r7; cvt.u64.u32 %l15, %r0;";
  t.repetitions = repetitions;
  TimedRun run;
  run.threads = threads;
  return 32 * rate_of_timed(bench, t, run, 131072);
}

// A bank's width apart: two words of one bank would be changed one after the other.
unsigned bank_bytes(const Bench& bench) { return bench.found.value_or("shared.bank_bytes", 4) == 8 ? 8 : 4; }

void atomics(Bench& bench, unsigned threads) {
  TimedRun run;
  run.a = 4, run.threads = 1;
  const Estimate e = estimate(
      sample([&] { return slope_of_timed(bench, reads("atom.shared.or.b32 %r0, [%r0], 0;"), run); }));
  report_latency(
      bench,
      {{"latency.shared_atomic"}, e, "slope of dependent atomics of one thread", "an atomic of one thread"},
      [&] { return single_reads(bench, "atom.shared.or.b32 %r0, [%r0], 0;", 4); });
  const Estimate rate = estimate(sample(
      [&] { return throughput(bench, threads, "atom.shared.or.b32 X, [X], 0;", 128, bank_bytes(bench)); },
      3));
  bench.found.measured(
      "throughput.shared_atomic", rate, "/cycle",
      fmt::format("atomics in two lengths of time, {} threads on one SM, an address a thread", threads));
}

void reads_without_conflict(Bench& bench, unsigned threads) {
  const unsigned cell = bank_bytes(bench);
  const char* const read = "ld.volatile.shared.u32 X, [X];";
  const char* const two = cell == 8 ? "ld.volatile.shared.v4.u32 {X, %r8, %r9, %r10}, [X];"
                                    : "ld.volatile.shared.v2.u32 {X, %r8}, [X];";
  const Estimate rate = estimate(sample([&] { return throughput(bench, threads, read, 512, cell); }, 3));
  // What half of the warps do not reach as well is their latency's limit, not the banks'.
  if (threads >= 64 && throughput(bench, threads / 2, read, 512, cell) < 0.97 * rate.value) {
    bench.found.unknown("throughput.shared", fmt::format("{} threads on one SM do not saturate it", threads));
    return;
  }
  const std::string method = fmt::format("in two lengths of time, {} threads on one SM", threads);
  // Two words a lane take two passes. Where one takes as long, what an instruction takes at least is seen.
  const auto words = [&] { return 2 * throughput(bench, threads, two, 512, 2 * cell); };
  if (words() > 1.1 * rate.value) {
    bench.found.measured("throughput.shared", estimate(sample(words, 3)), "/cycle",
                         "reads of two words a lane " + method);
    bench.found.once("shared.interval", 32 / rate.value, "cycles", "reads of one word a lane " + method, 3,
                     "");
    return;
  }
  bench.found.measured("throughput.shared", rate, "/cycle", "reads without conflict " + method);
}

void probe_shared(Bench& bench) {
  const Estimate e = estimate(sample([&] { return cycles_of(bench, 0, 0, 1); }));
  report_latency(bench,
                 {{"shared.latency"}, e, "slope of dependent reads of one thread", "a read of one thread"},
                 [&] { return single_reads(bench, "ld.volatile.shared.u32 %r0, [%r0];", 0); });
  banks(bench);
  const unsigned threads = std::min(bench.board.facts().max_threads_per_block, 1024u);
  if (const auto count = bench.found.value("shared.banks"); count && *count < 32) {
    for (const char* what : {"throughput.shared", "throughput.shared_atomic", "latency.shared_atomic"})
      bench.found.unknown(what, "with fewer banks than lanes a warp takes several passes");
    return;
  }
  reads_without_conflict(bench, threads);
  atomics(bench, threads);
}

}  // namespace

extern constinit const Kind kind_shared{
    "shared", "Shared memory: latency, banks, their width, throughput, atomics", probe_shared, "device", 50,
    true};

}  // namespace simtlab::probe
