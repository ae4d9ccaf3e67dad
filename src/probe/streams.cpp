#include "probe/streams.h"

#include <fmt/format.h>

namespace simtlab::probe {
namespace {

// A thread reads (writes, copies, adds up) 16 bytes at its own place, then as many threads further, `count`
// times; the whole `rounds` times. The kernels differ in what they do at one place.
std::string stream_text(const char* name, const char* access) {
  return fmt::format(R"(
.visible .entry {}(.param .u64 x, .param .u64 y, .param .u64 z, .param .u32 count, .param .u32 rounds, .param .u64 out)
{{
  .reg .pred %q; .reg .b32 %i, %n, %t, %m, %k, %r<12>, %s; .reg .b64 %x, %y, %z, %o, %at, %px, %py, %pz, %step;
  ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.param.u64 %z, [z]; ld.param.u32 %m, [rounds]; ld.param.u64 %o, [out];
  mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, %n, %t;
  mul.wide.u32 %at, %i, 16;
  mov.u32 %t, %nctaid.x; mul.lo.u32 %t, %t, %n; mul.wide.u32 %step, %t, 16;
  mov.u32 %s, 0; mov.b32 %r8, 0; mov.b32 %r9, 0; mov.b32 %r10, 0; mov.b32 %r11, 0;
ROUND:
  add.u64 %px, %x, %at; add.u64 %py, %y, %at; add.u64 %pz, %z, %at;
  ld.param.u32 %k, [count];
PLACE:
  {}
  add.u64 %px, %px, %step; add.u64 %py, %py, %step; add.u64 %pz, %pz, %step;
  sub.u32 %k, %k, 1;
  setp.ne.u32 %q, %k, 0;
  @%q bra PLACE;
  sub.u32 %m, %m, 1;
  setp.ne.u32 %q, %m, 0;
  @%q bra ROUND;
  setp.ne.u32 %q, %s, 0x12345;
  @%q bra END;
  st.global.u32 [%o], %s;
END:
  ret;
}}
)",
                     name, access);
}

std::string stream_texts() {
  return stream_text("read",
                     "ld.global.cg.v4.u32 {%r0, %r1, %r2, %r3}, [%px]; xor.b32 %r0, %r0, %r1; xor.b32 %r2, "
                     "%r2, %r3; add.u32 %s, %s, %r0; add.u32 %s, %s, %r2;") +
         stream_text("write", "st.global.v4.u32 [%px], {%r8, %r9, %r10, %r11};") +
         stream_text("copy",
                     "ld.global.cg.v4.u32 {%r0, %r1, %r2, %r3}, [%px]; st.global.v4.u32 [%py], {%r0, %r1, "
                     "%r2, %r3};") +
         stream_text(
             "triad",
             "ld.global.cg.v4.f32 {%r0, %r1, %r2, %r3}, [%px]; ld.global.cg.v4.f32 {%r4, %r5, %r6, %r7}, "
             "[%py]; fma.rn.f32 %r0, %r4, 0f40400000, %r0; fma.rn.f32 %r1, %r5, 0f40400000, %r1; "
             "fma.rn.f32 %r2, %r6, 0f40400000, %r2; fma.rn.f32 %r3, %r7, 0f40400000, %r3; st.global.v4.f32 "
             "[%pz], {%r0, %r1, %r2, %r3};");
}

}  // namespace

Streams::Streams(Bench& bench, std::uint32_t threads, std::uint32_t blocks)
    : bench_(bench), out_(bench, 256), text_(stream_texts()), threads_(threads), blocks_(blocks) {}

double Streams::time(const char* kernel, std::uint64_t x, std::uint64_t y, std::uint64_t z,
                     std::uint32_t count, std::uint32_t rounds) {
  bench_.check_interrupt();
  ++bench_.launches;
  gpu::Board::Launch launch;
  launch.function = bench_.kernel(text_, kernel);
  launch.grid = {blocks_, 1, 1}, launch.block = {threads_, 1, 1};
  launch.arguments = gpu::Arguments(x, y, z, count, rounds, out_.address());
  const auto begin = bench_.board.record(0);
  bench_.board.launch(launch);
  return bench_.board.elapsed_ns(begin, bench_.board.record(0));
}

}  // namespace simtlab::probe
