// Whom a scheduler lets issue, by when its warps end. All of them have the same independent work: those that
// take turns end together, those that are served one after the other end one after the other, and groups end
// group by group. Of one after the other: if every warp now and then waits for its own results, the oldest
// ends as if it were alone where it is always preferred, and later where another goes on as long as it can.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "probe/kinds.h"

namespace simtlab::probe {
namespace {

constexpr unsigned turn_warps = 12;  // of one scheduler: more than one group of eight, and not two
// Code that the smallest instruction caches hold (8 KiB of 8 bytes, 12 KiB of 16): who waits for instructions
// lets others go first.
constexpr unsigned turn_chains = 24, turn_steps = 24, most_code = 680, most_burst_steps = 64;

// Every warp does the same independent multiply-adds, and leaves when it began and ended, and where. No loop:
// at its branch a warp would wait. waits: reads of shared memory that depend on each other, which everything
// that comes after each step waits for; their steps are of `chains` multiply-adds and one and two more by
// turns, or the warps might never meet.
std::string turns_text(unsigned chains, unsigned steps, unsigned waits = 0) {
  std::string declared = fmt::format(".reg .f32 %x<{}>, %y, %z;", chains + 2), begin, body, sum;
  for (unsigned i = 0; i < chains + 2; ++i)
    begin += fmt::format("add.f32 %x{}, %y, 0f{:08x};\n", i, 0x3f800000 + i * 0x10000),
        sum += fmt::format("add.f32 %y, %y, %x{};\n", i);
  for (unsigned n = 0; n < steps; ++n) {
    for (unsigned i = 0; i < chains + (waits == 0 ? 0 : n % 3); ++i)
      body += fmt::format("fma.rn.f32 %x{0}, %x{0}, %y, {1};\n", i, waits != 0 && i == 0 ? "%f" : "%z");
    for (unsigned i = 0; i < waits; ++i) body += "ld.volatile.shared.u32 %r, [%r];\n";
    if (waits != 0) body += "mov.b32 %f, %r;\n";
  }
  return fmt::format(R"(
.visible .entry turns(.param .u64 out, .param .f32 one, .param .f32 nothing)
{{
  .reg .pred %q; .reg .b32 %t, %w, %n, %s, %r; .reg .f32 %f; .reg .b64 %o, %v, %t0, %t1; .shared .align 4 .b32 cell; {}
  ld.param.u64 %o, [out]; ld.param.f32 %y, [one]; ld.param.f32 %z, [nothing]; mov.b32 %f, %z; mov.u32 %r, cell; st.shared.u32 [%r], %r;
  {}
  bar.sync 0;
  mov.u64 %t0, %clock64;
  {}
  mov.u64 %t1, %clock64;
  {}
  mov.u32 %t, %tid.x; and.b32 %w, %t, 31;
  setp.ne.u32 %q, %w, 0;
  @%q bra END;
  mov.u32 %w, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %w, %n, %t; shr.u32 %t, %t, 5; mul.wide.u32 %v, %t, 32; add.u64 %o, %o, %v;
  mov.u32 %s, %smid; cvt.u64.u32 %v, %s;
  st.global.u64 [%o], %t0; st.global.u64 [%o+8], %t1; st.global.u64 [%o+16], %v; st.global.f32 [%o+24], %y;
END:
  ret;
}}
)",
                     declared, begin, body, sum);
}

struct Turns {
  // Of the warps of one scheduler of one SM, from its first begin, in the warps' order
  std::vector<double> ends;
};

// So many warps of each scheduler: of one block, or of two if a block has too few.
Turns turns(Bench& bench, unsigned schedulers, unsigned warps, const std::string& text) {
  const gpu::BoardFacts& facts = bench.board.facts();
  const auto function = bench.kernel(text, "turns");
  const unsigned blocks = warps * schedulers * 32 > facts.max_threads_per_block ? 2 : 1,
                 of_block = warps * schedulers / blocks;
  const std::uint32_t grid = blocks == 1 ? 1 : blocks * facts.sms;
  const std::size_t all = std::size_t{of_block} * grid;
  const Bench::Buffer out(bench, 32 * all);
  const gpu::Arguments arguments(out.address(), 1.0F, 0.0F);
  bench.run(function, grid, 32 * of_block, arguments, out.address(), 0);  // fetches the instructions
  const auto words = bench.run(function, grid, 32 * of_block, arguments, out.address(), 4 * all);
  Turns result;
  std::uint64_t begin = ~std::uint64_t{0};
  std::vector<std::uint64_t> ends;
  for (std::size_t w = 0; w < all; w += schedulers)
    if (words[4 * w + 2] == words[2]) begin = std::min(begin, words[4 * w]), ends.push_back(words[4 * w + 1]);
  for (const std::uint64_t end : ends) result.ends.push_back(static_cast<double>(end - begin));
  return result;
}

// "lrr", "two_level", "one by one", or nothing that is known. alone: a warp's time with the scheduler to
// itself.
std::string order_of(const Turns& t, double alone) {
  std::vector<double> sorted = t.ends;
  std::ranges::sort(sorted);
  const auto n = static_cast<double>(sorted.size());
  // A change of warps costs some cycles more.
  const auto near = [&](double value, double target) {
    return std::abs(value - target) < std::max(0.35 * alone, 0.1 * target);
  };
  if (near(sorted.front(), n * alone) && near(sorted.back(), n * alone)) return "lrr";
  bool serial = true, grouped = sorted.size() > 8;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    // Now and then one waits for instructions, on the simulated K40 for up to 0.6 of its time.
    serial = serial && (std::abs(sorted[i] - (i == 0 ? 0 : sorted[i - 1]) - alone) < 0.65 * alone ||
                        near(sorted[i], static_cast<double>(i + 1) * alone));
    grouped = grouped && near(sorted[i], (i < 8 ? 8 : n) * alone);
  }
  // Which group comes first is chance: the smaller one may.
  bool other = sorted.size() > 8;
  for (std::size_t i = 0; i < sorted.size(); ++i)
    other = other && near(sorted[i], (i < sorted.size() - 8 ? n - 8 : n) * alone);
  return serial ? "one by one" : grouped || other ? "two_level" : "";
}

void probe_scheduler(Bench& bench) {
  const auto give_up = [&](const std::string& why) { bench.found.unknown("sm.scheduler", why); };
  const auto count = bench.found.value("sm.schedulers"), latency = bench.found.by_slope("latency.fp32");
  if (!count || !latency)
    return give_up("the number of schedulers or the latency of a multiply-add is not known");
  const auto schedulers = static_cast<unsigned>(*count);
  const std::string text = turns_text(turn_chains, turn_steps);
  const gpu::BoardFacts& facts = bench.board.facts();
  const unsigned room = facts.max_threads_per_sm / 32 / schedulers,
                 warps = std::min(turn_warps, room) / 2 * 2;
  if (warps < 6 || warps * schedulers * 16 > facts.max_threads_per_block ||
      bench.board.blocks_per_sm(bench.kernel(text, "turns"),
                                std::min(warps * schedulers * 32, facts.max_threads_per_block), 0) == 0)
    return give_up("an SM has too few warps for each scheduler");
  const double alone = turns(bench, schedulers, 1, text).ends.front();
  const Turns all = turns(bench, schedulers, warps, text);
  if (all.ends.size() != warps)
    return give_up(
        fmt::format("{} warps of one scheduler were to be seen and {} were", warps, all.ends.size()));
  const std::string order = order_of(all, alone);
  Series curve{"issue.ends", "warp", "cycles", {}, {}};
  for (std::size_t i = 0; i < all.ends.size(); ++i)
    curve.points.push_back({static_cast<double>(i), all.ends[i]});
  bench.found.series(std::move(curve));
  if (order.empty())
    return give_up(
        fmt::format("warps of one scheduler end neither together, nor one by one, nor in groups of eight: at "
                    "{:.0f} cycles, one alone at {:.0f}",
                    fmt::join(all.ends, ", "), alone));
  if (order == "lrr" && warps <= 8)
    return give_up(
        "with as few warps as each scheduler has, turns of all and of groups of eight look the same");
  if (order != "one by one")
    return bench.found.word(
        "sm.scheduler", order,
        order == "lrr"
            ? fmt::format("{} warps of one scheduler with independent work end together", warps)
            : fmt::format("of {} warps of one scheduler a group of eight has the others wait", warps),
        warps);
  // Between two waits as much work as takes two fifths of the wait: three warps are more than a scheduler can
  // serve, and at times two wait to go on. A wait is long beside the interval of an instruction: the oldest
  // warp, too, waits until the pipeline has taken the one before.
  const double interval = std::max(1.0, bench.found.value_or("issue.interval", 1));
  const auto waits = static_cast<unsigned>(
      std::ceil(30 * interval / std::max(1.0, bench.found.by_slope("shared.latency").value_or(20))));
  const double wait =
      turns(bench, schedulers, 1, turns_text(1, most_burst_steps, waits)).ends.front() / most_burst_steps -
      2 * interval;
  const auto burst = static_cast<unsigned>(std::max(1.0, std::round(0.4 * wait / interval) - 1));
  if (burst < 6 || burst > 40)
    return give_up(
        fmt::format("{} dependent reads of shared memory take {:.3g} cycles: no wait of which two fifths are "
                    "6 to 40 multiply-adds",
                    waits, wait));
  const unsigned burst_steps = std::clamp(most_code / (burst + waits + 2), 16U, most_burst_steps);
  const std::string bursts = turns_text(burst, burst_steps, waits);
  const double single = turns(bench, schedulers, 1, bursts).ends.front();
  const Turns loaded = turns(bench, schedulers, 4, bursts);
  const double first = *std::ranges::min_element(loaded.ends) / single;
  if (first < 1.035)
    bench.found.word("sm.scheduler", "oldest",
                     fmt::format("warps end one by one, and beside three others that wait as often the first "
                                 "ends within {:.2g} % of its time alone",
                                 100 * (first - 1)),
                     warps);
  else if (first > 1.07)
    bench.found.word("sm.scheduler", "gto",
                     fmt::format("warps end one by one, and beside three others that wait as often the first "
                                 "takes {:.3g} % longer than alone",
                                 100 * (first - 1)),
                     warps);
  else
    give_up(
        fmt::format("warps end one by one, and beside others the first takes {:.3g} % longer: too little to "
                    "tell the greedy order from the oldest first",
                    100 * (first - 1)));
}

}  // namespace

extern constinit const Kind kind_scheduler{"scheduler", "Whom a warp scheduler lets issue", probe_scheduler,
                                           "arithmetic issue shared", 57};

}  // namespace simtlab::probe
