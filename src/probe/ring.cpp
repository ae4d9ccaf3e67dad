#include "probe/ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/rng.h"

namespace simtlab::probe {
namespace {

constexpr std::string_view text_template = R"(
// One thread: `skip` rounds of eight loads, then `rounds` of 64 and as many of 128 between readings of the clock: rounds cost the same in both. Before that one round of each, or the first would wait
// for its instructions. The address of each load is what the one before found; `zero`, which is 0, ties the first load to the reading before it.
.visible .entry chase(.param .u64 start, .param .u64 zero, .param .u32 skip, .param .u32 rounds, .param .u64 out)
{
  .reg .pred %q; .reg .b32 %n, %m, %last, %rounds; .reg .b64 %p, %z, %o, %t0, %t1, %t2, %v, %base;
  ld.param.u64 %p, [start]; ld.param.u64 %z, [zero]; ld.param.u32 %n, [skip]; ld.param.u32 %rounds, [rounds]; mov.u32 %m, 1; mov.u32 %last, 0; ld.param.u64 %o, [out];
  SETUP
WARM:
  setp.eq.u32 %q, %n, 0;
  @%q bra BEGIN;
  EIGHT
  sub.u32 %n, %n, 1;
  bra WARM;
BEGIN:
  setp.eq.u64 %q, %p, 1;
  @%q bra BEGIN;
  mov.u64 %t0, %clock64;
  and.b64 %v, %t0, %z;
  xor.b64 %p, %p, %v;
  mov.u32 %n, %m;
ONCE:
  BODY
  sub.u32 %n, %n, 1;
  setp.ne.u32 %q, %n, 0;
  @%q bra ONCE;
MIDDLE:
  setp.eq.u64 %q, %p, 1;
  @%q bra MIDDLE;
  mov.u64 %t1, %clock64;
  and.b64 %v, %t1, %z;
  xor.b64 %p, %p, %v;
  mov.u32 %n, %m;
TWICE:
  BODY
  BODY
  sub.u32 %n, %n, 1;
  setp.ne.u32 %q, %n, 0;
  @%q bra TWICE;
END:
  setp.eq.u64 %q, %p, 1;
  @%q bra END;
  mov.u64 %t2, %clock64;
  mov.u32 %m, %rounds;
  add.u32 %last, %last, 1;
  setp.eq.u32 %q, %last, 1;
  @%q bra BEGIN;
  st.global.u64 [%o], %t0;
  st.global.u64 [%o+8], %t1;
  st.global.u64 [%o+16], %t2;
  st.global.u64 [%o+24], %p;
  ret;
}

// One thread: `skip` loads, then `loads` with a reading of the clock before and after each.
.visible .entry census(.param .u64 start, .param .u64 zero, .param .u64 skip, .param .u64 loads, .param .u64 near, .param .u64 far, .param .u64 out)
{
  .reg .pred %q; .reg .b64 %p, %z, %n, %near, %far, %o, %t0, %t1, %v, %fast, %medium, %sum, %least, %most, %mask, %one, %base;
  ld.param.u64 %p, [start]; ld.param.u64 %z, [zero]; ld.param.u64 %n, [skip]; ld.param.u64 %near, [near]; ld.param.u64 %far, [far]; ld.param.u64 %o, [out];
  mov.u64 %fast, 0; mov.u64 %medium, 0; mov.u64 %sum, 0; mov.u64 %least, -1; mov.u64 %most, 0; mov.u64 %mask, 0;
  SETUP
WARM:
  setp.lt.u64 %q, %n, 8;
  @%q bra REST;
  EIGHT
  sub.u64 %n, %n, 8;
  bra WARM;
REST:
  setp.eq.u64 %q, %n, 0;
  @%q bra BEGIN;
  LOAD
  sub.u64 %n, %n, 1;
  bra REST;
BEGIN:
  ld.param.u64 %n, [loads];
COUNT:
  setp.eq.u64 %q, %p, 1;
  @%q bra DONE;
  mov.u64 %t0, %clock64;
  and.b64 %v, %t0, %z;
  xor.b64 %p, %p, %v;
  LOAD
  setp.eq.u64 %q, %p, 1;
  @%q bra DONE;
  mov.u64 %t1, %clock64;
  sub.u64 %v, %t1, %t0;
  add.u64 %sum, %sum, %v;
  min.u64 %least, %least, %v;
  max.u64 %most, %most, %v;
  shl.b64 %mask, %mask, 1;
  setp.le.u64 %q, %v, %near;
  selp.u64 %one, 1, 0, %q;
  or.b64 %mask, %mask, %one;
  add.u64 %fast, %fast, %one;
  setp.le.u64 %q, %v, %far;
  selp.u64 %v, 1, 0, %q;
  sub.u64 %v, %v, %one;
  add.u64 %medium, %medium, %v;
  sub.u64 %n, %n, 1;
  setp.ne.u64 %q, %n, 0;
  @%q bra COUNT;
DONE:
  st.global.u64 [%o], %fast;
  st.global.u64 [%o+8], %medium;
  st.global.u64 [%o+16], %sum;
  st.global.u64 [%o+24], %least;
  st.global.u64 [%o+32], %most;
  st.global.u64 [%o+40], %mask;
  st.global.u64 [%o+48], %p;
  ret;
}

// All threads read 16 bytes in turn; what was read is used, or an assembler would drop the loads.
.visible .entry over(.param .u64 data, .param .u64 bytes, .param .u64 out)
{
  .reg .pred %q; .reg .b32 %i, %n, %t; .reg .b64 %p, %e, %o, %step; .reg .b32 %a, %b, %c, %d, %s;
  ld.param.u64 %p, [data]; ld.param.u64 %e, [bytes]; ld.param.u64 %o, [out];
  add.u64 %e, %e, %p;
  mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x;
  mad.lo.u32 %i, %i, %n, %t;
  mul.wide.u32 %step, %i, 16;
  add.u64 %p, %p, %step;
  mov.u32 %i, %nctaid.x;
  mul.lo.u32 %i, %i, %n;
  mul.wide.u32 %step, %i, 16;
  mov.u32 %s, 0;
LOOP:
  setp.ge.u64 %q, %p, %e;
  @%q bra DONE;
  ld.global.cg.v4.u32 {%a, %b, %c, %d}, [%p];
  xor.b32 %a, %a, %b; xor.b32 %c, %c, %d; xor.b32 %s, %s, %a; add.u32 %s, %s, %c;
  add.u64 %p, %p, %step;
  bra LOOP;
DONE:
  setp.ne.u32 %q, %s, 0x12345;
  @%q bra END;
  st.global.u32 [%o], %s;
END:
  ret;
}
)";

std::string replace_all(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace

std::string load_of(Path path, const gpu::BoardFacts& facts) {
  if (path == Path::past) return "ld.global.cg.u64 %p, [%p];";
  const bool read_only = facts.l1_caches_global == false && facts.cc_major * 10 + facts.cc_minor >= 35;
  return read_only ? "ld.global.nc.u64 %p, [%p];" : "ld.global.ca.u64 %p, [%p];";
}

std::string ring_kernels(const std::string& load, const std::string& setup) {
  std::string eight;
  for (int i = 0; i < 8; ++i) eight += "LOAD\n  ";
  std::string body;
  for (int i = 0; i < 8; ++i) body += eight;
  const std::string text = replace_all(replace_all(std::string(text_template), "BODY", body), "EIGHT", eight);
  return replace_all(replace_all(text, "LOAD", load), "SETUP", setup);
}

namespace {

// Where kernels leave what they found: a buffer of its own, so that writing it does not touch what is
// measured.
constexpr std::size_t result_bytes = 256;

}  // namespace

Ring::Ring(Bench& bench, const Bench::Buffer& buffer, std::span<const std::uint64_t> offsets,
           std::uint32_t unit)
    : visits_(offsets.size()) {
  SIMTLAB_ASSERT(!offsets.empty(), "a chain has a link");
  std::map<std::uint64_t, std::uint32_t> before;  // visits of a unit
  std::vector<std::uint64_t> address(offsets.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::uint32_t slot = before[offsets[i]]++;
    SIMTLAB_ASSERT((slot + 1) * slot_bytes <= unit && offsets[i] + unit <= buffer.bytes(),
                   "a unit has room for its visits");
    address[i] = buffer.address() + offsets[i] + slot * slot_bytes;
  }
  start_ = address.front();
  const auto [low, high] = std::ranges::minmax(address);
  const std::uint64_t span = high - low + slot_bytes;
  if (span <= 64 * address.size() * slot_bytes || span < (1 << 20)) {  // dense: one copy
    std::vector<std::uint64_t> image(span / slot_bytes);
    for (std::size_t i = 0; i < address.size(); ++i)
      image[(address[i] - low) / slot_bytes] = address[(i + 1) % address.size()];
    bench.board.copy_in(low, image.data(), span);
    return;
  }
  for (std::size_t i = 0; i < address.size(); ++i)
    bench.board.copy_in(address[i], &address[(i + 1) % address.size()], slot_bytes);
}

double chase(Bench& bench, gpu::Board::Function function, std::uint64_t start, std::uint64_t skip,
             std::uint32_t n) {
  const Bench::Buffer out(bench, result_bytes);
  const auto w = bench.run(function, 1, 1,
                           gpu::Arguments(start, std::uint64_t{0}, static_cast<std::uint32_t>((skip + 7) / 8),
                                          n / chase_round, out.address()),
                           out.address(), 4);
  return (static_cast<double>(w[2] - w[1]) - static_cast<double>(w[1] - w[0])) / n;
}

double chase(Bench& bench, Path path, const Ring& ring, std::uint64_t skip, std::uint32_t n) {
  return chase(bench, bench.kernel(ring_kernels(load_of(path, bench.board.facts()), ""), "chase"),
               ring.start(), skip, n);
}

Census census(Bench& bench, gpu::Board::Function function, std::uint64_t start, std::uint64_t skip,
              std::uint64_t loads, std::uint64_t near, std::uint64_t far, std::uint32_t shared_bytes) {
  const Bench::Buffer out(bench, result_bytes);
  const auto w = bench.run(function, 1, 1,
                           gpu::Arguments(start, std::uint64_t{0}, skip, loads, near, far, out.address()),
                           out.address(), 7, shared_bytes);
  Census c;
  c.loads = loads;
  c.fast = w[0], c.medium = w[1], c.cycles = w[2], c.least = w[3], c.most = w[4], c.last_fast = w[5];
  return c;
}

Census census(Bench& bench, Path path, const Ring& ring, std::uint64_t skip, std::uint64_t loads,
              std::uint64_t near, std::uint64_t far, std::uint32_t shared_bytes) {
  return census(bench, bench.kernel(ring_kernels(load_of(path, bench.board.facts()), ""), "census"),
                ring.start(), skip, loads, near, far, shared_bytes);
}

std::uint32_t census_blocks(Bench& bench, std::uint32_t shared_bytes) {
  return bench.board.blocks_per_sm(
      bench.kernel(ring_kernels(load_of(Path::through, bench.board.facts()), ""), "census"), 1, shared_bytes);
}

void read_over(Bench& bench, const Bench::Buffer& buffer) {
  const gpu::BoardFacts& facts = bench.board.facts();
  const Bench::Buffer out(bench, result_bytes);
  const auto function = bench.kernel(ring_kernels(load_of(Path::past, facts), ""), "over");
  const std::uint32_t threads = std::min(facts.max_threads_per_block, 512u);
  bench.run(function, facts.sms * std::max(1u, facts.max_threads_per_sm / threads), threads,
            gpu::Arguments(buffer.address(), buffer.bytes() / 16 * 16, out.address()), out.address(), 0);
}

void flush(Bench& bench) {
  const Bench::Buffer buffer(bench, 2 * bench.board.facts().l2_bytes.value_or(16 << 20));
  read_over(bench, buffer);
}

std::vector<std::uint64_t> steps(std::uint64_t bytes, std::uint64_t step) {
  std::vector<std::uint64_t> out;
  for (std::uint64_t at = 0; at < bytes; at += step) out.push_back(at);
  return out;
}

std::vector<std::uint64_t> shuffled(std::vector<std::uint64_t> offsets, std::uint64_t seed) {
  Rng rng(seed);
  for (std::size_t i = offsets.size(); i > 1; --i) std::swap(offsets[i - 1], offsets[rng.below(i)]);
  return offsets;
}

}  // namespace simtlab::probe
