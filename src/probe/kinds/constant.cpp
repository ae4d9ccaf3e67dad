// Constant cache. Constants are written into the module, so every order of accesses is a module of its own:
// each word holds the offset of the next.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "probe/analysis/levels.h"
#include "probe/analysis/sampling.h"
#include "probe/geometry.h"
#include "probe/kinds.h"
#include "probe/timed.h"

namespace simtlab::probe {
namespace {

constexpr std::uint64_t constant_bytes = 64 << 10;
constexpr const char *constant_load = "ld.const.u64 %p, [%p]; add.u64 %p, %p, %base;",
                     *constant_setup = "mov.u64 %base, ring; add.u64 %p, %p, %base;";

std::string data_of(const std::vector<std::uint64_t>& sequence) {
  std::map<std::uint64_t, std::uint64_t> before, words;
  std::vector<std::uint64_t> at;
  for (const std::uint64_t offset : sequence) at.push_back(offset + 8 * before[offset]++);
  for (std::size_t i = 0; i < at.size(); ++i) words[at[i]] = at[(i + 1) % at.size()];
  const std::uint64_t count = words.rbegin()->first / 8 + 1;
  std::string out = fmt::format(".const .align 256 .u64 ring[{}] = {{", count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto word = words.find(8 * i);
    out += fmt::format("{}{}", i == 0 ? "" : ",", word == words.end() ? 0 : word->second);
  }
  return out + "};\n";
}

// Of offsets, one after the other: visits(sequence) of Geometry, by way of a module.
Census visit(Bench& bench, const std::vector<std::uint64_t>& sequence, std::uint64_t skip,
             std::uint64_t loads, std::uint64_t near) {
  const std::string text = data_of(sequence) + ring_kernels(constant_load, constant_setup);
  const Census c =
      census(bench, bench.kernel(text, "census"), sequence.front(), skip, loads, near, ~std::uint64_t{0});
  bench.forget(text);
  return c;
}

double chase_cycles(Bench& bench, const std::vector<std::uint64_t>& sequence) {
  const std::string text = data_of(sequence) + ring_kernels(constant_load, constant_setup);
  const double cycles = chase(bench, bench.kernel(text, "chase"), sequence.front(), 2 * sequence.size(), 256);
  bench.forget(text);
  return cycles;
}

// What the chase does beside loading: a sum of 64 bits. Between sums of sums an assembler would find shorter
// ways, so every second one is a logic operation as long.
double sum_cycles(Bench& bench) {
  Timed t;
  t.setup = "mov.u64 %l0, %a;";
  t.body = [](unsigned n) {
    return std::string(n % 2 == 0 ? "add.u64 %l0, %l0, %b;" : "xor.b64 %l0, %l0, %b;");
  };
  t.finish = "mov.u64 %l15, %l0;";
  return slope_of_timed(bench, t, {});
}

void probe_constant(Bench& bench) {
  const double sum = sum_cycles(bench);
  const Estimate e = estimate(sample([&] { return chase_cycles(bench, steps(512, 64)) - sum; }));
  report_latency(bench,
                 {{"constant.latency"},
                  e,
                  fmt::format("slope of a chase over 512 bytes of constants, less the {:.4g} cycles of the "
                              "sum between two loads",
                              sum),
                  "a load of constants and a sum"},
                 [&] {
                   const std::vector<std::uint64_t> sequence = steps(512, 64);
                   Singles s = singles(bench, constant_load, constant_setup, data_of(sequence),
                                       sequence.front(), 2 * sequence.size(), 256);
                   s.less = sum;
                   return s;
                 });
  Series curve{"constant.curve", "bytes", "cycles", {}, {}};
  for (double bytes = 512; bytes <= static_cast<double>(constant_bytes / 2);
       bytes *= bench.options.quick ? 1.4 : 1.15) {
    const std::uint64_t size = static_cast<std::uint64_t>(bytes) / 64 * 64;
    curve.points.push_back({static_cast<double>(size), chase_cycles(bench, steps(size, 64))});
  }
  mark_levels(curve);
  bench.found.series(std::move(curve));
  // Typical times of hits and misses.
  // What a pass before has brought to L2
  const Census hits = visit(bench, steps(512, 64), 64, 64, 0),
               misses = visit(bench, steps(constant_bytes / 2, 64), constant_bytes / 128, 64, 0);
  const Threshold threshold{hits.cycles / hits.loads, misses.least};
  if (threshold.miss < threshold.hit + threshold.hit / 4) {
    for (const char* what : {"constant.bytes", "constant.line_bytes", "constant.ways"})
      bench.found.unknown(what, "constants read for the first time take no longer than others");
    return;
  }
  Geometry g([&](const std::vector<std::uint64_t>& sequence, std::uint64_t skip, std::uint64_t loads,
                 std::uint32_t) { return visit(bench, sequence, skip, loads, threshold.between()); },
             false);
  const auto clean = g.clean_bytes(64, 512, constant_bytes / 2);
  const std::vector<std::uint64_t> members = clean ? g.conflicting(64, *clean) : std::vector<std::uint64_t>{};
  if (members.size() < 2) {
    for (const char* what : {"constant.bytes", "constant.line_bytes", "constant.ways"})
      bench.found.unknown(what, "its lines do not conflict set by set");
    return;
  }
  const std::uint32_t line = g.line_bytes(members, 32);
  const auto bytes = g.clean_bytes(line, 256, constant_bytes / 2);
  const auto give_up = [&](const char* why) {
    for (const char* what : {"constant.bytes", "constant.line_bytes", "constant.ways"})
      bench.found.unknown(what, why);
  };
  if (!bytes || *bytes % (line * (members.size() - 1)) != 0)
    return give_up("the lines that stay are no whole number of sets");
  // A ring of twice that has to be slower as a whole.
  if (2 * *bytes <= constant_bytes && chase_cycles(bench, steps(2 * *bytes, 64)) - sum < 1.2 * e.value)
    return give_up("twice of what seems to stay is read as fast");
  if (chase_cycles(bench, steps(*bytes, line)) - sum > 1.2 * e.value)
    return give_up("what seems to stay is not read as fast");
  bench.found.exact("constant.ways", static_cast<double>(members.size() - 1), "",
                    "lines of one set that stay together, found by group testing", g.accesses());
  bench.found.exact("constant.line_bytes", line, "B", "bytes that share a place in the set", g.accesses());
  bench.found.exact("constant.bytes", static_cast<double>(*bytes), "B",
                    "largest range of which nothing is forgotten", g.accesses());
}

}  // namespace

extern constinit const Kind kind_constant{
    "constant", "Constant cache: latency, size, line", probe_constant, "cache", 70, true};

}  // namespace simtlab::probe
