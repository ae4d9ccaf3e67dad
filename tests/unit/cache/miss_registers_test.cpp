#include "cache/miss_registers.h"

#include <gtest/gtest.h>

namespace simtlab::cache {
namespace {

TEST(MissRegisters, SectorsComeSoonestFirstAndTheRegisterIsFreeAfterTheLast) {
  MissRegisters registers(2);
  registers.restart();
  EXPECT_FALSE(registers.arrives(1000));
  const std::uint32_t a = registers.take(7, 0);
  registers.expect(a, 70, 0b0001, 30);
  EXPECT_EQ(registers.take(7, a), a);  // the line has one
  registers.expect(a, 70, 0b0010, 20);
  const std::uint32_t b = registers.take(8, 0);
  EXPECT_NE(b, a);
  registers.expect(b, 80, 0b1000, 25);
  EXPECT_TRUE(registers.full());
  EXPECT_EQ(registers.of(7, a).pending, 0b0011);
  EXPECT_EQ(registers.of(7, a).until, 30u);
  EXPECT_EQ(registers.of(9, a).pending, 0);  // the register is another line's
  EXPECT_EQ(registers.next(), 20u);
  EXPECT_FALSE(registers.arrives(19));
  EXPECT_TRUE(registers.arrives(20));
  EXPECT_EQ(registers.pop().sectors, 0b0010);
  EXPECT_FALSE(registers.free_if_complete(a));
  EXPECT_EQ(registers.pop().number, 80u);
  EXPECT_TRUE(registers.free_if_complete(b));
  EXPECT_FALSE(registers.full());
  EXPECT_EQ(registers.of(8, b).pending, 0);
  EXPECT_EQ(registers.pop().number, 70u);
  EXPECT_TRUE(registers.free_if_complete(a));
  EXPECT_FALSE(registers.arrives(1000));
}

}  // namespace
}  // namespace simtlab::cache
