// Main memory: its latency to one thread, and to many at once, as the thesis of Sanchez reports it: mean
// latency by the number of threads with a line through it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "probe/analysis/sampling.h"
#include "probe/kinds.h"
#include "probe/ring.h"

namespace simtlab::probe {
namespace {

// Lines that nothing has read yet, far apart: no cache and no table of translations holds them.
std::uint64_t range_of(const gpu::BoardFacts& facts) {
  const std::uint64_t l2 = facts.l2_bytes.value_or(8 << 20);
  return std::clamp<std::uint64_t>(1ull << 30, 4 * l2, std::max<std::uint64_t>(facts.free_bytes / 4, 4 * l2));
}

void latency(Bench& bench) {
  const gpu::BoardFacts& facts = bench.board.facts();
  const std::uint64_t bytes = range_of(facts);
  const std::uint32_t loads = bench.options.quick ? 512 : 2048;
  const Bench::Buffer buffer(bench, bytes);
  std::vector<std::uint64_t> lines;
  Rng rng(bench.options.seed);
  std::uint64_t round = 0;
  const auto fresh = [&] {
    lines.clear();
    // Equal parts in random order, a line of each, then in the same order another line of each: never a line
    // twice, and all other parts between two lines of one, so that no table holds its translation.
    const std::uint64_t parts = std::min<std::uint64_t>(bytes / (2 << 20), 512),
                        part = bytes / parts / 128 * 128,
                        rounds = (3 * loads + chase_before + 64 + parts - 1) / parts;
    std::vector<std::uint64_t> order = shuffled(steps(parts * part, part), bench.options.seed + ++round);
    const std::uint64_t slice = part / rounds / 128 * 128;
    for (std::uint64_t k = 0; k < rounds; ++k)
      for (const std::uint64_t at : order)
        lines.push_back(at + k * slice + rng.below(std::max<std::uint64_t>(slice / 128, 1)) * 128);
    const Ring ring(bench, buffer, lines, 128);
    flush(bench);  // writing the chain may have left it in L2
    return ring;
  };
  const Estimate e = estimate(
      sample([&] { return chase(bench, Path::past, fresh(), 0, loads); }, bench.options.quick ? 1 : 3));
  report_latency(
      bench,
      {{"dram.latency"},
       e,
       fmt::format("slope of {} and {} loads of lines never read before, in random order over {} MiB", loads,
                   2 * loads, bytes >> 20),
       fmt::format("a load of a line never read before, in random order over {} MiB", bytes >> 20)},
      [&] { return singles(bench, Path::past, fresh(), 0, loads); });
}

constexpr const char* loaded_text = R"(
// Every thread reads four lines of its own, one after the other, and leaves how long they took; or none.
.visible .entry NAME(.param .u64 data, .param .u64 zero, .param .u64 out)
{
  .reg .pred %q; .reg .b32 %t, %n, %c; .reg .b64 %p, %z, %o, %v, %w, %t0, %t1, %step;
  ld.param.u64 %p, [data]; ld.param.u64 %z, [zero]; ld.param.u64 %o, [out];
  mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %c, %ctaid.x;
  mad.lo.u32 %t, %c, %n, %t;
  mul.wide.u32 %v, %t, 128; add.u64 %p, %p, %v;
  mov.u32 %c, %nctaid.x; mul.lo.u32 %c, %c, %n;
  mul.wide.u32 %step, %c, 128;
  mul.wide.u32 %v, %t, 8; add.u64 %o, %o, %v;
  mov.u64 %t0, %clock64;
  and.b64 %v, %t0, %z; xor.b64 %p, %p, %v;
  LOADS
  setp.eq.u64 %q, %p, 1;
  @%q bra END;
  mov.u64 %t1, %clock64;
  sub.u64 %v, %t1, %t0;
  st.global.u64 [%o], %v;
END:
  ret;
}
)";

std::string entry_of(const std::string& name, const std::string& loads) {
  std::string text = loaded_text;
  text.replace(text.find("NAME"), 4, name);
  return text.replace(text.find("LOADS"), 5, loads);
}

std::string both_entries() {
  constexpr const char* load = "ld.global.cg.u64 %v, [%p]; add.u64 %p, %p, %v;\n  ";
  std::string loads = load;
  for (int i = 1; i < 4; ++i) loads += fmt::format("add.u64 %p, %p, %step;\n  {}", load);
  return entry_of("loaded", loads) + entry_of("unloaded", "");
}

// Intervals, one a warp: the lanes of a warp wait for the last of their lines together.
Histogram intervals(Bench& bench, const char* entry, std::uint32_t blocks, std::uint32_t threads,
                    std::uint64_t data, std::uint64_t out) {
  const auto words =
      bench.run(bench.kernel(both_entries(), entry), blocks, threads,
                gpu::Arguments(data, std::uint64_t{0}, out), out, std::size_t{blocks} * threads);
  return Histogram(one_per_warp(std::vector<double>(words.begin(), words.end()), 32));
}

// Median of a warp's means. The slope has nothing to say of one interval: it leaves the cost in, as none
// does.
double median_latency(Bench& bench, std::uint32_t blocks, std::uint32_t threads, std::uint64_t data,
                      std::uint64_t out) {
  const Histogram timed = intervals(bench, "loaded", blocks, threads, data, out);
  const Correction correction = bench.options.correction;
  if (correction == Correction::slope || correction == Correction::none) return timed.median() / 4;
  Singles s;
  s.timed = timed;
  intervals(bench, "unloaded", blocks, threads, data, out);  // fetches the instructions
  s.empty = intervals(bench, "unloaded", blocks, threads, data, out);
  return static_cast<double>(left_of(correction, s).median()) / 4;
}

void under_load(Bench& bench) {
  const gpu::BoardFacts& facts = bench.board.facts();
  const std::uint32_t threads = std::min(facts.max_threads_per_block, 256u), most_blocks = 2 * facts.sms;
  const std::uint32_t points = bench.options.quick ? 4 : 10;
  // Every launch reads lines that no launch before it read, after L2 was filled with others.
  std::vector<std::uint32_t> blocks;
  std::uint64_t lines = 0;
  for (std::uint32_t i = 1; i <= points; ++i) {
    blocks.push_back(std::max(1u, most_blocks * i / points));
    lines += std::uint64_t{4} * blocks.back() * threads;
  }
  const Bench::Buffer data(bench, 128 * lines), out(bench, std::uint64_t{8} * most_blocks * threads);
  bench.board.fill(data.address(), std::byte{0}, data.bytes());  // what is read is added to the next address
  flush(bench);
  Series curve{"memory.loaded", "threads", "cycles", {}, {}};
  std::uint64_t used = 0;
  for (const std::uint32_t b : blocks) {
    curve.points.push_back({static_cast<double>(b) * threads,
                            median_latency(bench, b, threads, data.address() + used, out.address())});
    used += std::uint64_t{4} * 128 * b * threads;
  }
  const Slope line = slope_of(curve.points);
  const auto n = curve.points.size();
  const Correction correction =
      bench.options.correction == Correction::slope ? Correction::none : bench.options.correction;
  const std::string method = fmt::format(
      "least squares through {} numbers of threads, each of which reads four lines of its own in one "
      "interval, {}",
      n, way_of(correction));
  bench.found.once("memory.loaded.slope", line.latency, "cycles/thread", method, n, curve.name);
  bench.found.once("memory.loaded.intercept", line.overhead, "cycles", method, n, curve.name);
  bench.found.once("memory.loaded.r2", line.r2, "", method, n, curve.name);
  for (const char* what : {"slope", "intercept", "r2"})
    bench.found.correct(fmt::format("memory.loaded.{}", what), std::string(name_of(correction)));
  bench.found.series(std::move(curve));
}

void probe_memory(Bench& bench) {
  latency(bench);
  under_load(bench);
}

}  // namespace

extern constinit const Kind kind_memory{
    "memory", "Latency of main memory, alone and under load", probe_memory, "cache", 80, true};

}  // namespace simtlab::probe
