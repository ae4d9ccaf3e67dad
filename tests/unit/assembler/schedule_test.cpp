// The order of instructions: the same values, in fewer cycles.
#include "assembler/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "assembler/control.h"
#include "assembler/control_effects.h"
#include "assembler/schedule_memory.h"
#include "random_instructions.h"

namespace simtlab::assembler {
namespace {

using testing::number_operands;
using testing::RandomProgram;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9e3779b97f4a7c15ull;
  return a ^ a >> 29;
}

// What a block computes: each instruction's results are a number made of which one it is and what it reads.
struct Outcome {
  std::map<Place, std::uint64_t> registers;
  std::map<std::uint64_t, std::uint64_t> memory;  // by space and address
  std::vector<std::uint64_t> barriers;            // what memory held then
  bool operator==(const Outcome&) const = default;
};

Outcome outcome_of(const Block& block) {
  Outcome out;
  const auto value = [&](Place place) {
    const auto it = out.registers.find(place);
    return it == out.registers.end() ? mixed(place, 1) : it->second;
  };
  for (const Instruction& i : block.code) {
    const Effects effects = effects_of(i);
    std::uint64_t sum = i.line;
    // The factors of a product may change places.
    const bool product = i.code.mnemonic() == "FFMA";
    for (std::size_t k = 0; k < effects.reads().size(); ++k) {
      const std::uint64_t read = value(effects.reads()[k].place);
      sum = product ? sum + mixed(read, k + 1 == effects.reads().size() ? 2 : 1) : mixed(sum, read);
    }
    const MemoryAccess access = access_of(i.code);
    for (std::size_t k = 0; k < i.code.operand_count(); ++k) {
      const machine::Operand& o = i.code.operands[k];
      if (o.kind != machine::OperandKind::memory) continue;
      // Few addresses, so that they meet.
      const std::uint64_t base = value(o.base) % 3 * 16 + static_cast<std::uint64_t>(o.value);
      const unsigned words = i.code.field("size") == 6 ? 4 : 1;
      for (unsigned w = 0; w < words; ++w) {
        std::uint64_t& cell = out.memory[std::uint64_t{access.spaces} << 32 | (base + w * 4)];
        if (access.reads) sum = mixed(sum, cell);
        if (access.writes) cell = mixed(sum, w);
      }
    }
    if (i.code.mnemonic() == "MEMBAR") {
      std::uint64_t all = 0;
      for (const auto& [address, cell] : out.memory) all = mixed(all, mixed(address, cell));
      out.barriers.push_back(all);
    }
    for (const Effects::Write& write : effects.writes()) out.registers[write.place] = mixed(sum, write.place);
  }
  return out;
}

std::vector<std::uint32_t> lines_of(const Block& block) {
  std::vector<std::uint32_t> out;
  for (const Instruction& i : block.code) out.push_back(i.line);
  return out;
}

void expect_same(const Program& before, const Program& after) {
  for (std::size_t b = 0; b < before.blocks.size(); ++b) {
    std::vector<std::uint32_t> x = lines_of(before.blocks[b]), y = lines_of(after.blocks[b]);
    if (before.blocks[b].next == none || before.blocks[b].code.back().target != none) {
      EXPECT_EQ(x.back(), y.back());
    }
    std::ranges::sort(x);
    std::ranges::sort(y);
    EXPECT_EQ(x, y);
    EXPECT_EQ(outcome_of(before.blocks[b]), outcome_of(after.blocks[b])) << text_of(before) << text_of(after);
  }
}

class Schedule : public ::testing::TestWithParam<unsigned> {};

TEST_P(Schedule, KeepsWhatBlocksCompute) {
  unsigned moved = 0;
  for (std::uint64_t seed = 100; seed < 160; ++seed) {
    const Program drawn = RandomProgram(GetParam(), seed).make(3, 40);
    Program before = drawn;
    // Half of them without knowing which registers they will get
    for (Register& r : before.registers)
      if (seed % 2 != 0) r.fixed = Register::anywhere;
    schedule_before_allocation(before);
    before.registers = drawn.registers;
    Program numbered = drawn;
    number_operands(numbered);
    Program after = numbered;
    schedule_after_allocation(after);
    expect_same(numbered, after);
    number_operands(before);
    expect_same(numbered, before);
    if (lines_of(after.blocks[0]) != lines_of(numbered.blocks[0])) ++moved;
    if (lines_of(before.blocks[0]) != lines_of(numbered.blocks[0])) ++moved;
  }
  EXPECT_GT(moved, 20u);
}

TEST_P(Schedule, TakesTimeInProportion) {
  Program program = RandomProgram(GetParam(), 3).make(1, 20000);
  schedule_before_allocation(program);
  number_operands(program);
  schedule_after_allocation(program);
  set_control(program);
  EXPECT_EQ(program.blocks[0].code.size(), 20001u);
}

INSTANTIATE_TEST_SUITE_P(Generations, Schedule, ::testing::Values(70u, 90u));

unsigned stalls_of(Program program) {
  set_control(program);
  unsigned out = 0;
  for (const Instruction& i : program.blocks[0].code) out += i.code.control.stall;
  return out;
}

TEST(ScheduleOf, ChainsGoSideBySide) {
  Program program;
  program.generation = 86;
  program.blocks.resize(1);
  Builder builder(program, 86);
  builder.start(0);
  for (std::uint8_t chain = 0; chain < 4; ++chain) {
    const auto number = static_cast<std::uint8_t>(2 + chain);
    const Ref x = {
        .reg = program.add({.file = File::general, .width = 1, .fixed = number}), .part = 0, .count = 1};
    for (int k = 0; k < 4; ++k) builder.emit("FFMA", x, {value_of(x), value_of(x), value_of(x)});
  }
  builder.emit("EXIT", {}, {});
  number_operands(program);
  const unsigned before = stalls_of(program);
  schedule_after_allocation(program);
  EXPECT_EQ(before, 13u * 4 + 3 + 5 - 4 + 1);
  EXPECT_EQ(stalls_of(program), 16u + 5);
}

TEST(ScheduleOf, RegistersOfACertainNumberAreNotWrittenTooEarly) {
  Program program;
  program.generation = 86;
  program.blocks.resize(1);
  Builder builder(program, 86);
  builder.start(0);
  // The result of one call and the argument of the next one are both in R4.
  const Ref result = {.reg = program.add({.file = File::general, .width = 1, .fixed = 4})};
  const Ref argument = {.reg = program.add({.file = File::general, .width = 1, .fixed = 4})};
  const Ref address = builder.new_register(2), x = builder.new_register(), y = builder.new_register();
  builder.access("LDG", x, address, 0, true, {}, {});
  builder.emit("IADD3", y, {value_of(x), value_of(result), zero()});
  builder.move(argument, number(7));
  builder.access("STG", {}, address, 4, true, {value_of(y)}, {});
  builder.access("STG", {}, address, 8, true, {value_of(argument)}, {});
  builder.emit("EXIT", {}, {});
  schedule_before_allocation(program);
  std::vector<std::string> names;
  for (const Instruction& i : program.blocks[0].code) names.emplace_back(i.code.mnemonic());
  EXPECT_LT(std::ranges::find(names, "IADD3"), std::ranges::find(names, "MOV"));
}

// The end of a loop of one block, block 0: it goes on while the comparison holds. Block 1 stores a value.
struct Comparison {
  Ref value;
  std::uint64_t with = 0;
  std::string_view how;
};
void go_back(Program& program, Builder& builder, const Comparison& c, Ref address, Ref stored) {
  const Ref p = builder.new_predicate();
  Instruction& compare = builder.emit("ISETP", {}, {value_of(c.value), number(c.with)}, {{"cmp", c.how}});
  builder.set_result(compare, "Pd", p);
  builder.guard({p, false});
  builder.emit("BRA", {}, {}).target = 0;
  builder.guard(always());
  program.blocks[0].next = 1;
  builder.start(1);
  builder.access("STG", {}, address, 0, true, {value_of(stored)}, {});
  builder.emit("EXIT", {}, {});
}

TEST(ScheduleOf, CopiesForTheNextTurnStayAtTheEnd) {
  Program program;
  program.generation = 86;
  program.blocks.resize(2);
  Builder builder(program, 86);
  builder.start(0);
  const Ref sum = builder.new_register(), x = builder.new_register(), address = builder.new_register(2);
  const Ref next = builder.new_register();
  builder.emit("FADD", next, {value_of(sum), value_of(x)});
  builder.move(sum, value_of(next));
  for (std::int64_t k = 0; k < 6; ++k) {
    const Ref loaded = builder.new_register();
    builder.access("LDG", loaded, address, 4 * k, true, {}, {});
    builder.emit("FADD", x, {value_of(x), value_of(loaded)});
  }
  go_back(program, builder, {x, 1, "GE"}, address, sum);
  schedule_before_allocation(program);
  const std::vector<Instruction>& code = program.blocks[0].code;
  EXPECT_TRUE(code[code.size() - 2].copy);
  EXPECT_EQ(code.back().code.mnemonic(), "BRA");
  // Loads come early.
  EXPECT_EQ(code[0].code.mnemonic(), "LDG");
  EXPECT_EQ(code[1].code.mnemonic(), "LDG");
}

// As ptxas has it: behind the loads that the round waits for, and behind an arm whose predicate it takes.
TEST(ScheduleOf, TheComparisonOfALoopComesLate) {
  for (const bool guarded : {false, true}) {
    Program program;
    program.generation = 86;
    program.blocks.resize(2);
    Builder builder(program, 86);
    builder.start(0);
    const Ref address = builder.new_register(2), x = builder.new_register(), turn = builder.new_register();
    const Ref in = builder.new_predicate();
    Instruction& inside = builder.emit("ISETP", {}, {value_of(x), number(5)}, {{"cmp", "GE"}});
    builder.set_result(inside, "Pd", in);
    const Ref loaded = builder.new_register();
    if (guarded) builder.guard({in, false});
    builder.access("LDG", loaded, address, 0, true, {}, {});
    builder.emit("FADD", x, {value_of(x), value_of(loaded)});
    builder.guard(always());
    builder.emit("IADD3", turn, {value_of(turn), number(1), zero()});
    go_back(program, builder, {turn, 8, "LT"}, address, x);
    schedule_before_allocation(program);
    std::vector<std::string> order;
    for (const Instruction& i : program.blocks[0].code) order.emplace_back(i.code.mnemonic());
    const auto from_end = [&](std::string_view name) {
      return std::find(order.rbegin(), order.rend(), name) - order.rbegin();
    };
    EXPECT_GT(from_end("LDG"), from_end("ISETP")) << guarded;
    if (guarded) { EXPECT_GT(from_end("FADD"), from_end("ISETP")); }
  }
}

}  // namespace
}  // namespace simtlab::assembler
