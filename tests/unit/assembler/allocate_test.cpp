// Registers with numbers: the program means the same, and takes no more registers than it must.
#include "assembler/allocate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
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

Program allocated(const Mix& mix, std::uint64_t seed, std::uint32_t most_registers = 255) {
  SCOPED_TRACE(seed);
  const Program before = tests::random_program(seed, mix);
  Program after = before;
  after.most_registers = most_registers;
  std::string why;
  EXPECT_TRUE(allocate(after, why)) << why;
  EXPECT_LE(after.used_registers, most_registers);
  expect_same(before, after, 10 * mix.instructions);
  return after;
}

TEST(Allocate, RandomProgramsMeanTheSame) {
  for (std::uint64_t seed = 0; seed < 150; ++seed)
    allocated({.instructions = 80, .vectors = seed % 3 != 0, .fixed = seed % 4 == 0}, seed);
}

TEST(Allocate, LargerProgramsMeanTheSame) {
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    allocated({.instructions = 800, .values = 30, .predicates = 5}, seed);
}

TEST(Allocate, FewRegistersSpill) {
  std::uint32_t spilled = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    spilled += allocated({.instructions = 80, .values = 14, .fixed = seed % 4 == 0}, seed, 16).spilled;
  EXPECT_GT(spilled, 100u);
}

TEST(Allocate, ManyPredicatesSpill) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) allocated({.instructions = 150, .predicates = 30}, seed);
  for (std::uint64_t seed = 0; seed < 30; ++seed)
    allocated({.instructions = 150, .predicates = 30}, seed, 20);
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
  EXPECT_EQ(count("MOV"), 3u);  // the stack and the address
  EXPECT_LE(program_.used_registers, 12u);
}

TEST_F(Straight, ACopyBesideItsSourceIsTheSameRegisterWhileNeitherIsWritten) {
  const Ref a = load(1, ""), c = b_.new_register();
  b_.move(c, value_of(a));
  store(sum(a, c), "");
  store(a, "");
  store(c, "");
  allocated();
  EXPECT_EQ(count("MOV"), 3u);
  EXPECT_LE(program_.used_registers, 8u);
}

TEST_F(Straight, TwoSourcesOfAnInstructionLieInDifferentBanks) {
  const Ref a = load(1, ""), b = load(1, "");
  store(sum(a, b), "");
  allocated();
  for (const Instruction& i : program_.blocks[0].code) {
    if (i.code.mnemonic() != "IADD3") continue;
    const auto number_of = [&](const char* name) {
      return i.code.operands[static_cast<std::size_t>(i.code.form->operand(machine::Name(name)))].number;
    };
    EXPECT_NE(number_of("Ra") % 2, number_of("Rb") % 2);
  }
}

TEST_F(Straight, ACopyThatIsWrittenAgainIsAnotherRegister) {
  const Ref a = load(1, ""), c = b_.new_register();
  b_.move(c, value_of(a));
  b_.emit("IADD3", c, {value_of(c), number(1), zero()});
  store(c, "");
  store(a, "");
  allocated();
  EXPECT_EQ(count("MOV"), 4u);
}

TEST_F(Straight, AVectorThatIsLoadedInSomeThreadsIsTheirValues) {
  const Ref p = b_.new_predicate();
  const Ref low = b_.new_register(), high = b_.new_register();
  b_.set_result(b_.emit("ISETP", {}, {value_of(part(base_, 0)), number(5)}, {{"cmp", "LT"}}),
                machine::Name("Pd"), p);
  b_.move(low, number(1));
  b_.move(high, number(2));
  b_.guard({p, false});
  const Ref v = load(2, "64");
  b_.move(low, value_of(part(v, 0)));
  b_.move(high, value_of(part(v, 1)));
  b_.guard(always());
  store(sum(low, high), "");
  allocated();
  EXPECT_EQ(count("MOV"), 5u);
  EXPECT_LE(program_.used_registers, 6u);
}

TEST_F(Straight, NumbersAreMadeAgainBeforeAnythingIsSpilled) {
  program_.most_registers = 8;
  std::vector<Ref> numbers, loaded;
  for (unsigned k = 0; k < 6; ++k) {
    numbers.push_back(b_.new_register());
    b_.move(numbers.back(), number(100 + k));
  }
  for (unsigned k = 0; k < 4; ++k) loaded.push_back(load(1, ""));
  for (unsigned k = 0; k < 6; ++k) store(sum(numbers[k], loaded[k % 4]), "");
  for (unsigned k = 0; k < 6; ++k) store(numbers[k], "");
  allocated();
  EXPECT_LE(program_.used_registers, 8u);
  EXPECT_EQ(program_.spilled, 0u);
  EXPECT_EQ(count("LDL") + count("STL"), 0u);
}

TEST_F(Straight, SpilledRegistersAreBehindTheFrame) {
  program_.most_registers = 8;
  program_.frame_bytes = 20;
  std::vector<Ref> loaded;
  for (unsigned k = 0; k < 12; ++k) loaded.push_back(load(1, ""));
  for (unsigned k = 0; k < 12; ++k) store(loaded[k], "");
  allocated();
  EXPECT_LE(program_.used_registers, 8u);
  EXPECT_GT(program_.spilled, 0u);
  EXPECT_GE(program_.frame_bytes, 20 + program_.spilled);
  // R1 = c[0][0x28] - frame
  const std::vector<Instruction>& code = program_.blocks[0].code;
  EXPECT_EQ(code[0].code.mnemonic(), "MOV");
  EXPECT_EQ(code[0].code.operands[0].number, 1);
  EXPECT_EQ(code[0].code.operands[1].value, 0x28);
  EXPECT_EQ(code[1].code.mnemonic(), "IADD3");
  EXPECT_EQ(code[1].code.operands[0].number, 1);
  const auto amount = static_cast<std::size_t>(code[1].code.form->operand(machine::Name("imm")));
  EXPECT_EQ(code[1].code.operands[amount].value, -static_cast<std::int64_t>(program_.frame_bytes));
  for (const Instruction& i : code)
    for (std::size_t k = 0; k < i.code.operand_count(); ++k)
      if (i.code.operands[k].kind == machine::OperandKind::memory && i.code.mnemonic().ends_with('L')) {
        EXPECT_EQ(i.code.operands[k].base, 1);
        EXPECT_GE(i.code.operands[k].value, 20);
      }
}

TEST_F(Straight, OperandsThatDoNotFitAreAReason) {
  program_.most_registers = 5;
  const Ref v = load(4, "128");
  store(v, "128");
  b_.emit("EXIT", {}, {});
  std::string why;
  EXPECT_FALSE(allocate(program_, why));
  EXPECT_NE(why, "");
}

TEST_F(Straight, SourcesAreInBothBanks) {
  std::vector<Ref> loaded;
  for (unsigned k = 0; k < 9; ++k) loaded.push_back(load(1, ""));
  for (unsigned k = 0; k < 9; ++k) {
    const Ref d = b_.new_register();
    b_.emit("FFMA", d, {value_of(loaded[k]), value_of(loaded[(k + 2) % 9]), value_of(loaded[(k + 4) % 9])});
    store(d, "");
  }
  allocated();
  for (const Instruction& i : program_.blocks[0].code) {
    if (i.code.mnemonic() != "FFMA") continue;
    unsigned odd = 0;
    for (std::size_t k = 1; k < 4; ++k) odd += i.code.operands[k].number % 2u;
    EXPECT_TRUE(odd == 1 || odd == 2);
  }
}

TEST_F(Straight, PredicatesHaveTheLowestNumbers) {
  for (unsigned k = 0; k < 7; ++k) {
    const Ref p = b_.new_predicate();
    b_.set_result(b_.emit("ISETP", {}, {value_of(part(base_, 0)), number(k)}, {{"cmp", "LT"}}),
                  machine::Name("Pd"), p);
    b_.guard({p, false});
    store(part(base_, 0), "");
    b_.guard(always());
  }
  allocated();
  for (const Instruction& i : program_.blocks[0].code)
    EXPECT_EQ(i.code.guard, i.guard ? 0 : machine::true_predicate);
}

TEST_F(Straight, TheStackRegisterIsLeftAlone) {
  const Ref a = load(1, ""), c = load(1, ""), d = load(1, "");
  store(sum(sum(a, c), d), "");
  allocated();
  const std::vector<Instruction>& code = program_.blocks[0].code;
  // R1 = c[0][0x28], with a frame or without, as in the vendor's code
  EXPECT_EQ(code[0].code.mnemonic(), "MOV");
  EXPECT_EQ(code[0].code.operands[0].number, 1);
  EXPECT_EQ(code[0].code.operands[1].value, 0x28);
  for (const Instruction& i : std::span(code).subspan(1))
    for (std::size_t k = 0; k < i.code.operand_count(); ++k)
      if (i.code.operands[k].kind == machine::OperandKind::reg) { EXPECT_NE(i.code.operands[k].number, 1); }
}

}  // namespace
}  // namespace simtlab::assembler
