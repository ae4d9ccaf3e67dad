// Registers with numbers: the program means the same, and takes no more registers than it must.
#include "assembler/allocate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "assembler/build.h"
#include "random_program.h"

namespace simtlab::assembler {
namespace {

using tests::Mix;

// Of threads that go different ways.
void expect_same(const Program& before, const Program& after, unsigned steps) {
  for (std::uint64_t way = 0; way < 3; ++way) {
    std::vector<std::uint64_t> wanted = tests::run(before, false, way, steps);
    std::vector<std::uint64_t> got = tests::run(after, true, way + 100, 20 * steps);
    ASSERT_GE(got.size(), wanted.size());
    got.resize(wanted.size());
    ASSERT_EQ(got, wanted);
  }
}

void expect_allocated(const Mix& mix, std::uint64_t seed, std::uint32_t most_registers = 255) {
  SCOPED_TRACE(seed);
  const Program before = tests::random_program(seed, mix);
  Program after = before;
  after.most_registers = most_registers;
  std::string why;
  ASSERT_TRUE(allocate(after, why)) << why;
  EXPECT_LE(after.used_registers, most_registers);
  expect_same(before, after, 10 * mix.instructions);
}

TEST(Allocate, RandomProgramsMeanTheSame) {
  for (std::uint64_t seed = 0; seed < 150; ++seed)
    expect_allocated({.instructions = 80, .vectors = seed % 3 != 0, .fixed = seed % 4 == 0}, seed);
}

TEST(Allocate, LargerProgramsMeanTheSame) {
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    expect_allocated({.instructions = 800, .values = 30, .predicates = 5}, seed);
}

class Straight : public testing::Test {
 protected:
  Straight() {
    program_.generation = 80;
    program_.blocks.emplace_back();
    b_.start(0);
    base_ = b_.new_register(2);
    b_.move(base_, parameter(0x160, true));
  }
  Ref part(Ref r, unsigned k) { return {r.reg, static_cast<std::uint8_t>(k), 1}; }
  Ref load(unsigned width, const char* size) {
    const Ref d = b_.new_register(width);
    b_.access("LDG", d, base_, 0, true, {}, {{"size", size}});
    return d;
  }
  void store(Ref value, const char* size) {
    b_.access("STG", {}, base_, 0, true, {value_of(value)}, {{"size", size}});
  }
  Ref sum(Ref a, Ref b) {
    const Ref d = b_.new_register();
    b_.emit("IADD3", d, {value_of(a), value_of(b), zero()});
    return d;
  }
  void allocated() {
    b_.emit("EXIT", {}, {});
    std::string why;
    ASSERT_TRUE(allocate(program_, why)) << why;
  }
  std::size_t count(std::string_view mnemonic) const {
    std::size_t n = 0;
    for (const Block& block : program_.blocks)
      for (const Instruction& i : block.code) n += i.code.mnemonic() == mnemonic ? 1 : 0;
    return n;
  }

  Program program_;
  Builder b_{program_, 80};
  Ref base_;
};

TEST_F(Straight, PartsOfVectorsAreRegisters) {
  const Ref v = load(4, "128");
  std::vector<Ref> ones;
  for (unsigned k = 0; k < 4; ++k) {
    ones.push_back(b_.new_register());
    b_.move(ones.back(), value_of(part(v, k)));
  }
  const Ref w = b_.new_register(4);
  for (unsigned k = 0; k < 4; ++k) {
    const Ref s = sum(ones[k], ones[3 - k]);
    b_.move(part(w, k), value_of(s));
  }
  store(w, "128");
  store(ones[1], "");
  allocated();
  EXPECT_EQ(count("MOV"), 2u);  // the address
  EXPECT_EQ(program_.used_registers, 10u);
}

TEST_F(Straight, ACopyBesideItsSourceIsTheSameRegisterWhileNeitherIsWritten) {
  const Ref a = load(1, ""), c = b_.new_register();
  b_.move(c, value_of(a));
  store(sum(a, c), "");
  store(a, "");
  store(c, "");
  allocated();
  EXPECT_EQ(count("MOV"), 2u);
  EXPECT_EQ(program_.used_registers, 4u);
}

TEST_F(Straight, ACopyThatIsWrittenAgainIsAnotherRegister) {
  const Ref a = load(1, ""), c = b_.new_register();
  b_.move(c, value_of(a));
  b_.emit("IADD3", c, {value_of(c), number(1), zero()});
  store(c, "");
  store(a, "");
  allocated();
  EXPECT_EQ(count("MOV"), 3u);
}

TEST_F(Straight, TheStackRegisterIsLeftAlone) {
  program_.stack = true;
  const Ref a = load(1, ""), c = load(1, ""), d = load(1, "");
  store(sum(sum(a, c), d), "");
  allocated();
  for (const Instruction& i : program_.blocks[0].code)
    for (std::size_t k = 0; k < i.code.operand_count(); ++k)
      if (i.code.operands[k].kind == machine::OperandKind::reg) { EXPECT_NE(i.code.operands[k].number, 1); }
}

}  // namespace
}  // namespace simtlab::assembler
