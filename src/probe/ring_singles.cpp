// Loads of a chain of pointers, one interval each.
#include <fmt/format.h>

#include <algorithm>

#include "probe/ring.h"

namespace simtlab::probe {
namespace {

constexpr std::uint32_t most_singles = 4096;

// Intervals are kept in shared memory: stores to global memory would meet the loads. A reading is waited for
// before the load begins, and the load before the second reading.
std::string singles_entry(const char* name, const std::string& load, const std::string& setup) {
  return fmt::format(R"(
.visible .entry {}(.param .u64 start, .param .u64 zero, .param .u64 skip, .param .u32 count, .param .u64 out)
{{
  .reg .pred %q; .reg .b32 %at, %took, %m; .reg .b64 %p, %z, %n, %o, %t0, %t1, %v, %base;
  ld.param.u64 %p, [start]; ld.param.u64 %z, [zero]; ld.param.u64 %n, [skip]; ld.param.u32 %m, [count]; ld.param.u64 %o, [out];
  mov.u32 %at, kept;
  {}
WARM:
  setp.eq.u64 %q, %n, 0;
  @%q bra FIRST;
  {}
  sub.u64 %n, %n, 1;
  bra WARM;
FIRST:
  setp.eq.u64 %q, %p, 1;
  @%q bra DONE;
  mov.u64 %t0, %clock64;
  and.b64 %v, %t0, %z;
  xor.b64 %p, %p, %v;
  setp.eq.u64 %q, %p, 1;
  @%q bra DONE;
  {}
  setp.eq.u64 %q, %p, 1;
  @%q bra DONE;
  mov.u64 %t1, %clock64;
  sub.u64 %v, %t1, %t0;
  cvt.u32.u64 %took, %v;
  st.volatile.shared.u32 [%at], %took;
  add.u32 %at, %at, 4;
  sub.u32 %m, %m, 1;
  setp.ne.u32 %q, %m, 0;
  @%q bra FIRST;
  ld.param.u32 %m, [count];
  mov.u32 %at, kept;
LEAVE:
  ld.volatile.shared.u32 %took, [%at];
  cvt.u64.u32 %v, %took;
  st.global.u64 [%o], %v;
  add.u32 %at, %at, 4;
  add.u64 %o, %o, 8;
  sub.u32 %m, %m, 1;
  setp.ne.u32 %q, %m, 0;
  @%q bra LEAVE;
DONE:
  ret;
}}
)",
                     name, setup, load, *name == 'e' ? "" : load);
}

}  // namespace

Singles singles(Bench& bench, const std::string& load, const std::string& setup, const std::string& declared,
                std::uint64_t start, std::uint64_t skip, std::uint32_t loads) {
  loads = std::min(loads, most_singles);
  const std::string text = declared + fmt::format(".shared .align 4 .b32 kept[{}];\n", loads) +
                           singles_entry("loads", load, setup) + singles_entry("empty", load, setup);
  const Bench::Buffer out(bench, std::uint64_t{8} * loads);
  Singles result;
  // The empty ones last: the loads may be of lines that nothing has read yet. Of those the first few, for the
  // instructions, are left out.
  for (const char* name : {"loads", "empty"}) {
    const bool empty = *name == 'e';
    constexpr std::uint32_t warm = 4;
    const std::uint32_t count = empty ? std::min(loads, 64U) : loads;
    const auto words = bench.run(
        bench.kernel(text, name), 1, 1,
        gpu::Arguments(start, std::uint64_t{0}, empty ? std::uint64_t{0} : skip, count, out.address()),
        out.address(), count);
    for (std::uint32_t i = warm; i < count; ++i)
      (empty ? result.empty : result.timed).add(static_cast<double>(words[i]));
  }
  bench.forget(text);
  return result;
}

Singles singles(Bench& bench, Path path, const Ring& ring, std::uint64_t skip, std::uint32_t loads) {
  return singles(bench, load_of(path, bench.board.facts()), "", "", ring.start(), skip, loads);
}

}  // namespace simtlab::probe
