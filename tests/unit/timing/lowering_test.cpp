// Machine instructions: exact counts by generation, what they cost, and that nothing but the cost changes.
#include "timing/lowering.h"

#include <gtest/gtest.h>

#include <string>

#include "simulator.h"

namespace simtlab::timing {
namespace {

const char* head =
    ".visible .entry k(.param .u64 p, .param .u32 n) { .reg .b32 %r<40>; .reg .b64 %d<40>; .reg .f32 %f<40>; "
    ".reg .f64 %e<10>; .reg .pred %p<8>;\n";

// Of the body alone, its ret and what loads its operands left out.
unsigned machine(const char* gpu, const std::string& body, bool on = true) {
  const std::string loads =
      "ld.global.b32 %r1, [4096]; ld.global.b32 %r2, [4100]; ld.global.b64 %d1, [4104]; ld.global.b64 %d2, "
      "[4112]; ld.global.f32 %f1, [4120];"
      "ld.global.f32 %f2, [4124]; ld.global.f64 %e1, [4128]; ld.global.f64 %e2, [4136];\n";
  const auto module =
      ptx::load_module("test.ptx", std::string(".version 8.0\n.target sm_70\n.address_size 64\n") + head +
                                       loads + body + "\nret; }\n");
  const device::Device device = device_of(gpu);
  const Lowering lowering(device, on);
  unsigned count = 0;
  for (const ptx::Inst& inst : module->functions[0].code) count += lowering(inst).count;
  return count - 9;
}

TEST(Lowering, SaxpyIsTwelveInstructionsOnVolta) {
  const std::string body =
      "ld.param.u32 %r3, [n]; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x; mad.lo.s32 "
      "%r7, %r4, %r5, %r6;"
      "setp.ge.s32 %p1, %r7, %r3; @%p1 bra END; ld.param.u64 %d3, [p]; cvta.to.global.u64 %d4, %d3; "
      "mul.wide.s32 %d5, %r7, 4; add.s64 %d6, %d4, %d5;"
      "ld.global.f32 %f3, [%d6]; ld.global.f32 %f4, [%d6+4]; fma.rn.f32 %f5, %f3, %f1, %f4; st.global.f32 "
      "[%d6], %f5; END:";
  EXPECT_EQ(machine("v100", body), 10u);    // S2R, S2R, IMAD, ISETP, BRA, IMAD.WIDE, LDG, LDG, FFMA, STG
  EXPECT_EQ(machine("gtx480", body), 11u);  // the address in two halves
  // 16-bit multipliers: three for IMAD; shift, add, add with carry for the address
  EXPECT_EQ(machine("titanx-maxwell", body), 14u);
  EXPECT_EQ(machine("v100", body, false), 15u);
}

struct Count {
  const char* body;
  unsigned volta, maxwell, kepler, fermi;
};
// Results are stored, so that all of them is looked at.
constexpr Count counts[] = {
    {"add.s64 %d3, %d1, %d2; st.global.b64 [%d1], %d3;", 2, 2, 2, 2},
    {"add.s32 %r3, %r1, %r2; st.global.b32 [%d1], %r3;", 1, 1, 1, 1},
    {"mul.lo.s32 %r3, %r1, %r2; st.global.b32 [%d1], %r3;", 1, 3, 1, 1},
    {"mul.wide.s32 %d3, %r1, %r2; st.global.b64 [%d1], %d3;", 1, 5, 2, 2},
    {"mul.lo.s64 %d3, %d1, %d2; st.global.b64 [%d1], %d3;", 4, 10, 4, 4},
    {"mul.wide.s32 %d3, %r1, %r2; add.s64 %d4, %d3, %d1; st.global.b64 [%d1], %d4;", 1, 3, 2, 2},
    {"mul.wide.s32 %d3, %r1, 8; st.global.b64 [%d1], %d3;", 1, 2, 2, 2},
    {"mul.lo.s32 %r3, %r1, 8; st.global.b32 [%d1], %r3;", 1, 1, 1, 1},
    {"mad.lo.s32 %r3, 8, %r1, %r2; st.global.b32 [%d1], %r3;", 1, 1, 1, 1},
    {"mov.u32 %r4, 8; mul.lo.s32 %r3, %r1, %r4; add.s32 %r5, %r3, %r2; st.global.b32 [%d1], %r5;", 1, 1, 1,
     1},
    {"mul.lo.s32 %r3, %r1, 9; st.global.b32 [%d1], %r3;", 1, 3, 1, 1},
    {"mul.lo.s32 %r3, %r1, -2147483648; st.global.b32 [%d1], %r3;", 1, 3, 1, 1},
    {"mul.lo.s64 %d3, %d1, 8; st.global.b64 [%d1], %d3;", 2, 2, 2, 2},
    {"mad.wide.s32 %d3, %r1, 8, %d1; st.global.b64 [%d1], %d3;", 1, 3, 4, 4},
    {"shl.b32 %r3, %r1, 2; add.s32 %r4, %r3, %r2; st.global.b32 [%d1], %r4;", 1, 1, 1, 1},
    {"shl.b64 %d3, %d1, 2; add.s64 %d4, %d3, %d2; st.global.b64 [%d1], %d4;", 2, 2, 4, 4},
    {"add.s32 %r3, %r1, %r2; add.s32 %r4, %r3, %r1; st.global.b32 [%d1], %r4;", 1, 1, 2, 2},
    {"and.b32 %r3, %r1, %r2; or.b32 %r4, %r3, %r1; st.global.b32 [%d1], %r4;", 1, 1, 2, 2},
    {"mul.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f1; st.global.f32 [%d1], %f4;", 1, 1, 1, 1},
    {"neg.f32 %f3, %f1; add.f32 %f4, %f3, %f2; st.global.f32 [%d1], %f4;", 1, 1, 1, 1},
    {"setp.lt.s64 %p1, %d1, %d2; selp.b32 %r3, %r1, %r2, %p1; st.global.b32 [%d1], %r3;", 3, 3, 3, 3},
    {"setp.lt.s32 %p1, %r1, %r2; setp.lt.s32 %p2, %r2, 7; and.pred %p3, %p1, %p2; selp.b32 %r3, %r1, %r2, "
     "%p3; st.global.b32 [%d1], %r3;",
     3, 3, 3, 3},
    {"bfe.u32 %r3, %r1, 3, 5; st.global.b32 [%d1], %r3;", 2, 1, 1, 1},
    {"popc.b64 %r3, %d1; st.global.b32 [%d1], %r3;", 3, 3, 3, 3},
    {"rsqrt.approx.f32 %f3, %f1; st.global.f32 [%d1], %f3;", 4, 4, 4, 4},
    {"rsqrt.approx.ftz.f32 %f3, %f1; st.global.f32 [%d1], %f3;", 1, 1, 1, 1},
    {"cvt.s64.s32 %d3, %r1; st.global.b64 [%d1], %d3;", 1, 1, 1, 1},
};

TEST(Lowering, CountsByGeneration) {
  for (const Count& c : counts) {
    EXPECT_EQ(machine("v100", c.body), c.volta + 1) << c.body;
    EXPECT_EQ(machine("titanx-maxwell", c.body), c.maxwell + 1) << c.body;
    EXPECT_EQ(machine("k40", c.body), c.kepler + 1) << c.body;
    EXPECT_EQ(machine("gtx480", c.body), c.fermi + 1) << c.body;
  }
}

// A routine becomes as many instructions of its pipeline as the rate of the file says.
TEST(Lowering, DivisionTakesTheSlotsOfItsInstructions) {
  device::Device device = device_of("v100");
  EXPECT_EQ(machine("v100", "div.rn.f64 %e3, %e1, %e2; st.global.f64 [%d1], %e3;"), 8u + 1);  // 32 / 4.26
  device.throughput[static_cast<std::size_t>(ptx::OpClass::fp32_div)] =
      device.throughput[static_cast<std::size_t>(ptx::OpClass::fp32)] / 10;
  const auto module = ptx::load_module(
      "test.ptx",
      std::string(".version 8.0\n.target sm_70\n.address_size 64\n") + head +
          "ld.global.f32 %f1, [4096]; div.rn.f32 %f2, %f1, %f1; st.global.f32 [4096], %f2; ret; }\n");
  EXPECT_EQ(Lowering(device, true)(module->functions[0].code[1]).count, 10u);
}

std::string loop(const char* work) {
  return std::string(head) +
         "ld.param.u32 %r9, [n]; ld.param.u64 %d9, [p]; mov.u32 %r1, %tid.x; mov.f32 %f1, 0f3F800000; "
         "mov.f32 %f2, 0f3F800000;\nL:\n" +
         work +
         "\nsub.u32 %r9, %r9, 1; setp.ne.u32 %p1, %r9, 0; @%p1 bra L; mul.wide.u32 %d8, %r1, 4; add.s64 %d9, "
         "%d9, %d8; st.global.f32 [%d9], %f1; ret; }\n";
}

result::KernelResult run(const std::string& text, bool lowering, const char* gpu = "v100") {
  Options options;
  options.lowering = lowering;
  Simulator s(device_of(gpu), text, options);
  return s.run("k", {4, 1, 1}, {128, 1, 1}, s.allocate(1024), 100u);
}

TEST(Lowering, OffIsOneMachineInstructionEach) {
  const auto off = run(loop("mul.f32 %f3, %f1, %f2; add.f32 %f1, %f3, %f2;"), false);
  EXPECT_EQ(metric(off, "gpu.instructions.machine"), metric(off, "gpu.instructions.warp"));
  const auto on = run(loop("mul.f32 %f3, %f1, %f2; add.f32 %f1, %f3, %f2;"), true);
  EXPECT_EQ(metric(on, "gpu.instructions.warp"), metric(off, "gpu.instructions.warp"));
  EXPECT_EQ(metric(on, "instructions.fp32"), metric(off, "instructions.fp32"));
  EXPECT_LT(metric(on, "gpu.instructions.machine"), metric(off, "gpu.instructions.machine"));
  EXPECT_LT(metric(on, "gpu.cycles"), metric(off, "gpu.cycles"));
  // Every slot of an issue is one machine instruction.
  EXPECT_NEAR(metric(on, "sol.issue") * metric(on, "scheduler.slots"), metric(on, "gpu.instructions.machine"),
              0.5);
}

TEST(Lowering, AFoldedProductCostsWhatAFusedOneCosts) {
  const auto folded = run(loop("mul.f32 %f3, %f1, %f2; add.f32 %f1, %f3, %f2;"), true);
  const auto fused = run(loop("fma.rn.f32 %f1, %f1, %f2, %f2;"), true);
  EXPECT_EQ(metric(folded, "gpu.cycles"), metric(fused, "gpu.cycles"));
  EXPECT_EQ(metric(folded, "gpu.instructions.machine"), metric(fused, "gpu.instructions.machine"));
}

// Folded instructions whose operand is still on its way do not hold up those behind.
TEST(Lowering, AFoldedInstructionWaitsForNobody) {
  const char* text =
      ".visible .entry k(.param .u64 p, .param .u32 n) { .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>;\n"
      "ld.param.u64 %d9, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.s64 %d2, %d9, %d1; "
      "ld.global.cg.f32 %f1, [%d2];";
  const std::string chain =
      "ld.global.cg.f32 %f2, [%d2+512]; add.f32 %f4, %f2, %f3; st.global.f32 [%d2], %f4; ret; }\n";
  std::string head_of(text);
  head_of.replace(head_of.find("%d<9>"), 5, "%d<10>");
  // The second load right behind the first
  const auto first = run(head_of + "mul.f32 %f3, %f1, 0f40000000;" + chain, true);
  const auto last = run(head_of +
                            "ld.global.cg.f32 %f2, [%d2+512]; mul.f32 %f3, %f1, 0f40000000; add.f32 %f4, "
                            "%f2, %f3; st.global.f32 [%d2], %f4; ret; }\n",
                        true);
  EXPECT_NEAR(metric(first, "gpu.cycles"), metric(last, "gpu.cycles"), 4);
}

TEST(Lowering, TwoRunsAreTheSame) {
  const auto a = run(loop("div.rn.f32 %f1, %f1, %f2; ex2.approx.f32 %f2, %f2;"), true, "gtx480");
  const auto b = run(loop("div.rn.f32 %f1, %f1, %f2; ex2.approx.f32 %f2, %f2;"), true, "gtx480");
  EXPECT_EQ(metric(a, "gpu.cycles"), metric(b, "gpu.cycles"));
}

}  // namespace
}  // namespace simtlab::timing
