// Loads and stores: widths, vectors, spaces, generic addresses, masks. Every instruction set.
#include <array>

#include "kernel_support.h"

namespace simtlab::exec {
namespace {

using testing::HasSubstr;

class Memory : public EachIsa {};
SIMTLAB_EACH_ISA(Memory);

TEST_P(Memory, narrow_loads_extend_to_registers_of_every_width) {
  Machine m(lane_kernel(R"(
  add.s64 %rd5, %rd2, %rd0;
  cvt.u64.u32 %rd9, %r0;
  add.s64 %rd5, %rd2, %rd9;
  ld.global.s8 %r2, [%rd5];
  ld.global.u8 %r3, [%rd5];
  ld.global.s8 %rd6, [%rd5];
  ld.global.u8 %rs1, [%rd5];
  ld.global.s8 %rs2, [%rd5];
  add.s64 %rd5, %rd5, %rd9;
  ld.global.s16 %r4, [%rd5];
  ld.global.u16 %r5, [%rd5];
  ld.global.s16 %rd7, [%rd5];
  add.s64 %rd5, %rd5, %rd9;
  add.s64 %rd5, %rd5, %rd9;
  ld.global.s32 %rd8, [%rd5];
  add.s32 %r1, %r2, %r3;
  cvt.u32.u64 %r6, %rd6;
  add.s32 %r1, %r1, %r6;
  shr.u64 %rd6, %rd6, 56;
  cvt.u32.u64 %r6, %rd6;
  add.s32 %r1, %r1, %r6;
  cvt.u32.u16 %r6, %rs1;
  add.s32 %r1, %r1, %r6;
  cvt.u32.u16 %r6, %rs2;
  add.s32 %r1, %r1, %r6;
  add.s32 %r1, %r1, %r4;
  add.s32 %r1, %r1, %r5;
  cvt.u32.u64 %r6, %rd7;
  add.s32 %r1, %r1, %r6;
  shr.u64 %rd8, %rd8, 32;
  cvt.u32.u64 %r6, %rd8;
  add.s32 %r1, %r1, %r6;
)"));
  std::vector<std::uint32_t> in(32);
  for (unsigned i = 0; i < 32; ++i) in[i] = (i * 0x9e3779b9u) ^ 0x80c1f27fu;
  std::vector<std::int8_t> s8(128);
  std::vector<std::int16_t> s16(64);
  std::memcpy(s8.data(), in.data(), 128);
  std::memcpy(s16.data(), in.data(), 128);
  EXPECT_EQ(run_lanes(m, 32, 32, in), each_thread(32, [&](unsigned i) {
              const auto sb = static_cast<std::uint32_t>(s8[i]),
                         ub = static_cast<std::uint32_t>(static_cast<std::uint8_t>(s8[i]));
              const auto sh = static_cast<std::uint32_t>(s16[i]),
                         uh = static_cast<std::uint32_t>(static_cast<std::uint16_t>(s16[i]));
              return sb + ub + sb + (s8[i] < 0 ? 255u : 0u) + ub + (sb & 0xffff) + sh + uh + sh +
                     (in[i] >> 31 ? ~0u : 0u);
            }));
}

TEST_P(Memory, narrow_stores_keep_the_neighbours) {
  Machine m(lane_kernel(R"(
  cvt.u64.u32 %rd9, %r0;
  add.s64 %rd5, %rd2, %rd9;
  and.b32 %r2, %r0, 1;
  setp.eq.u32 %p1, %r2, 0;
  add.u32 %r3, %r0, 512;
  @%p1 st.global.u8 [%rd5], %r3;
  add.s64 %rd5, %rd5, %rd9;
  cvt.u16.u32 %rs1, %r3;
  @!%p1 st.global.u16 [%rd5+128], %rs1;
)"));
  std::vector<std::uint32_t> in(64, 0xffffffffu);
  const auto out = m.upload(std::vector<std::uint32_t>(32)), input = m.upload(in);
  m.run({1}, {32}, out, input);
  const auto bytes = m.download<std::uint8_t>(input, 32);
  const auto halves = m.download<std::uint16_t>(input + 128, 32);
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(bytes[i], i % 2 == 0 ? i : 0xffu) << i;
    EXPECT_EQ(halves[i], i % 2 == 1 ? i + 512 : 0xffffu) << i;
  }
}

TEST_P(Memory, vectors_move_all_their_elements) {
  Machine m(lane_kernel(R"(
  mul.wide.u32 %rd5, %r0, 16;
  add.s64 %rd5, %rd2, %rd5;
  ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd5];
  ld.global.v2.u64 {%rd6, %rd7}, [%rd5];
  ld.global.v2.f32 {%f1, %f2}, [%rd5+8];
  ld.global.v4.u8 {%r10, %r11, %r12, %r13}, [%rd5+4];
  ld.global.v2.u16 {%rs1, _}, [%rd5+12];
  st.global.v4.u32 [%rd5], {%r5, %r4, %r3, 7};
  st.global.v2.u64 [%rd5+1024], {%rd7, %rd6};
  st.global.v2.f32 [%rd5+2048], {%f2, %f1};
  shl.b32 %r11, %r11, 8;
  shl.b32 %r12, %r12, 16;
  shl.b32 %r13, %r13, 24;
  or.b32 %r1, %r10, %r11;
  or.b32 %r1, %r1, %r12;
  or.b32 %r1, %r1, %r13;
  cvt.u32.u16 %r6, %rs1;
  add.u32 %r1, %r1, %r6;
)"));
  std::vector<std::uint32_t> in(1024);
  for (unsigned i = 0; i < 1024; ++i) in[i] = i * 0x01030507u + 11;
  const auto out = m.upload(std::vector<std::uint32_t>(40)), input = m.upload(in);
  m.run({1}, {40}, out, input);
  const auto got = m.download<std::uint32_t>(input, 1024);
  const auto sums = m.download<std::uint32_t>(out, 40);
  for (unsigned i = 0; i < 40; ++i) {
    const std::uint32_t* v = &in[4 * i];
    EXPECT_THAT(std::vector(got.begin() + 4 * i, got.begin() + 4 * i + 4),
                testing::ElementsAre(v[3], v[2], v[1], 7u))
        << i;
    EXPECT_THAT(std::vector(got.begin() + 256 + 4 * i, got.begin() + 260 + 4 * i),
                testing::ElementsAre(v[2], v[3], v[0], v[1]));
    EXPECT_EQ(got[512 + 4 * i], v[3]);
    EXPECT_EQ(got[513 + 4 * i], v[2]);
    EXPECT_EQ(sums[i], v[1] + (v[3] & 0xffff));
  }
}

TEST_P(Memory, uniform_contiguous_and_scattered_addresses_agree_under_every_mask) {
  // Lanes with a bit in the mask read in[stride * i]; then write their value to out[(i * 7) % 32].
  Machine m(R"(
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 mask, .param .u32 stride, .param .u32 step)
{
  .reg .pred %p;
  .reg .b32 %r<16>;
  .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [in];
  ld.param.u32 %r1, [mask];
  ld.param.u32 %r2, [stride];
  ld.param.u32 %r8, [step];
  mov.u32 %r3, %laneid;
  shr.u32 %r4, %r1, %r3;
  and.b32 %r4, %r4, 1;
  setp.eq.u32 %p, %r4, 0;
  @%p exit;
  mul.lo.u32 %r5, %r3, %r2;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd3, %rd2, %rd3;
  ld.global.u32 %r6, [%rd3];
  mul.wide.u32 %rd6, %r5, 8;
  add.s64 %rd6, %rd2, %rd6;
  ld.global.u64 %rd7, [%rd6];
  mul.lo.u32 %r7, %r3, %r8;
  and.b32 %r7, %r7, 31;
  mul.wide.u32 %rd4, %r7, 4;
  add.s64 %rd5, %rd1, %rd4;
  st.global.u32 [%rd5], %r6;
  mul.wide.u32 %rd4, %r7, 8;
  add.s64 %rd5, %rd1, %rd4;
  st.global.u64 [%rd5+128], %rd7;
  ret;
}
)");
  std::vector<std::uint32_t> in(512);
  for (unsigned i = 0; i < 512; ++i) in[i] = 1000 + i;
  const auto input = m.upload(in);
  for (const std::uint32_t mask :
       {~0u, 1u, 0x80000000u, 0x55555555u, 0xaaaaaaaau, 0x00ffff00u, 0x8001u, 0xfffffffeu}) {
    for (const std::uint32_t stride : {0u, 1u, 3u}) {
      for (const std::uint32_t step : {0u, 1u, 7u}) {
        const auto out = m.upload(std::vector<std::uint32_t>(96, 5));
        m.run({1}, {32}, out, input, mask, stride, step);
        std::vector<std::uint32_t> expected(96, 5);
        for (unsigned i = 0; i < 32; ++i) {
          if (!(mask >> i & 1)) continue;
          const unsigned to = i * step & 31;
          expected[to] = in[i * stride];
          expected[32 + 2 * to] = in[2 * i * stride];
          expected[33 + 2 * to] = in[2 * i * stride + 1];
        }
        EXPECT_EQ(m.download<std::uint32_t>(out, 96), expected)
            << std::hex << mask << " " << stride << " " << step;
      }
    }
  }
}

TEST_P(Memory, shared_memory_takes_addresses_of_32_and_64_bits_and_dynamic_arrays_follow_static_ones) {
  Machine m(lane_kernel(R"(
  mov.u32 %r62, %tid.x;
  mul.wide.u32 %rd5, %r62, 4;
  mov.u64 %rd6, fixed;
  add.s64 %rd7, %rd6, %rd5;
  st.shared.u32 [%rd7], %r0;
  mov.u32 %r3, grown;
  mad.lo.u32 %r4, %r62, 4, %r3;
  add.u32 %r5, %r0, 500;
  st.shared.u32 [%r4+0], %r5;
  bar.sync 0;
  xor.b32 %r6, %r62, 1;
  mul.wide.u32 %rd8, %r6, 4;
  add.s64 %rd9, %rd6, %rd8;
  ld.shared.u32 %r7, [%rd9];
  mad.lo.u32 %r4, %r6, 4, %r3;
  ld.shared.u32 %r8, [%r4];
  add.u32 %r1, %r7, %r8;
  mov.u32 %r9, %dynamic_smem_size;
  add.u32 %r1, %r1, %r9;
)",
                        ".extern .shared .align 16 .b8 grown[];\n", "  .shared .align 4 .b32 fixed[64];\n"));
  m.params.dynamic_shared_bytes = 256;
  EXPECT_EQ(run_lanes(m, 64, 64), each_thread(64, [](unsigned i) { return (i ^ 1) + (i ^ 1) + 500 + 256; }));
}

TEST_P(Memory, local_memory_belongs_to_one_thread) {
  Machine m(lane_kernel(R"(
  mov.u64 %rd5, depot;
  cvta.local.u64 %rd6, %rd5;
  st.local.u32 [depot+8], %r0;
  and.b32 %r2, %r0, 7;
  mul.wide.u32 %rd7, %r2, 4;
  add.s64 %rd8, %rd6, %rd7;
  add.u32 %r3, %r0, 7000;
  st.u32 [%rd8+16], %r3;
  ld.u32 %r4, [%rd6+8];
  add.s64 %rd9, %rd5, %rd7;
  ld.local.u32 %r5, [%rd9+16];
  add.u32 %r1, %r4, %r5;
)",
                        {}, "  .local .align 8 .b8 depot[48];\n"));
  EXPECT_EQ(run_lanes(m, 96, 96), each_thread(96, [](unsigned i) { return 2 * i + 7000; }));
}

TEST_P(Memory, generic_addresses_of_several_spaces_work_in_one_instruction) {
  Machine m(lane_kernel(R"(
  mov.u32 %r62, %tid.x;
  mul.wide.u32 %rd5, %r62, 4;
  mov.u64 %rd6, s;
  cvta.shared.u64 %rd6, %rd6;
  add.s64 %rd6, %rd6, %rd5;
  mov.u64 %rd7, depot;
  cvta.local.u64 %rd7, %rd7;
  and.b32 %r2, %r62, 3;
  setp.eq.u32 %p1, %r2, 0;
  setp.eq.u32 %p2, %r2, 1;
  setp.eq.u32 %p3, %r2, 3;
  selp.b64 %rd8, %rd6, %rd4, %p1;
  selp.b64 %rd8, %rd7, %rd8, %p2;
  @%p3 bra END;
  add.u32 %r3, %r0, 10;
  st.u32 [%rd8], %r3;
  ld.u32 %r1, [%rd8];
  ld.shared.u32 %r4, [s];
  isspacep.shared %p4, %rd8;
  @%p4 add.u32 %r1, %r1, 1000;
)",
                        {}, "  .shared .align 4 .b32 s[64];\n  .local .align 4 .b32 depot[4];\n"));
  const std::vector<std::uint32_t> in(64);
  const auto out = m.upload(std::vector<std::uint32_t>(64)), input = m.upload(in);
  m.run({1}, {64}, out, input);
  const auto got = m.download<std::uint32_t>(out, 64), written = m.download<std::uint32_t>(input, 64);
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(got[i], i % 4 == 3 ? 0 : i + 10 + (i % 4 == 0 ? 1000 : 0)) << i;
    EXPECT_EQ(written[i], i % 4 == 2 ? i + 10 : 0) << i;
  }
}

TEST_P(Memory, constants_and_initialised_variables_have_their_values_and_addresses) {
  Machine m(lane_kernel(
      R"(
  and.b32 %r2, %r0, 3;
  mul.wide.u32 %rd5, %r2, 4;
  mov.u64 %rd6, lut;
  add.s64 %rd6, %rd6, %rd5;
  ld.const.u32 %r3, [%rd6];
  ld.const.u32 %r4, [lut+4];
  ld.global.u64 %rd7, [pointer];
  ld.global.u32 %r5, [%rd7];
  add.u32 %r1, %r3, %r4;
  add.u32 %r1, %r1, %r5;
)",
      ".const .align 4 .u32 lut[4] = {10, 20, 30, 40};\n.global .align 4 .u32 numbers[3] = {1, 2, 3};\n"
      ".global .align 8 .u64 pointer = numbers+8;\n"));
  EXPECT_EQ(run_lanes(m, 64, 64), each_thread(64, [](unsigned i) { return 10 * (i % 4 + 1) + 20 + 3; }));
}

TEST_P(Memory, kernel_parameters_may_be_structures_and_be_read_through_generic_addresses) {
  Machine m(R"(
.visible .entry k(.param .u64 out, .param .align 4 .b8 s[16])
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  ld.param.v2.u32 {%r1, %r2}, [s];
  mov.b64 %rd2, s;
  cvta.param.u64 %rd3, %rd2;
  ld.u32 %r3, [%rd3+12];
  add.u32 %r1, %r1, %r2;
  add.u32 %r1, %r1, %r3;
  st.global.u32 [%rd1], %r1;
  ret;
}
)");
  const auto out = m.upload(std::vector<std::uint32_t>(1));
  m.run({1}, {1}, out, std::array<std::uint32_t, 4>{1, 20, 300, 4000});
  EXPECT_EQ(m.download<std::uint32_t>(out, 1)[0], 4021u);
}

TEST_P(Memory, asynchronous_copies_fill_shared_memory_and_zero_what_the_source_lacks) {
  Machine m(lane_kernel(R"(
  mov.u32 %r62, %tid.x;
  mul.wide.u32 %rd5, %r62, 16;
  add.s64 %rd6, %rd2, %rd5;
  mov.u32 %r3, s;
  mad.lo.u32 %r4, %r62, 16, %r3;
  cp.async.cg.shared.global [%r4], [%rd6+16], 16;
  mov.u32 %r5, 2;
  cp.async.ca.shared.global [%r4+1024], [%rd6], 4, %r5;
  cp.async.commit_group;
  cp.async.wait_group 0;
  bar.sync 0;
  ld.shared.u32 %r6, [%r4+12];
  ld.shared.u32 %r7, [%r4+1024];
  mad.lo.u32 %r1, %r7, 1000, %r6;
)",
                        {}, "  .shared .align 16 .b8 s[2048];\n"));
  std::vector<std::uint32_t> in(33 * 4);
  for (unsigned i = 0; i < in.size(); ++i) in[i] = i | 0x50000;
  EXPECT_EQ(run_lanes(m, 32, 32, in),
            each_thread(32, [](unsigned i) { return 4 * i * 1000 + ((4 * i + 7) | 0x50000); }));
}

TEST_P(Memory, prefetches_do_not_fault) {
  Machine m(lane_kernel(
      "  prefetch.global.L2 [%rd4];\n  mov.u64 %rd5, 64;\n  prefetch.L1 [%rd5];\n  mov.u32 %r1, 1;\n"));
  EXPECT_EQ(run_lanes(m, 32, 32)[31], 1u);
}

// Faults: what a user reads.

std::string fault_of(const std::string& body, const std::string& before = {},
                     const std::string& locals = {}) {
  Machine m(lane_kernel(body, before, locals));
  return error_of([&] { run_lanes(m, 64, 64); });
}

TEST_P(Memory, an_access_behind_an_allocation_names_kernel_line_thread_address_and_allocation) {
  Machine m(
      ".file 1 \"vector.cu\"\n" +
      lane_kernel(
          "  setp.lt.u32 %p1, %r0, 40;\n  @%p1 bra END;\n  .loc 1 77 3\n  ld.global.u32 %r1, [%rd4+104];\n"));
  EXPECT_EQ(error_of([&] { run_lanes(m, 64, 64); }),
            "[illegal-address] test.ptx:28:3: Invalid global read of 4 bytes at address 0x200000000308 by "
            "thread (40,0,0) in block (0,0,0) of kernel k "
            "(test.ptx:28, source vector.cu:77): the nearest allocation is in of 256 bytes at 0x200000000200 "
            "(8 bytes after the end)");
}

TEST_P(Memory, faults_name_the_kind_of_access) {
  EXPECT_THAT(fault_of("  mov.u64 %rd5, 0;\n  ld.global.u32 %r1, [%rd5+16];\n"),
              HasSubstr("Invalid global read of 4 bytes at address 0x10 by thread (0,0,0)"));
  EXPECT_THAT(fault_of("  mov.u64 %rd5, 0;\n  ld.u32 %r1, [%rd5];\n"),
              HasSubstr("Invalid global read of 4 bytes at address 0x0 "));
  EXPECT_THAT(fault_of("  st.global.v4.u32 [%rd3+4096], {%r0, %r0, %r0, %r0};\n"),
              HasSubstr("Invalid global write of 16 bytes"));
  EXPECT_THAT(fault_of("  atom.global.add.u32 %r1, [%rd3+4096], 1;\n"),
              HasSubstr("Invalid global atomic of 4 bytes"));
  EXPECT_THAT(fault_of("  ld.global.u32 %r1, [%rd4+1];\n"), HasSubstr("[misaligned-address] test.ptx:"));
  EXPECT_THAT(fault_of("  ld.global.v2.u32 {%r1, %r2}, [%rd4];\n"),
              HasSubstr("Misaligned global read of 8 bytes"));
  EXPECT_THAT(
      fault_of("  mov.u32 %r2, 252;\n  add.u32 %r2, %r2, %r0;\n  ld.shared.u8 %r1, [%r2];\n", {},
               "  .shared .b32 s[64];\n  ld.shared.u32 %r1, [s];\n"),
      HasSubstr(
          "Invalid shared read of 1 bytes at address 0x100 by thread (4,0,0) in block (0,0,0) of kernel k"));
  EXPECT_THAT(
      fault_of("  mov.u64 %rd5, d;\n  st.local.u32 [%rd5+16], %r0;\n", {}, "  .local .align 4 .b8 d[16];\n"),
      HasSubstr("Invalid local write of 4 bytes at address 0x10 by thread (0,0,0) in block (0,0,0)"));
  EXPECT_THAT(fault_of("  mov.u64 %rd5, c;\n  cvta.const.u64 %rd5, %rd5;\n  st.u32 [%rd5], %r0;\n",
                       ".const .align 4 .u32 c = 1;\n"),
              HasSubstr("constant 'c' is read-only"));
}

TEST_P(Memory, accesses_in_several_allocations_at_once_are_fine_and_the_gap_between_them_is_not) {
  Machine m(R"(
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out, .param .u32 beyond)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [out];
  ld.param.u32 %r4, [beyond];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 1;
  setp.eq.u32 %p, %r2, 0;
  selp.b64 %rd4, %rd1, %rd2, %p;
  add.u32 %r1, %r1, %r4;
  mul.wide.u32 %rd5, %r1, 4;
  add.s64 %rd4, %rd4, %rd5;
  ld.global.u32 %r3, [%rd4];
  add.s64 %rd3, %rd3, %rd5;
  st.global.u32 [%rd3], %r3;
  ret;
}
)");
  const auto a = m.upload(std::vector<std::uint32_t>(64, 1)), b = m.upload(std::vector<std::uint32_t>(64, 2)),
             out = m.upload(std::vector<std::uint32_t>(64));
  m.run({1}, {64}, a, b, out, 0u);
  EXPECT_EQ(m.download<std::uint32_t>(out, 64), each_thread(64, [](unsigned i) { return i % 2 ? 2 : 1; }));
  EXPECT_THAT(error_of([&] { m.run({1}, {64}, a, b, out, 1u); }), HasSubstr("by thread (63,0,0)"));
}

TEST_P(Memory, freed_memory_is_no_longer_accessible) {
  Machine m(lane_kernel("  ld.global.u32 %r1, [%rd4];\n"));
  const auto out = m.upload(std::vector<std::uint32_t>(32)), in = m.upload(std::vector<std::uint32_t>(32));
  m.run({1}, {32}, out, in);
  m.memory.release(in);
  EXPECT_THAT(error_of([&] { m.run({1}, {32}, out, in); }), HasSubstr("Invalid global read of 4 bytes"));
}

}  // namespace
}  // namespace simtlab::exec
