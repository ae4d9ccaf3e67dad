// Orders of instructions that take few registers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "assembler/allocate.h"
#include "assembler/build.h"
#include "assembler/schedule.h"

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
  EXPECT_LE(registers(), 9u);
}

}  // namespace
}  // namespace simtlab::assembler
