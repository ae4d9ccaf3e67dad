#include "timing/unit_ports.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "timing/slot_pool.h"
#include "timing/tag_banks.h"
#include "timing/warp.h"

namespace simtlab::timing {
namespace {

device::Device device_in_turns(std::uint32_t turns) {
  device::Device device;
  device.sm.issue_turns = turns;
  device.sm.schedulers = 4;
  return device;
}

constexpr FixedCycles fixed_cycles(Cycle n) { return n << memory::fixed_bits; }

TEST(UnitPorts, AUnitTakesInstructionsSixteenCyclesAhead) {
  UnitPorts ports(device_in_turns(1));
  ports.begin();
  EXPECT_EQ(ports.book_lg(0, fixed_cycles(10), 0, 100), 100u);
  EXPECT_EQ(ports.free_from(Pipe::lg, 1, 100), 100u);
  EXPECT_EQ(ports.book_lg(1, fixed_cycles(10), 0, 100), 110u);
  EXPECT_EQ(ports.free_from(Pipe::lg, 0, 100), 104u) << "booked until 120";
  EXPECT_EQ(ports.free_from(Pipe::tex, 0, 100), 104u) << "the same port";
  EXPECT_EQ(ports.free_from(Pipe::mio, 0, 100), 100u) << "another port";
}

TEST(UnitPorts, ArrivalsAtBarriersAreCountedOneAfterAnother) {
  UnitPorts ports(device_in_turns(1));
  ports.begin();
  EXPECT_EQ(ports.count_arrival(fixed_cycles(2), 10), 12u);
  EXPECT_EQ(ports.count_arrival(fixed_cycles(2), 10), 14u);
  EXPECT_EQ(ports.count_arrival(fixed_cycles(2), 20), 22u);
  EXPECT_EQ(ports.free_from(Pipe::mio, 0, 10), 10u) << "not the port of shared memory";
}

TEST(UnitPorts, WhoUsedAUnitLastComesLast) {
  UnitPorts ports(device_in_turns(1));
  ports.begin();
  EXPECT_EQ(ports.first_scheduler(), 0u);
  ports.book_mio(2, fixed_cycles(1), 10);
  EXPECT_EQ(ports.first_scheduler(), 3u);
}

TEST(UnitPorts, OfSchedulersWithTurnsTheLastUserLeavesTheOthersTheirs) {
  UnitPorts ports(device_in_turns(2));
  ports.begin();
  ports.book_lg(0, fixed_cycles(17), 0, 100);  // until 117
  EXPECT_EQ(ports.free_from(Pipe::lg, 1, 100), 101u);
  EXPECT_EQ(ports.free_from(Pipe::lg, 0, 100), 102u);
}

TEST(UnitPorts, AFullQueueOfTheLoadStoreUnitThrottlesItsPipelines) {
  UnitPorts ports(device_in_turns(1));
  ports.begin();
  ports.set_lg_waiting(8);
  EXPECT_EQ(ports.free_from(Pipe::lg, 0, 5), never);
  EXPECT_EQ(ports.free_from(Pipe::tex, 0, 5), never);
  EXPECT_EQ(ports.free_from(Pipe::mio, 0, 5), 5u);
  ports.set_lg_waiting(7);
  EXPECT_EQ(ports.free_from(Pipe::lg, 0, 5), 5u);
}

TEST(UnitPorts, AQueueOfASchedulerHoldsItsInstructionsUntilTheirOperandsAreRead) {
  device::Device device = device_in_turns(1);
  device.sm.memory_queue =
      5;  // GA10x (Huerta et al. 2025, table 1): five, the sixth in cycle 13, then one in four
  device.sm.address_interval = 4;
  UnitPorts ports(device);
  ports.begin();
  Cycle now = 0;
  std::vector<Cycle> issued, late;
  for (int i = 0; i < 8; ++i) {
    now = std::max(now + 1, ports.free_from(Pipe::lg, 0, now + 1));
    issued.push_back(now);
    late.push_back(ports.enter(0, 11, now));
  }
  EXPECT_EQ(issued, (std::vector<Cycle>{1, 2, 3, 4, 5, 12, 16, 20}));
  EXPECT_EQ(late, (std::vector<Cycle>{0, 3, 6, 9, 12, 9, 9, 9}));
  EXPECT_EQ(ports.free_from(Pipe::lg, 1, 13), 13u) << "another scheduler";
}

TEST(UnitPorts, OneUnitOfDoublePrecisionServesTheSchedulersInTurnWithAQueueForEach) {
  device::Device device = device_in_turns(1);
  EXPECT_FALSE(UnitPorts(device).serves(Pipe::fp64));
  device.sm.fp64_queue = 3;
  UnitPorts ports(device);
  ports.begin();
  ASSERT_TRUE(ports.serves(Pipe::fp64));
  std::vector<Cycle> issued, started;
  Cycle now = 0;
  for (int i = 0; i < 6; ++i) {
    now = std::max(now + 1, ports.free_from(Pipe::fp64, 0, now + 1));
    issued.push_back(now);
    started.push_back(ports.book_fp64(0, fixed_cycles(16), now));
  }
  EXPECT_EQ(started, (std::vector<Cycle>{1, 17, 33, 49, 65, 81})) << "a warp alone has the whole unit";
  EXPECT_EQ(issued, (std::vector<Cycle>{1, 2, 3, 4, 17, 33})) << "three wait in the queue";
  EXPECT_EQ(ports.free_from(Pipe::fp64, 1, 34), 34u) << "another scheduler has a queue of its own";
  EXPECT_EQ(ports.book_fp64(1, fixed_cycles(16), 34), 97u);
}

TEST(UnitPorts, TagsAndDataAreStagesAndSharedMemoryMayUseThatOfData) {
  for (const bool shares : {false, true}) {
    device::Device device = device_in_turns(1);
    device.l1_shares_data_path = shares;
    UnitPorts ports(device);
    ports.begin();
    EXPECT_EQ(ports.book_lg(0, fixed_cycles(2), fixed_cycles(8), 100), 100u);
    EXPECT_EQ(ports.book_lg(0, fixed_cycles(2), fixed_cycles(8), 100), 108u) << "the data of the one before";
    EXPECT_EQ(ports.book_mio(0, fixed_cycles(1), 100), shares ? 116u : 100u);
  }
}

TEST(TagBanks, NeighboursAndStridesOfPowersOfTwoFallInDifferentBanks) {
  const TagBanks banks(4);
  for (const std::uint64_t stride : {1u, 2u, 4u, 8u, 16u, 64u, 1024u}) {
    std::set<unsigned> seen;
    for (std::uint64_t i = 0; i < 4; ++i) seen.insert(banks.bank(4096 + i * stride));
    EXPECT_GE(seen.size(), 2u) << stride;
  }
  stream::Segments segments;
  for (std::uint64_t line = 0; line < 8; ++line) segments.items[segments.count++].line = line;
  EXPECT_EQ(banks.cycles(segments), 2u) << "eight lines in four banks";
  EXPECT_FALSE(TagBanks(0).there());
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
