#include "timing/unit_ports.h"

#include <gtest/gtest.h>

#include "timing/slot_pool.h"
#include "timing/warp.h"

namespace simtlab::timing {
namespace {

constexpr FixedCycles fixed_cycles(Cycle n) { return n << memory::fixed_bits; }

TEST(UnitPorts, AUnitTakesInstructionsSixteenCyclesAhead) {
  UnitPorts ports(1);
  ports.begin();
  EXPECT_EQ(ports.book_lg(0, fixed_cycles(10), 100), 100u);
  EXPECT_EQ(ports.free_from(Pipe::lg, 1, 100), 100u);
  EXPECT_EQ(ports.book_lg(1, fixed_cycles(10), 100), 110u);
  EXPECT_EQ(ports.free_from(Pipe::lg, 0, 100), 104u) << "booked until 120";
  EXPECT_EQ(ports.free_from(Pipe::tex, 0, 100), 104u) << "the same port";
  EXPECT_EQ(ports.free_from(Pipe::mio, 0, 100), 100u) << "another port";
}

TEST(UnitPorts, WhoUsedAUnitLastComesLast) {
  UnitPorts ports(1);
  ports.begin();
  EXPECT_EQ(ports.first_scheduler(), 0u);
  ports.book_mio(2, fixed_cycles(1), 10);
  EXPECT_EQ(ports.first_scheduler(), 3u);
}

TEST(UnitPorts, OfSchedulersWithTurnsTheLastUserLeavesTheOthersTheirs) {
  UnitPorts ports(2);
  ports.begin();
  ports.book_lg(0, fixed_cycles(17), 100);  // until 117
  EXPECT_EQ(ports.free_from(Pipe::lg, 1, 100), 101u);
  EXPECT_EQ(ports.free_from(Pipe::lg, 0, 100), 102u);
}

TEST(UnitPorts, AFullQueueOfTheLoadStoreUnitThrottlesItsPipelines) {
  UnitPorts ports(1);
  ports.begin();
  ports.set_lg_waiting(8);
  EXPECT_EQ(ports.free_from(Pipe::lg, 0, 5), never);
  EXPECT_EQ(ports.free_from(Pipe::tex, 0, 5), never);
  EXPECT_EQ(ports.free_from(Pipe::mio, 0, 5), 5u);
  ports.set_lg_waiting(7);
  EXPECT_EQ(ports.free_from(Pipe::lg, 0, 5), 5u);
}

TEST(SlotPool, NumbersAreUsedAgain) {
  SlotPool<int> pool;
  const auto first = pool.add(1), second = pool.add(2);
  EXPECT_EQ(pool.used(), 2u);
  pool.remove(first);
  EXPECT_EQ(pool.used(), 1u);
  EXPECT_EQ(pool.add(3), first);
  EXPECT_EQ(pool[first], 3);
  EXPECT_EQ(pool[second], 2);
  pool.clear();
  EXPECT_EQ(pool.used(), 0u);
}

TEST(Warp, AWaitForCopiesEndsWhenAllButTheNewestGroupsAreThere) {
  AsyncCopies copies;
  for (int group = 0; group < 3; ++group) {
    copies.issue();
    copies.commit();
  }
  copies.wait_for(1);
  EXPECT_FALSE(copies.wait_is_over());
  copies.complete(0);
  EXPECT_FALSE(copies.wait_is_over());
  copies.complete(1);
  EXPECT_TRUE(copies.wait_is_over()) << "the newest may stay";
  copies.wait_for(0);
  EXPECT_FALSE(copies.wait_is_over());
  copies.complete(2);
  EXPECT_TRUE(copies.wait_is_over());
}

TEST(Warp, AFractionOfACycleIsCarriedOn) {
  Warp warp;
  Cycle sum = 0;
  for (int i = 0; i < 4; ++i) sum += warp.whole_cycles(5 * 256 + 64);  // 5.25 cycles
  EXPECT_EQ(sum, 21u);
}

}  // namespace
}  // namespace simtlab::timing
