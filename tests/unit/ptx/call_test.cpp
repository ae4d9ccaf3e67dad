// Calls, frames, shared memory and recursion: what concerns several functions.
#include <gtest/gtest.h>

#include "helpers.h"

namespace simtlab::ptx {
namespace {

using namespace test;

const std::string square = R"(
.func (.param .b32 r) square(.param .b32 x, .param .align 8 .b8 s[16]) {
  .reg .f32 %f<4>; .reg .b64 %rd<3>;
  ld.param.f32 %f1, [x];
  ld.param.b64 %rd1, [s+8];
  mul.f32 %f2, %f1, %f1;
  st.param.f32 [r], %f2;
  ret;
}
)";

std::size_t find_op(const Function& f, Op op, std::size_t from = 0) {
  for (std::size_t i = from; i < f.code.size(); ++i)
    if (f.code[i].op == op) return i;
  return f.code.size();
}

TEST(Calls, ArgumentsAreCopiedBetweenFrames) {
  const auto m = load(head + square + ".entry k() {\n" + registers + R"(
    { .param .b32 a; .param .align 8 .b8 b[16]; .param .b32 out;
      st.param.f32 [a], %f1; st.param.b64 [b+8], %rd1;
      call.uni (out), square, (a, b);
      ld.param.f32 %f2, [out]; }
    ret; })");
  const Function& callee = *m->find_function("square");
  EXPECT_EQ(callee.returns[0].offset, 0u);
  EXPECT_EQ(callee.params[0].offset, 4u);
  EXPECT_EQ(callee.params[1].offset, 8u);
  EXPECT_EQ(callee.code[0].mods.space, Space::local);
  EXPECT_TRUE(callee.code[0].frame_relative);
  const Function& k = *m->find_function("k");
  const std::size_t call = find_op(k, Op::call);
  ASSERT_LT(call, k.code.size());
  const CallSite& site = k.call_sites.at(k.code[call].target);
  EXPECT_TRUE(k.code[call].mods.uni);
  EXPECT_EQ(m->functions[site.function].name, "square");
  ASSERT_EQ(site.args.size(), 2u);
  EXPECT_EQ(site.args[1].caller_offset, 8u);
  EXPECT_EQ(site.args[1].callee_offset, 8u);
  EXPECT_EQ(site.args[1].bytes, 16u);
  EXPECT_EQ(site.returns[0].caller_offset, 24u);
  EXPECT_EQ(site.returns[0].callee_offset, 0u);
  EXPECT_EQ(k.max_call_depth, 1u);
  EXPECT_EQ(k.total_reg_rows, k.reg_rows + callee.reg_rows);
  EXPECT_EQ(k.total_frame_bytes, k.frame_bytes + callee.frame_bytes);
  EXPECT_EQ(k.frame_bytes % 16, 0u);
}

TEST(Calls, RegisterFormalsArriveThroughTheFrame) {
  const auto m = load(head + R"(
.func (.reg .u32 %out) inc(.reg .u32 %in) { add.u32 %out, %in, 1; ret; }
.entry k() { .reg .u32 %a, %b; call (%b), inc, (%a); call (%b), inc, (41); ret; })");
  const Function& inc = *m->find_function("inc");
  ASSERT_EQ(inc.code.size(), 4u);
  EXPECT_EQ(inc.code[0].op, Op::ld);
  EXPECT_EQ(inc.code[2].op, Op::st);
  const Function& k = *m->find_function("k");
  EXPECT_EQ(k.call_sites[0].args[0].reg.kind, OperandKind::reg);
  EXPECT_EQ(k.call_sites[1].args[0].reg.kind, OperandKind::imm);
  EXPECT_EQ(k.call_sites[1].returns[0].reg.kind, OperandKind::reg);
}

TEST(Calls, IndirectCallsHaveTheCandidatesOfTheirPrototype) {
  const auto m = load(head + R"(
.func (.param .b32 r) f(.param .b32 x) { ret; }
.func (.param .b32 r) g(.param .b32 x) { ret; }
.func (.param .b32 r) not_taken(.param .b32 x) { ret; }
.func other(.param .b64 x) { ret; }
.global .u64 table[3] = {f, other, 0};
.entry k() {
  .reg .b64 %rd<3>;
  mov.u64 %rd1, g;
  { .param .b32 a; .param .b32 o;
    prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _);
    call (o), %rd1, (a), prototype_0; }
  { .param .b32 a; .param .b32 o;
    targets: .calltargets not_taken, f;
    call (o), %rd1, (a), targets; }
  ret; })");
  const Function& k = *m->find_function("k");
  auto name = [&](std::uint32_t i) { return m->functions[i].name; };
  ASSERT_EQ(k.call_sites.size(), 2u);
  ASSERT_EQ(k.call_sites[0].candidates.size(), 2u);
  EXPECT_EQ(name(k.call_sites[0].candidates[0]), "f");
  EXPECT_EQ(name(k.call_sites[0].candidates[1]), "g");
  ASSERT_EQ(k.call_sites[1].candidates.size(), 2u);
  EXPECT_EQ(name(k.call_sites[1].candidates[1]), "not_taken");
  const Constant& handle = k.constants[k.code[0].src[0].index];
  EXPECT_EQ(handle.kind, Constant::Kind::function);
  EXPECT_EQ(name(handle.symbol), "g");
}

TEST(Calls, AliasesNameTheFunction) {
  const auto m = load(
      head + ".func real() { ret; }\n.alias other, real;\n.func other();\n.entry k() { call other; ret; }");
  EXPECT_EQ(m->functions[m->find_function("k")->call_sites[0].function].name, "real");
}

TEST(Calls, PrintfAndAssertBecomeInstructions) {
  const auto m = load(head + R"(
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 b);
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e) .noreturn;
.entry k() {)" + registers +
                      R"(
  { .param .b64 p0; .param .b64 p1; .param .b32 out;
    st.param.b64 [p0], %rd1; st.param.b64 [p1], %rd2;
    call.uni (out), vprintf, (p0, p1);
    ld.param.b32 %r1, [out]; }
  { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
    call.uni __assertfail, (a, b, c, d, e); }
  ret; })");
  const Function& f = m->functions[0];
  const std::size_t print = find_op(f, Op::vprintf);
  ASSERT_LT(print, f.code.size());
  EXPECT_EQ(f.code[print].src_count, 2);
  EXPECT_EQ(f.code[print].dst_count, 1);
  EXPECT_EQ(f.code[print - 1].op, Op::ld);
  EXPECT_EQ(f.code[print + 1].op, Op::st);
  const std::size_t fail = find_op(f, Op::assertfail);
  ASSERT_LT(fail, f.code.size());
  EXPECT_EQ(f.code[fail].src_count, 5);
  EXPECT_EQ(f.code[fail].src[2].bytes, 4);
}

TEST(Calls, RecursionIsRefusedWithItsCycle) {
  const auto f = failure(head +
                         ".func a();\n.func c() { call a; ret; }\n.func b() { call c; ret; }\n.func a() { "
                         "call b; ret; }\n.entry k() { call a; ret; }");
  EXPECT_EQ(f.code, ExitCode::unsupported);
  EXPECT_NE(f.message.find("recursion"), std::string::npos);
  EXPECT_NE(f.message.find("a -> b -> c -> a"), std::string::npos) << f.message;
  const auto self = failure(head + ".func a() { call a; ret; }\n.entry k() { ret; }");
  EXPECT_NE(self.message.find("a -> a"), std::string::npos) << self.message;
}

TEST(Calls, ACycleThroughPointersHasRoomForSomeTurns) {
  const std::string text = head + R"(
.visible .func (.param .b32 r) leaf(.param .b64 n);
.visible .func (.param .b32 r) node(.param .b64 n);
.global .u64 table[2] = {leaf, node};
.visible .func (.param .b32 r) leaf(.param .b64 n) { .reg .b32 %r; mov.u32 %r, 1; st.param.b32 [r], %r; ret; }
.visible .func (.param .b32 r) node(.param .b64 n) {
  .reg .b32 %r; .reg .b64 %d;
  ld.param.b64 %d, [n];
  { .param .b64 a; .param .b32 v; st.param.b64 [a], %d;
    proto: .callprototype (.param .b32 _) _ (.param .b64 _);
    call (v), %d, (a), proto; ld.param.b32 %r, [v]; }
  st.param.b32 [r], %r; ret; }
.entry k() { .reg .b64 %d; mov.u64 %d, 0; { .param .b64 a; .param .b32 v; st.param.b64 [a], %d; call (v), node, (a); } ret; })";
  const auto m = load(text);
  EXPECT_GE(m->find_function("k")->max_call_depth, 5u);
  EXPECT_LE(m->find_function("k")->max_call_depth, 60u);
}

TEST(Calls, UndefinedFunctionsAreListedByName) {
  const auto f = failure(head +
                         ".extern .func (.param .b32 r) __nv_sinf(.param .b32 x);\n.extern .func (.param "
                         ".b64 r) cudaMalloc(.param .b64 n);\n.entry k() {\n"
                         "{ .param .b32 a; .param .b32 b;\ncall (b), __nv_sinf, (a); }\n{ .param .b64 a; "
                         ".param .b64 b;\ncall (b), cudaMalloc, (a); }\nret; }");
  EXPECT_EQ(f.code, ExitCode::unsupported);
  EXPECT_EQ(f.count, 2u);
  EXPECT_NE(f.message.find("__nv_sinf"), std::string::npos);
  EXPECT_NE(f.hint.find("mathematics"), std::string::npos);
  EXPECT_EQ(f.line, 8u);
}

TEST(Shared, KernelsCountWhatTheyReach) {
  const auto m = load(head + R"(
.shared .align 4 .b8 a[100];
.shared .align 16 .b8 b[32];
.shared .b8 unused[4096];
.func f() { .reg .b32 %r; mov.u32 %r, b; ret; }
.entry only_a() { .reg .b32 %r; mov.u32 %r, a; ret; }
.entry both() { .reg .b32 %r; .shared .f64 own; mov.u32 %r, a; mov.u32 %r, own; call f; ret; }
.entry through_call() { call f; ret; }
.entry nothing() { ret; })");
  EXPECT_EQ(m->find_function("only_a")->shared_bytes, 100u);
  EXPECT_EQ(m->find_function("nothing")->shared_bytes, 0u);
  EXPECT_EQ(m->find_function("both")->shared_bytes, 152u);
  EXPECT_EQ(m->find_function("through_call")->shared_bytes, 144u)
      << "b has one place in all kernels, behind a";
  EXPECT_EQ(m->find_variable("b")->shared_offset, 112u);
  EXPECT_EQ(m->find_variable("both.own")->shared_offset, 144u);
}

TEST(Shared, DynamicMemoryBeginsBehindTheStatic) {
  const auto m = load(head + R"(
.extern .shared .align 16 .b8 dyn[];
.shared .align 4 .b8 st[20];
.entry with_static() { .reg .b32 %r<3>; mov.u32 %r1, st; mov.u32 %r2, dyn; ld.shared.u32 %r1, [dyn+4]; ret; }
.entry without() { .reg .b32 %r<3>; mov.u32 %r2, dyn; ret; })");
  const Function& a = *m->find_function("with_static");
  EXPECT_EQ(a.shared_bytes, 32u);
  EXPECT_EQ(a.constants[a.code[1].src[0].index].value, 32u);
  EXPECT_EQ(a.constants[a.code[2].src[0].index].value + static_cast<std::uint64_t>(a.code[2].imm_offset),
            36u);
  const Function& b = *m->find_function("without");
  EXPECT_EQ(b.shared_bytes, 0u);
  EXPECT_EQ(b.constants[b.code[0].src[0].index].value, 0u);
}

TEST(Shared, KernelsThatShareAFunctionAgreeOnDynamicMemory) {
  const auto m = load(head + R"(
.extern .shared .align 8 .b8 dyn[];
.shared .b8 st[100];
.func f() { .reg .b32 %r; mov.u32 %r, dyn; ret; }
.entry a() { .reg .b32 %r; mov.u32 %r, st; call f; ret; }
.entry b() { call f; ret; })");
  EXPECT_EQ(m->find_function("a")->shared_bytes, 104u);
  EXPECT_EQ(m->find_function("b")->shared_bytes, 104u);
  const Function& f = *m->find_function("f");
  EXPECT_EQ(f.constants[f.code[0].src[0].index].value, 104u);
}

}  // namespace
}  // namespace simtlab::ptx
