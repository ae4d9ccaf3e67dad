// Products that sums take in, as the code of ptxas 12.9 has them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "helpers.h"

namespace simtlab::ptx {
namespace {

struct Arithmetic {
  std::vector<Op> ops;  // of multiplications, sums and signs
  std::string text() const {
    std::string out;
    for (const Op op : ops)
      out += op == Op::mul   ? "mul "
             : op == Op::add ? "add "
             : op == Op::sub ? "sub "
             : op == Op::neg ? "neg "
                             : "fma ";
    return out;
  }
};

const std::string four_values =
    "mov.u64 %rd1, 4096; ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4]; ld.global.f32 %f3, [%rd1+8];"
    "ld.global.f32 %f4, [%rd1+12]; ld.global.f64 %d1, [%rd1]; ld.global.f64 %d2, [%rd1+8];"
    "ld.global.b16 %h1, [%rd1]; ld.global.b16 %h2, [%rd1+2]; ld.global.b32 %r1, [%rd1]; setp.eq.u32 %p1, "
    "%r1, 3;";

std::string arithmetic(const std::string& body) {
  const test::Kernel kernel = test::load_kernel(four_values + body + " ret;");
  Arithmetic out;
  for (const Inst& inst : kernel.fn.code)
    if (inst.op == Op::mul || inst.op == Op::add || inst.op == Op::sub || inst.op == Op::neg ||
        inst.op == Op::fma)
      out.ops.push_back(inst.op);
  return out.text();
}
// The sum is its_store.
std::string of_sum(const std::string& one_product, const std::string& sum) {
  return arithmetic(one_product + sum + " st.global.f32 [%rd1], %f6;");
}
const std::string one_product = "mul.f32 %f5, %f1, %f2; ", its_store = " st.global.f32 [%rd1], %f6;";

TEST(Contraction, AProductGoesIntoItsSum) {
  EXPECT_EQ(of_sum(one_product, "add.f32 %f6, %f3, %f5;"), "fma ");
  EXPECT_EQ(of_sum(one_product, "add.sat.f32 %f6, %f5, %f3;"), "fma ");
  EXPECT_EQ(of_sum(one_product, "@%p1 add.f32 %f6, %f5, %f3;"), "fma ");
  EXPECT_EQ(of_sum("mul.ftz.f32 %f5, %f1, %f2; ", "add.ftz.f32 %f6, %f3, %f5;"), "fma ");
  EXPECT_EQ(arithmetic("mul.f64 %d3, %d1, %d2; add.f64 %d4, %d3, %d1; st.global.f64 [%rd1], %d4;"), "fma ");
  EXPECT_EQ(arithmetic("mul.f16 %h3, %h1, %h2; add.f16 %h4, %h3, %h1; st.global.b16 [%rd1], %h4;"), "fma ");
  EXPECT_EQ(arithmetic("mul.f16x2 %r3, %r1, %r1; add.f16x2 %r4, %r3, %r1; st.global.b32 [%rd1], %r4;"),
            "fma ");
}

TEST(Contraction, DifferencesChangeASign) {
  EXPECT_EQ(of_sum(one_product, "sub.f32 %f6, %f3, %f5;"), "neg fma ");
  EXPECT_EQ(of_sum(one_product, "sub.f32 %f6, %f5, %f3;"), "neg fma ");
  const test::Kernel of_product =
      test::load_kernel(four_values + one_product + "sub.f32 %f6, %f3, %f5;" + its_store + " ret;");
  const test::Kernel of_summand =
      test::load_kernel(four_values + one_product + "sub.f32 %f6, %f5, %f3;" + its_store + " ret;");
  const auto sign_is_of = [](const test::Kernel& kernel, std::size_t operand) {
    for (std::size_t pc = 1; pc < kernel.fn.code.size(); ++pc)
      if (kernel[pc].op == Op::fma) return kernel[pc - 1].dst[0] == kernel[pc].src[operand];
    return false;
  };
  EXPECT_TRUE(sign_is_of(of_product, 0));
  EXPECT_TRUE(sign_is_of(of_summand, 2));
}

TEST(Contraction, OnlyWhereRoundingIsLeftOpen) {
  EXPECT_EQ(of_sum("mul.rn.f32 %f5, %f1, %f2; ", "add.f32 %f6, %f3, %f5;"), "mul add ");
  EXPECT_EQ(of_sum(one_product, "add.rn.f32 %f6, %f3, %f5;"), "mul add ");
  EXPECT_EQ(of_sum("mul.sat.f32 %f5, %f1, %f2; ", "add.f32 %f6, %f3, %f5;"), "mul add ");
  EXPECT_EQ(of_sum("mul.ftz.f32 %f5, %f1, %f2; ", "add.f32 %f6, %f3, %f5;"), "mul add ");
  EXPECT_EQ(of_sum("mov.f32 %f5, %f4; @%p1 mul.f32 %f5, %f1, %f2; ", "add.f32 %f6, %f3, %f5;"), "mul add ");
}

TEST(Contraction, AProductThatSomethingElseReadsStays) {
  EXPECT_EQ(of_sum(one_product, "add.f32 %f6, %f3, %f5; st.global.f32 [%rd1+4], %f5;"), "mul add ");
  EXPECT_EQ(of_sum(one_product, "add.f32 %f6, %f5, %f5;"), "mul add ");
  EXPECT_EQ(of_sum(one_product, "fma.rn.f32 %f7, %f5, %f1, %f2; add.f32 %f6, %f7, %f5;"), "mul fma add ");
  EXPECT_EQ(of_sum(one_product, "add.f32 %f6, %f3, %f5; sub.f32 %f7, %f4, %f5; st.global.f32 [%rd1+4], %f7;"),
            "fma neg fma ")
      << "all of its readers are sums";
}

TEST(Contraction, ASumOfTwoProductsTakesOne) {
  const std::string two = one_product + "mul.f32 %f7, %f3, %f4; ";
  EXPECT_EQ(of_sum(two, "add.f32 %f6, %f5, %f7;"), "mul fma ");
  EXPECT_EQ(of_sum(two, "sub.f32 %f6, %f5, %f7;"), "mul neg fma ");
  const auto first_factor = [&](const std::string& sum) {
    const test::Kernel kernel = test::load_kernel(four_values + two + sum + its_store + " ret;");
    Operand kept, factor;
    for (const Inst& inst : kernel.fn.code) {
      if (inst.op == Op::mul) kept = inst.src[0];
      if (inst.op == Op::fma) factor = inst.src[0];
    }
    return std::pair(kept, factor);
  };
  const auto [kept, factor] = first_factor("add.f32 %f6, %f5, %f7;");
  const auto [other_kept, other_factor] = first_factor("add.f32 %f6, %f7, %f5;");
  EXPECT_EQ(kept, other_factor) << "the first operand is taken in";
  EXPECT_EQ(factor, other_kept);
  EXPECT_EQ(of_sum(two, "add.f32 %f6, %f5, %f7; add.f32 %f8, %f5, %f1; st.global.f32 [%rd1+4], %f8;"),
            "mul fma add ")
      << "the one with no other reader";
}

TEST(Contraction, WithinABlock) {
  EXPECT_EQ(of_sum(one_product, "@%p1 bra L; L: add.f32 %f6, %f3, %f5;"), "mul add ");
  EXPECT_EQ(of_sum(one_product, "mov.f32 %f1, %f4; add.f32 %f6, %f3, %f5;"), "fma ") << "the factor is kept";
  EXPECT_EQ(of_sum("mul.f32 %f5, %f1, 0f40400000; ", "sub.f32 %f6, %f3, %f5;"), "neg fma ");
}

TEST(Contraction, BranchesStillMeetTheirTargets) {
  const test::Kernel kernel =
      test::load_kernel(four_values + "bra M; L: " + one_product + "sub.f32 %f6, %f3, %f5;" + its_store +
                        " @%p1 bra L; M: mul.f32 %f7, %f3, %f4; add.f32 %f8, %f7, %f1; st.global.f32 "
                        "[%rd1+4], %f8; @%p1 bra L; ret;");
  std::vector<Op> targets;
  for (const Inst& inst : kernel.fn.code)
    if (inst.op == Op::bra) targets.push_back(kernel[inst.target].op);
  EXPECT_EQ(targets, (std::vector{Op::fma, Op::neg, Op::neg}));
}

}  // namespace
}  // namespace simtlab::ptx
