// What a store does in the caches. One warp stores a line that is there, or one that is not, waits until all
// has settled, and reads it again: how long that takes says whether the line was kept, dropped or brought in.
// What reaches memory is told from how fast stores to few lines are (kinds/bandwidth.cpp).
#include <fmt/format.h>

#include <algorithm>

#include "probe/analysis/histogram.h"
#include "probe/kinds.h"
#include "probe/ring.h"

namespace simtlab::probe {
namespace {

// Lane l of one warp reads (or not), stores (or not), and reads again word l of a line.
std::string stores_text(const char* load) {
  return fmt::format(R"(
.visible .entry stores(.param .u64 data, .param .u64 zero, .param .u32 first, .param .u32 store, .param .u64 wait, .param .u64 out)
{{
  .reg .pred %q, %f, %s; .reg .b32 %r, %n, %t; .reg .b64 %a, %z, %o, %v, %w, %t0, %t1;
  ld.param.u64 %a, [data]; ld.param.u64 %z, [zero]; ld.param.u64 %w, [wait]; ld.param.u64 %o, [out];
  ld.param.u32 %n, [first]; setp.ne.u32 %f, %n, 0; ld.param.u32 %n, [store]; setp.ne.u32 %s, %n, 0;
  mov.u32 %t, %tid.x; mul.wide.u32 %v, %t, 4; add.u64 %a, %a, %v;
  mov.u32 %r, 0;
  @%f {0} %r, [%a];
  setp.eq.u32 %q, %r, 1;
  @%q bra END;
  mov.u64 %t0, %clock64; add.u64 %w, %w, %t0;
  @%s st.global.u32 [%a], %r;
WAIT:
  mov.u64 %t0, %clock64;
  setp.lt.u64 %q, %t0, %w;
  @%q bra WAIT;
  mov.u64 %t0, %clock64;
  and.b64 %v, %t0, %z; xor.b64 %a, %a, %v;
  {0} %r, [%a];
  setp.eq.u32 %q, %r, 1;
  @%q bra END;
  mov.u64 %t1, %clock64;
  setp.ne.u32 %q, %t, 0;
  @%q bra END;
  sub.u64 %t1, %t1, %t0;
  st.global.u64 [%o], %t1;
END:
  ret;
}}
)",
                     load);
}

class StoreEffect {
 public:
  StoreEffect(Bench& bench, const char* load) : bench_(bench), text_(stores_text(load)), out_(bench, 256) {}

  // Cycles of the last load: median over lines.
  double cycles(const Bench::Buffer& data, std::uint64_t from, std::uint64_t distance, bool read_first,
                bool store) {
    std::vector<double> times;
    for (std::uint64_t i = 0; i < 7; ++i)
      times.push_back(once(data.address() + from + i * distance, read_first, store));
    return median_of(times);
  }

 private:
  double once(std::uint64_t address, bool read_first, bool store) {
    const auto w = bench_.run(bench_.kernel(text_, "stores"), 1, 32,
                              gpu::Arguments(address, std::uint64_t{0}, read_first ? 1u : 0u, store ? 1u : 0u,
                                             std::uint64_t{20000}, out_.address()),
                              out_.address(), 1);
    return static_cast<double>(w[0]);
  }

  Bench& bench_;
  const std::string text_;
  const Bench::Buffer out_;
};

// Nearer to `fast` than to `slow` by a wide margin; nullopt: in between.
std::optional<bool> is_fast(double cycles, double fast, double slow) {
  const double share = (cycles - fast) / (slow - fast);
  if (share < 0.35) return true;
  if (share > 0.65) return false;
  return std::nullopt;
}

// Block 0 stores and stays; block 1, on another SM, looks past L1 whether it sees that before the other has
// ended.
constexpr const char* seen_text = R"(
.visible .entry seen(.param .u64 cell, .param .u64 cycles, .param .u64 out)
{
  .reg .pred %q; .reg .b32 %b, %r, %s; .reg .b64 %a, %o, %v, %t, %end;
  ld.param.u64 %a, [cell]; ld.param.u64 %v, [cycles]; ld.param.u64 %o, [out];
  mov.u32 %b, %ctaid.x; mul.wide.u32 %t, %b, 8; add.u64 %o, %o, %t;
  mov.u64 %t, %clock64; add.u64 %end, %t, %v;
  mov.u32 %s, %smid; mov.u32 %r, 0;
  setp.ne.u32 %q, %b, 0;
  @%q bra LOOK;
  ld.global.ca.u32 %r, [%a]; add.u32 %r, %r, 1; st.global.u32 [%a], %r;
  add.u64 %end, %end, %v;
STAY:
  mov.u64 %t, %clock64; setp.lt.u64 %q, %t, %end;
  @%q bra STAY;
  bra LEAVE;
LOOK:
  ld.volatile.global.u32 %r, [%a];
  setp.ne.u32 %q, %r, 0;
  @%q bra LEAVE;
  mov.u64 %t, %clock64; setp.lt.u64 %q, %t, %end;
  @%q bra LOOK;
LEAVE:
  st.global.u32 [%o], %r; st.global.u32 [%o+4], %s;
  ret;
}
)";

// nullopt: both blocks were on one SM.
std::optional<bool> seen_by_others(Bench& bench) {
  const Bench::Buffer cell(bench, 256), out(bench, 256);
  bench.board.fill(cell.address(), std::byte{0}, cell.bytes());
  const auto w =
      bench.run(bench.kernel(seen_text, "seen"), 2, 1,
                gpu::Arguments(cell.address(), std::uint64_t{30000}, out.address()), out.address(), 2);
  if (w[0] >> 32 == w[1] >> 32) return std::nullopt;
  return (w[1] & 0xffffffff) == 1;
}

void of_l1(Bench& bench) {
  const auto give_up = [&](const std::string& why) {
    for (const char* what : {"l1.write_policy", "l1.write_allocate"}) bench.found.unknown(what, why);
  };
  const Finding* l1 = bench.found.find("l1.latency");
  if (l1 == nullptr || !l1->known()) return give_up("no L1 in front of L2 was seen");
  // Where ordinary loads pass by L1 the read-only path looks into it.
  const gpu::BoardFacts& facts = bench.board.facts();
  const bool read_only = facts.l1_caches_global == false;
  if (read_only && facts.cc_major * 10 + facts.cc_minor < 35)
    return give_up("ordinary loads and stores pass by L1 here");
  const Bench::Buffer data(bench, 64 << 10);
  bench.board.fill(data.address(), std::byte{0}, data.bytes());
  StoreEffect effect(bench, read_only ? "ld.global.nc.u32" : "ld.global.ca.u32");
  constexpr std::uint64_t distance = 1024;
  effect.cycles(data, 0, distance, true, false);  // into L2
  const double hit = effect.cycles(data, 0, distance, true, false),
               miss = effect.cycles(data, 0, distance, false, false);
  if (miss < 1.3 * hit) return give_up("a load that finds its line in L1 takes as long as one that does not");
  const auto kept = is_fast(effect.cycles(data, 0, distance, true, true), hit, miss),
             brought = is_fast(effect.cycles(data, 0, distance, false, true), hit, miss);
  if (!kept || !brought || (*brought && !*kept))
    return give_up("loads after a store take neither as long as hits nor as misses");
  if (!*kept) {
    bench.found.word("l1.write_policy", "write_evict",
                     "a line that was read and then stored to is not there any more", 7);
  } else if (const auto seen = seen_by_others(bench); !seen) {
    bench.found.unknown("l1.write_policy",
                        "a line that was stored to stays; no two blocks ran on different SMs to see whether "
                        "the store is written through");
  } else {
    bench.found.word(
        "l1.write_policy", *seen ? "write_through" : "write_back",
        *seen
            ? "a line that was read and then stored to is still there, and another SM sees the store while "
              "the kernel goes on"
            : "a line that was read and then stored to is still there, and another SM does not see the store",
        8);
  }
  bench.found.word("l1.write_allocate", *brought ? "true" : "false",
                   *brought ? "a line that was stored to and never read is there"
                            : "a line that was stored to and never read is not there",
                   7);
}

void of_l2_stores(Bench& bench) {
  const Bench::Buffer data(bench, 1 << 20);
  bench.board.fill(data.address(), std::byte{0}, data.bytes());
  flush(bench);
  StoreEffect effect(bench, "ld.global.cg.u32");
  constexpr std::uint64_t distance = 4096, apart = 64 << 10;
  // Each case has lines of its own, never read before, in one page's reach of a line that was.
  const double miss = effect.cycles(data, 0, distance, false, false),
               hit = effect.cycles(data, 0, distance, false, false);
  if (miss < 1.15 * hit)
    return bench.found.unknown("l2.write_allocate",
                               "a load that finds its line in L2 takes as long as one from memory");
  const auto brought = is_fast(effect.cycles(data, apart, distance, false, true), hit, miss);
  if (!brought)
    bench.found.unknown("l2.write_allocate",
                        "loads after a store take neither as long as hits nor as misses");
  else
    bench.found.word("l2.write_allocate", *brought ? "true" : "false",
                     *brought ? "a line that was stored to and never read is there"
                              : "a line that was stored to and never read is not there",
                     7);
}

void probe_stores(Bench& bench) {
  of_l1(bench);
  of_l2_stores(bench);
}

}  // namespace

extern constinit const Kind kind_stores{"stores", "What a store does in L1 and L2", probe_stores, "cache",
                                        127};

}  // namespace simtlab::probe
