#include "probe/residency.h"

#include <fmt/format.h>

#include <algorithm>

namespace simtlab::probe {

// While a block stays it reads memory: warps that only look at the clock would leave others no turn.
std::string resident_text(unsigned values) {
  std::string declared, read, used;
  if (values != 0) declared = fmt::format(".reg .b32 %v<{}>, %x;", values);
  for (unsigned i = 0; i < values; ++i) {
    read += fmt::format("mov.u32 %v{}, %clock;\n", i);  // no assembler can compute it again later
    used += fmt::format("xor.b32 %x, {}, %v{};\n", i == 0 ? "%old" : "%x", i);
  }
  // What was kept is used where no thread comes: the exclusive or of readings of the clock is hardly that.
  if (values != 0) used += "setp.eq.u32 %q, %x, 0x5a5a5a5a;\n@%q st.volatile.global.u32 [%m], %x;\n";
  return fmt::format(R"(
.visible .entry resident(.param .u64 counters, .param .u64 most, .param .u64 cycles)
{{
  .reg .pred %q; .reg .b32 %s, %n, %old; .reg .b64 %c, %m, %v, %t, %end; {}
  ld.param.u64 %c, [counters]; ld.param.u64 %m, [most]; ld.param.u64 %v, [cycles];
  {}
  mov.u64 %t, %clock64; add.u64 %end, %t, %v;
  mov.u32 %old, 0;
  mov.u32 %s, %tid.x;
  setp.ne.u32 %q, %s, 0;
  @%q bra WAIT;
  mov.u32 %s, %smid; mul.wide.u32 %v, %s, 4; add.u64 %v, %v, %m;
  mul.wide.u32 %t, %s, 4; add.u64 %c, %c, %t;
  atom.global.add.u32 %old, [%c], 1;
  add.u32 %old, %old, 1;
  atom.global.max.u32 %n, [%v], %old;
STAY:
  ld.volatile.global.u32 %n, [%c];
  setp.eq.u32 %q, %n, 0;
  @%q bra LEAVE;
  mov.u64 %t, %clock64;
  setp.lt.u64 %q, %t, %end;
  @%q bra STAY;
LEAVE:
  atom.global.add.u32 %old, [%c], -1;
WAIT:
  bar.sync 0;
  {}
  ret;
}}
)",
                     declared, read, used);
}

gpu::Board::Function resident_kernel(Bench& bench, unsigned values) {
  return bench.kernel(resident_text(values), "resident");
}

std::uint32_t blocks_seen(Bench& bench, gpu::Board::Function function, std::uint32_t threads,
                          std::uint32_t shared_bytes, unsigned values) {
  const gpu::BoardFacts& facts = bench.board.facts();
  const std::uint32_t told = bench.board.blocks_per_sm(function, threads, shared_bytes);
  const std::size_t words = (facts.sms + 1) / 2;
  const Bench::Buffer counters(bench, 8 * words), most(bench, 8 * words);
  bench.board.fill(counters.address(), std::byte{0}, counters.bytes());
  bench.board.fill(most.address(), std::byte{0}, most.bytes());
  // Long enough for an SM to be filled, at a block every 100 cycles and a value of a warp every two.
  const std::uint64_t cycles =
      4000 + 150 * std::uint64_t{told} + 2 * std::uint64_t{told} * values * (threads / 32);
  const auto seen = bench.run(function, facts.sms * (told + 1), threads,
                              gpu::Arguments(counters.address(), most.address(), cycles), most.address(),
                              words, shared_bytes);
  std::uint64_t out = 0;
  for (const std::uint64_t w : seen) out = std::max({out, w & 0xffffffff, w >> 32});
  return static_cast<std::uint32_t>(out);
}

}  // namespace simtlab::probe
