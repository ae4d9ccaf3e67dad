// Orders of instructions that take few registers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "assembler/allocate.h"
#include "assembler/build.h"
#include "assembler/schedule.h"
#include "assembler/schedule_live.h"
#include "assembler/schedule_spare.h"

namespace simtlab::assembler {
namespace {

class OrderedBlock : public ::testing::Test {
 protected:
  OrderedBlock() {
    program_.generation = 80;
    program_.blocks.emplace_back();
    b_.start(0);
    base_ = b_.new_register(2);
    b_.move(base_, parameter(0x160, true));
  }
  Ref computed(std::string_view name, const Value& a, const Value& b, const Value& c) {
    const Ref d = b_.new_register();
    b_.emit(name, d, {a, b, c});
    return d;
  }
  void store(Ref value) { b_.access("STG", {}, base_, 0, true, {value_of(value)}, {}); }
  std::uint32_t registers() {
    b_.emit("EXIT", {}, {});
    schedule_before_allocation(program_);
    std::string why;
    EXPECT_TRUE(allocate(program_, why)) << why;
    return program_.used_registers;
  }

  Program program_;
  Builder b_{program_, 80};
  Ref base_;
};

TEST_F(OrderedBlock, LoadsThatAllStandInFrontComeBeforeTheirReaders) {
  std::vector<Ref> loaded;
  for (unsigned k = 0; k < 80; ++k) {
    loaded.push_back(b_.new_register());
    b_.access("LDG", loaded.back(), base_, 4 * k, true, {}, {});
  }
  Ref sum = loaded[0];
  for (unsigned k = 1; k < 80; ++k)
    sum = computed("FFMA", value_of(loaded[k]), value_of(loaded[k]), value_of(sum));
  store(sum);
  EXPECT_LE(registers(), 34u);
}

TEST_F(OrderedBlock, NumbersAreMadeShortlyBeforeTheyAreRead) {
  std::vector<Ref> numbers;
  for (unsigned k = 0; k < 16; ++k) {
    numbers.push_back(b_.new_register());
    b_.emit("MOV", numbers.back(), {number(1000 + k)}).remakes = true;
  }
  Ref x = b_.new_register();
  b_.access("LDG", x, base_, 0, true, {}, {});
  for (unsigned k = 0; k + 1 < 16; k += 2)
    x = computed("FFMA", value_of(x), value_of(numbers[k]), value_of(numbers[k + 1]));
  store(x);
  EXPECT_LE(registers(), 10u);
}

// Chains that stand side by side in the code; the longer one first, for its registers are free again then.
TEST_F(OrderedBlock, OneOperandIsComputedAfterTheOther) {
  constexpr unsigned steps = 5;
  Ref one = computed("IADD3", parameter(0x170), number(1), zero()),
      other = computed("IADD3", parameter(0x174), number(2), zero());
  for (unsigned n = 0; n < steps; ++n) {
    one = computed("IADD3", value_of(one), value_of(one), zero());
    const Ref square = computed("FFMA", value_of(other), value_of(other), zero());
    other = computed("FFMA", value_of(square), value_of(other), value_of(other));
  }
  store(computed("FFMA", value_of(one), value_of(other), zero()));
  std::vector<Instruction>& code = program_.blocks[0].code;
  std::vector<Effects> effects;
  for (const Instruction& i : code) effects.push_back(value_effects_of(program_, i));
  const std::vector<std::uint32_t> order = depth_first_order(code, ScheduleGraph(code, effects));
  ASSERT_EQ(order.size(), code.size());
  std::string names;
  for (const std::uint32_t n : order) names += code[n].code.mnemonic().substr(0, 1);
  EXPECT_EQ(names, "MIFFFFFFFFFFMIIIIIIFMMS");
}

// What is written for some lanes and read for these alone is not there before.
TEST_F(OrderedBlock, GuardedValuesLiveWhereTheirGuardHolds) {
  const Ref x = b_.new_register(), p = b_.new_predicate();
  b_.access("LDG", x, base_, 0, true, {}, {});
  b_.set_result(b_.emit("ISETP", {}, {value_of(x), number(1)}, {{"cmp", "LT"}}), machine::Name("Pd"), p);
  b_.guard({p, false});
  std::vector<Ref> loaded;
  for (unsigned k = 0; k < 60; ++k) {
    const Ref sum = computed("IADD3", value_of(x), number(k), zero());
    store(sum);
    loaded.push_back(sum);
  }
  b_.guard(always());
  b_.emit("EXIT", {}, {});
  const LiveRegisters live(program_);
  for (const Ref& r : loaded) EXPECT_FALSE(live.in(0, r.reg));
  EXPECT_LE(registers(), 32u);
}

}  // namespace
}  // namespace simtlab::assembler
