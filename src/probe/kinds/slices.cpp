// Slices of L2. All SMs read one line again and again: its slice serves them one after the other. Two such
// lines take no longer than one if they live in different slices, and twice as long if they share one. Lines
// that share none with those found before are kept: as many as there are slices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/rng.h"
#include "probe/kinds.h"

namespace simtlab::probe {
namespace {

// Blocks: of each line; rounds of eight loads
constexpr std::uint32_t hot_threads = 512, hot_blocks = 4, hot_rounds = 4;
constexpr std::uint64_t hot_room = 1 << 20;

constexpr const char* hot_text = R"(
.visible .entry hot(.param .u64 lines, .param .u32 count, .param .u32 rounds, .param .u64 out)
{
  .reg .pred %q; .reg .b32 %b, %n, %m, %r<8>, %s, %t0, %t1; .reg .b64 %l, %p, %v, %o;
  ld.param.u64 %l, [lines]; ld.param.u32 %n, [count]; ld.param.u32 %m, [rounds]; ld.param.u64 %o, [out];
  mov.u32 %b, %ctaid.x; rem.u32 %b, %b, %n; mul.wide.u32 %v, %b, 8; add.u64 %l, %l, %v;
  ld.global.u64 %p, [%l];
  mov.u32 %s, 0;
  mov.u32 %t0, %clock;
ROUND:
  ld.volatile.global.u32 %r0, [%p]; ld.volatile.global.u32 %r1, [%p]; ld.volatile.global.u32 %r2, [%p]; ld.volatile.global.u32 %r3, [%p];
  ld.volatile.global.u32 %r4, [%p]; ld.volatile.global.u32 %r5, [%p]; ld.volatile.global.u32 %r6, [%p]; ld.volatile.global.u32 %r7, [%p];
  xor.b32 %r0, %r0, %r1; xor.b32 %r2, %r2, %r3; xor.b32 %r4, %r4, %r5; xor.b32 %r6, %r6, %r7; xor.b32 %r0, %r0, %r2; xor.b32 %r4, %r4, %r6; xor.b32 %s, %s, %r0; xor.b32 %s, %s, %r4;
  sub.u32 %m, %m, 1;
  setp.ne.u32 %q, %m, 0;
  @%q bra ROUND;
  setp.eq.u32 %q, %s, 0x12345;
  @%q bra END;
  mov.u32 %t1, %clock;
  sub.u32 %t1, %t1, %t0;
  red.global.max.u32 [%o], %t1;
END:
  ret;
}
)";

class HotLines {
 public:
  explicit HotLines(Bench& bench)
      : bench_(bench), data_(bench, hot_room, 4096), list_(bench, 8 * 64), out_(bench, 256) {
    bench.board.fill(data_.address(), std::byte{0}, data_.bytes());
  }

  // Cycles that reading these lines takes, so many blocks each, without what begins and ends it. By the SMs'
  // clock: launches take the host longer than that.
  double time(const std::vector<std::uint64_t>& offsets, std::uint32_t blocks) {
    std::vector<std::uint64_t> addresses;
    for (const std::uint64_t offset : offsets) addresses.push_back(data_.address() + offset);
    bench_.board.copy_in(list_.address(), addresses.data(), 8 * addresses.size());
    const auto count = static_cast<std::uint32_t>(offsets.size());
    const double once = launch(count, blocks, 2), thrice = launch(count, blocks, 2 + hot_rounds);
    return thrice - once;
  }

 private:
  // The longest of all warps.
  double launch(std::uint32_t count, std::uint32_t blocks, std::uint32_t rounds) {
    bench_.board.fill(out_.address(), std::byte{0}, 8);
    const auto w =
        bench_.run(bench_.kernel(hot_text, "hot"), count * blocks,
                   std::min(bench_.board.facts().max_threads_per_block, hot_threads),
                   gpu::Arguments(list_.address(), count, rounds, out_.address()), out_.address(), 1);
    return static_cast<double>(w[0] & 0xffffffff);
  }

  Bench& bench_;
  const Bench::Buffer data_, list_, out_;
};

// Whether a line shares a slice with one of these; nullopt: the times are neither those of one slice nor
// those of two.
std::optional<bool> shares(HotLines& hot, const std::vector<std::uint64_t>& group, std::uint64_t line,
                           double alone) {
  std::vector<std::uint64_t> lines = group;
  lines.push_back(line);
  const double ratio = hot.time(lines, hot_blocks) / alone;
  if (ratio > 1.25 && ratio < 1.7) return std::nullopt;
  return ratio >= 1.7;
}

struct SliceCount {
  std::size_t slices = 0, lines = 0;
  std::string why;
};

SliceCount count_slices(HotLines& hot, double alone, std::size_t together) {
  SliceCount out;
  std::vector<std::uint64_t> found;
  Rng rng(1);
  std::size_t since = 0;
  for (std::uint64_t line = 0; since < 2 * found.size() + 24; ++line) {
    // Neighbours first, as they are spread evenly; then any.
    const std::uint64_t offset = since < 2 * found.size() + 8 ? line * 128 : rng.below(hot_room / 128) * 128;
    if (offset >= hot_room || found.size() > 512)
      return {0, out.lines, "new ones were found up to the end of what was tried"};
    bool known = false;
    for (std::size_t i = 0; i < found.size() && !known; i += together) {
      const auto shared =
          shares(hot,
                 {found.begin() + static_cast<std::ptrdiff_t>(i),
                  found.begin() + static_cast<std::ptrdiff_t>(std::min(i + together, found.size()))},
                 offset, alone);
      if (!shared) return {0, out.lines, "two lines take neither as long as one nor twice as long"};
      known = *shared;
    }
    ++out.lines, ++since;
    if (!known) found.push_back(offset), since = 0;
  }
  out.slices = found.size();
  return out;
}

void probe_slices(Bench& bench) {
  if (bench.options.quick) return;
  const gpu::BoardFacts& facts = bench.board.facts();
  const auto near = bench.found.by_slope("latency.atomic"), far = bench.found.by_slope("atomic.latency.far");
  if (near && far && *far > 1.1 * *near)
    return bench.found.unknown(
        "l2.slices",
        "parts of L2 keep copies of each other's lines, so a line is served by more than one slice");
  HotLines hot(bench);
  hot.time({0}, hot_blocks);  // line, instructions and translation are there
  const double few = hot.time({0}, hot_blocks), many = hot.time({0}, 2 * hot_blocks);
  if (many < 1.9 * few || many > 2.1 * few)
    return bench.found.unknown("l2.slices",
                               fmt::format("one line is read in {:.4g} cycles by {} blocks and in {:.4g} by "
                                           "twice as many: it is not its slice that limits",
                                           few, hot_blocks, many));
  // As many lines at once as SMs can ask for: what one SM takes for its blocks must be less than what a slice
  // takes for a line, or lines would seem to wait for each other that don't. Cycles of a slice for one load
  const double block = hot.time({0}, 1),
               loads =
                   8.0 * hot_rounds * hot_blocks * std::min(facts.max_threads_per_block, hot_threads) / 32,
               serve = few / loads;
  const auto asked_in_time = [&](std::size_t lines) {
    return std::ceil(static_cast<double>(lines * hot_blocks) / facts.sms) * block <= 1.1 * few;
  };
  if (!asked_in_time(2))
    return bench.found.unknown("l2.slices", fmt::format("one SM takes {:.4g} cycles for what a slice takes "
                                                        "{:.4g}: the SMs are too few to have slices wait",
                                                        block, few / hot_blocks));
  std::size_t together = 1;
  while (together < 32 && asked_in_time(together + 2)) ++together;
  const SliceCount count = count_slices(hot, few, together);
  if (count.slices == 0) return bench.found.unknown("l2.slices", count.why);
  // All of them together are what L2 gives: a second way to the number, without which nothing is said.
  const auto all = bench.found.value("l2.bytes_per_cycle");
  const double by_rate = all ? *all * serve / 32 : 0;
  if (std::abs(by_rate - static_cast<double>(count.slices)) > 0.5)
    return bench.found.unknown(
        "l2.slices", all ? fmt::format("lines tell {} slices apart, and L2 gives as much as {:.3g} of them",
                                       count.slices, by_rate)
                         : fmt::format("lines tell {} slices apart; what all of L2 gives is not known, which "
                                       "would have to be as much",
                                       count.slices));
  bench.found.once("l2.slice_bytes_per_cycle", 32 / serve, "B/cycle",
                   "reads of one sector by all SMs, which its slice serves one after the other", 2);
  bench.found.exact(
      "l2.slices", static_cast<double>(count.slices), "",
      fmt::format("lines that take no longer together than alone; {} lines were tried", count.lines),
      count.lines);
}

}  // namespace

extern constinit const Kind kind_slices{"slices", "Slices of L2, by lines that wait for each other",
                                        probe_slices, "cache bandwidth atomic", 135};

}  // namespace simtlab::probe
