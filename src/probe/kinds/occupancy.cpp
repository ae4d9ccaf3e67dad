// Blocks that an SM holds at once: every block counts itself on its SM, stays a while, and counts itself off; the most that were there at once.
#include <fmt/format.h>

#include <algorithm>

#include "probe/kinds.h"

namespace simtlab::probe {
namespace {

constexpr const char* text = R"(
.visible .entry resident(.param .u64 counters, .param .u64 most, .param .u64 cycles)
{
  .reg .pred %q; .reg .b32 %s, %n, %old; .reg .b64 %c, %m, %v, %t, %end;
  mov.u32 %s, %tid.x;
  setp.ne.u32 %q, %s, 0;
  @%q bra WAIT;
  ld.param.u64 %c, [counters]; ld.param.u64 %m, [most]; ld.param.u64 %v, [cycles];
  mov.u64 %t, %clock64; add.u64 %end, %t, %v;
  mov.u32 %s, %smid; mul.wide.u32 %v, %s, 4; add.u64 %c, %c, %v; add.u64 %m, %m, %v;
  atom.global.add.u32 %old, [%c], 1;
  add.u32 %old, %old, 1;
  atom.global.max.u32 %n, [%m], %old;
STAY:
  mov.u64 %t, %clock64;
  setp.lt.u64 %q, %t, %end;
  @%q bra STAY;
  atom.global.add.u32 %old, [%c], -1;
WAIT:
  bar.sync 0;
  ret;
}
)";

// Most blocks of so many threads that one SM held.
std::uint32_t held(Bench& bench, std::uint32_t threads, std::uint32_t shared_bytes) {
  const gpu::BoardFacts& facts = bench.board.facts();
  const auto function = bench.kernel(text, "resident");
  const std::uint32_t told = bench.board.blocks_per_sm(function, threads, shared_bytes);
  const std::size_t words = (facts.sms + 1) / 2;
  const Bench::Buffer counters(bench, 8 * words), most(bench, 8 * words);
  bench.board.fill(counters.address(), std::byte{0}, counters.bytes());
  bench.board.fill(most.address(), std::byte{0}, most.bytes());
  // Long enough for an SM to be filled, at a block every 100 cycles.
  const std::uint64_t cycles = 4000 + 150 * std::uint64_t{told};
  const auto seen = bench.run(function, facts.sms * (told + 1), threads, gpu::Arguments(counters.address(), most.address(), cycles), most.address(), words, shared_bytes);
  std::uint64_t out = 0;
  for (const std::uint64_t w : seen) out = std::max({out, w & 0xffffffff, w >> 32});
  return static_cast<std::uint32_t>(out);
}

void compare(Bench& bench, const std::string& key, std::uint32_t threads, std::uint32_t shared_bytes) {
  const std::uint32_t told = bench.board.blocks_per_sm(bench.kernel(text, "resident"), threads, shared_bytes), seen = held(bench, threads, shared_bytes);
  if (seen == told)
    bench.found.exact(key, seen, "", fmt::format("blocks of {} threads seen on one SM at once; the driver says the same", threads));
  else
    bench.found.unknown(key, fmt::format("{} blocks of {} threads were seen on one SM at once, the driver says {}", seen, threads, told));
}

void probe_occupancy(Bench& bench) {
  const gpu::BoardFacts& facts = bench.board.facts();
  compare(bench, "occupancy.blocks.32", 32, 0);
  compare(bench, "occupancy.blocks.256", std::min(256u, facts.max_threads_per_block), 0);
  compare(bench, "occupancy.blocks.shared", 64, static_cast<std::uint32_t>(facts.shared_bytes_per_block / 2));
}

}  // namespace

extern constinit const Kind kind_occupancy{"occupancy", "Blocks and warps that an SM really holds", probe_occupancy, "device", 170};

}  // namespace simtlab::probe
