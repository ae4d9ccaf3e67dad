// Whole modules: what compilers write goes through, with the resources one expects.
#include <gtest/gtest.h>

#include "helpers.h"

namespace simtlab::ptx {
namespace {

using namespace test;

TEST(Load, TextOfBothCompilersDecodes) {
  for (const char* name : {"basic_clang.ptx", "basic_nvcc.ptx"}) {
    const auto module = load_module(name, read_file(name));
    ASSERT_EQ(module->functions.size(), 3u) << name;
    const Function* saxpy = module->find_function("saxpy");
    ASSERT_NE(saxpy, nullptr) << name;
    EXPECT_TRUE(saxpy->is_entry);
    EXPECT_EQ(saxpy->param_bytes, 24u);
    EXPECT_EQ(module->find_function("matmul")->shared_bytes, 2048u) << name;
    EXPECT_EQ(module->find_function("reduce")->shared_bytes, 128u) << name;
    EXPECT_EQ(module->find_function("reduce")->barriers, 1u) << name;
    EXPECT_EQ(module->find_function("nothing"), nullptr);
  }
}

TEST(Load, EveryCodeEndsInReturnAndBranchesStayInside) {
  for (const char* name : {"basic_clang.ptx", "basic_nvcc.ptx", "compiler_forms.ptx", "table_forms.ptx"}) {
    const auto module = load_module(name, read_file(name));
    for (const Function& f : module->functions) {
      ASSERT_FALSE(f.code.empty());
      EXPECT_TRUE(f.code.back().op == Op::ret || f.code.back().op == Op::exit) << name << " " << f.name;
      for (const Inst& i : f.code)
        if (i.op == Op::bra) { EXPECT_LT(i.target, f.code.size()) << name << " " << f.name; }
    }
  }
}

TEST(Load, SameTextGivesSameCode) {
  const std::string text = read_file("basic_nvcc.ptx");
  const auto a = load(text), b = load(text);
  for (std::size_t f = 0; f < a->functions.size(); ++f) {
    ASSERT_EQ(a->functions[f].code.size(), b->functions[f].code.size());
    for (std::size_t i = 0; i < a->functions[f].code.size(); ++i) {
      EXPECT_EQ(a->functions[f].code[i].dst, b->functions[f].code[i].dst);
      EXPECT_EQ(a->functions[f].code[i].src, b->functions[f].code[i].src);
    }
  }
}

TEST(Load, ParametersAreLaidOutByTheirAlignment) {
  const auto k = load_kernel("ret;",
                             ".param .u8 a, .param .u64 .ptr .global .align 16 b, .param .align 8 .b8 c[12], "
                             ".param .u16 d, .param .f32 e");
  ASSERT_EQ(k.fn.params.size(), 5u);
  EXPECT_EQ(k.fn.params[0].offset, 0u);
  EXPECT_EQ(k.fn.params[1].offset, 8u);
  EXPECT_TRUE(k.fn.params[1].is_pointer);
  EXPECT_EQ(k.fn.params[1].pointee, Space::global);
  EXPECT_EQ(k.fn.params[1].pointee_align, 16u);
  EXPECT_EQ(k.fn.params[2].offset, 16u);
  EXPECT_EQ(k.fn.params[2].bytes, 12u);
  EXPECT_EQ(k.fn.params[3].offset, 28u);
  EXPECT_EQ(k.fn.params[4].offset, 32u);
  EXPECT_EQ(k.fn.param_bytes, 36u);
}

TEST(Load, LaunchBoundsAreKept) {
  const auto m =
      load(head + ".entry k() .maxntid 128, 2 .minnctapersm 3 .maxnreg 40 .reqntid 64,2,1 { ret; }");
  const Function& f = m->functions[0];
  EXPECT_EQ(f.max_ntid[0], 128u);
  EXPECT_EQ(f.max_ntid[1], 2u);
  EXPECT_EQ(f.max_ntid[2], 1u);
  EXPECT_EQ(f.req_ntid[0], 64u);
  EXPECT_EQ(f.min_nctapersm, 3u);
  EXPECT_EQ(f.max_nreg, 40u);
}

TEST(Load, SourceLinesComeFromLoc) {
  const auto m = load(head +
                      ".file 1 \"a.cu\"\n.file 2 \"b.h\", 123, 456\n.entry k() {\n.loc 1 17 3\nbar.sync 0;\n"
                      ".loc 2 5 1, function_name $L_info, inlined_at 1 18 2\nbar.sync 0;\nret; }\n"
                      ".section .debug_str {\n$L_info:\n.b8 1,2\n}\n");
  EXPECT_EQ(m->files.at(1), "a.cu");
  EXPECT_EQ(m->functions[0].code[0].file, 1u);
  EXPECT_EQ(m->functions[0].code[0].source_line, 17u);
  EXPECT_EQ(m->functions[0].code[1].file, 2u);
  EXPECT_EQ(m->functions[0].code[1].source_line, 5u);
  EXPECT_EQ(m->functions[0].code[1].line, 10u);
}

TEST(Load, LinesOfTheCompilersHeadersAreThoseOfTheCaller) {
  const auto m = load(
      head +
      ".file 1 \"a.cu\"\n.file 2 \"/usr/lib/clang/19/include/__clang_cuda_builtin_vars.h\"\n.file 3 \"b.h\"\n"
      ".entry k() {\n.loc 2 66 3\nbar.sync 0;\n.loc 1 17 3\nbar.sync 0;\n.loc 2 66 3\nbar.sync 0;\n.loc 3 4 "
      "1\nbar.sync 0;\n"
      ".loc 2 341 9\nbar.sync 0;\n.loc 1 0 9\nbar.sync 0;\nret; }\n");
  const auto& code = m->functions[0].code;
  const std::pair<std::uint32_t, std::uint32_t> expected[] = {{1, 17}, {1, 17}, {1, 17},
                                                              {3, 4},  {3, 4},  {3, 4}};
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(std::pair(code[i].file, code[i].source_line), expected[i]) << i;
}

TEST(Load, AnyVersionIsAccepted) {
  for (const char* version : {"1.4", "3.2", "8.5", "9.0", "12.34"}) {
    const auto m = load(std::string(".version ") + version + "\n.target sm_999\n.entry k() { ret; }");
    EXPECT_EQ(m->version, version);
    EXPECT_EQ(m->target, "sm_999");
  }
}

TEST(Load, ScopesShadowAndLabelsAreLocal) {
  const auto k = load_kernel(R"(
    mov.u32 %r1, 1;
    { .reg .b32 %r1; mov.u32 %r1, 2; bra L; L: st.global.u32 [%rd1], %r1; }
    { bra L; L: st.global.u32 [%rd1], %r1; }
    ret;)");
  ASSERT_EQ(k.fn.code.size(), 7u);
  EXPECT_EQ(k[2].target, 3u);
  EXPECT_EQ(k[4].target, 5u);
  EXPECT_EQ(k[3].src[1], k[1].dst[0]);
  EXPECT_EQ(k[5].src[1], k[0].dst[0]);
  EXPECT_NE(k[0].dst[0], k[1].dst[0]);
}

TEST(Load, InitialisersBecomeBytes) {
  const auto m = load(head + R"(
    .global .align 4 .u32 a[2][2] = {{1, 2}, {0x10}};
    .const .f32 f[3] = {0f3F800000, 2.5, 3};
    .global .f64 d = 1.5;
    .global .u8 s[] = {65, 66, 0};
    .global .u64 p[2] = {generic(a)+8, fn};
    .global .b8 bytes[8] = {0xFF(a+4), 0xFF00(a+4), 0xFF0000(a+4), 0xFF000000(a+4), 0xFF00000000(a+4), 0xFF0000000000(a+4), 0xFF000000000000(a+4), 0xFF00000000000000(a+4)};
    .func fn() { ret; }
  )");
  auto u32 = [](const Variable& v, std::size_t i) {
    std::uint32_t x;
    std::memcpy(&x, v.initial.data() + 4 * i, 4);
    return x;
  };
  const Variable& a = *m->find_variable("a");
  EXPECT_EQ(a.bytes, 16u);
  EXPECT_EQ(u32(a, 0), 1u);
  EXPECT_EQ(u32(a, 2), 0x10u);
  const Variable& f = *m->find_variable("f");
  EXPECT_EQ(f.space, Space::constant);
  EXPECT_EQ(u32(f, 1), 0x40200000u);
  EXPECT_EQ(u32(f, 2), 0x40400000u);
  EXPECT_EQ(m->find_variable("s")->bytes, 3u);
  const Variable& p = *m->find_variable("p");
  ASSERT_EQ(p.relocs.size(), 2u);
  EXPECT_TRUE(p.relocs[0].generic);
  EXPECT_EQ(p.relocs[0].addend, 8);
  EXPECT_EQ(p.relocs[1].offset, 8u);
  EXPECT_TRUE(p.relocs[1].is_function);
  const Variable& bytes = *m->find_variable("bytes");
  ASSERT_EQ(bytes.relocs.size(), 1u) << "eight masked bytes of an address are one relocation";
  EXPECT_EQ(bytes.relocs[0].bytes, 8u);
  EXPECT_EQ(bytes.relocs[0].addend, 4);
}

TEST(Load, ConstantExpressionsFollowC) {
  const auto k = load_kernel(
      "mov.u32 %r1, (3 + 4 * 2) << 1; mov.u32 %r2, WARP_SZ - 1; mov.s32 %r3, -7 / 2; mov.u32 %r4, 0b101 | "
      "017; mov.u32 %r5, 5 > 3 ? ~0 : 1; mov.u32 %r6, 10U; ret;");
  const std::uint32_t expected[] = {22, 31, static_cast<std::uint32_t>(-3), 15, 0xffffffffu, 10};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(k.constant(k[i].src[0]), expected[i]) << i;
}

}  // namespace
}  // namespace simtlab::ptx
