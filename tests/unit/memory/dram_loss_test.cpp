// The account of lost bandwidth names the limit that a workload was made to meet.
#include <gtest/gtest.h>

#include <random>

#include "memory/dram/own_channels.h"

namespace simtlab::memory::dram {
namespace {

using device::MemoryController;
using device::Technology;

class DramLoss : public testing::Test {
 protected:
  Technology technology = device::load_technology("ddr4-2400").technology;
  MemoryController controller;

  DramLoss() {
    technology.refresh = device::Refresh::none;
    controller.schedule.kind = "fr_fcfs";
  }
  // Places of access i; the share of the bus lost to a reason.
  template <class Make>
  std::function<double(Loss)> run(Make&& make, std::size_t count = 4000) {
    OwnChannels memory(technology, controller, 1);
    std::vector<Completion> done;
    Cycle now = 0;
    for (std::size_t i = 0; i < count; ++i) {
      Access access;
      access.tag = i;
      access.address = memory.mapping().encode_local(make(i, access));
      while (!memory.accepts(0, access)) memory.advance(now = std::max(now, memory.next_event() + 1), done);
      memory.add(0, access, now);
      memory.advance(++now, done);
    }
    while (memory.next_event() != never) memory.advance(now = memory.next_event() + 1, done);
    const BusTime bus = memory.report(now).bus;
    EXPECT_EQ(bus.total(), now);
    return [bus, now](Loss reason) {
      return static_cast<double>(bus.lost[static_cast<unsigned>(reason)]) / static_cast<double>(now);
    };
  }
};

TEST_F(DramLoss, OneBankGroupIsLimitedByTheDistanceOfItsColumnCommands) {
  const auto lost = run([](std::size_t i, Access&) {
    Place p;
    p.column = static_cast<std::uint32_t>(i % 128);
    return p;
  });
  EXPECT_NEAR(lost(Loss::bank_group), 1 - 4.0 / 6, 0.01);  // tCCD_L 6, burst 4
}

TEST_F(DramLoss, RandomRowsOfManyBanksAreLimitedByActivations) {
  std::mt19937 random(1);
  const auto lost = run([&](std::size_t, Access&) {
    Place p;
    p.group = random() % 4;
    p.bank = random() % 4;
    p.row = random() % 65536;
    return p;
  });
  EXPECT_NEAR(lost(Loss::activation), 1 - 4 * 4.0 / 26, 0.04);  // tFAW 26: four bursts of 4 in it
  EXPECT_LT(lost(Loss::row_miss), 0.04);
}

TEST_F(DramLoss, RowsOfOneBankAreRowMisses) {
  const auto lost = run([](std::size_t i, Access&) {
    Place p;
    p.row = static_cast<std::uint32_t>(i);
    return p;
  });
  EXPECT_NEAR(lost(Loss::row_miss), 1 - 6.0 / 56, 0.01);  // tRC 56, less the tCCD_L that counts first
}

TEST_F(DramLoss, WritesAmongReadsTurnTheBusRound) {
  controller.queues.style = device::QueueStyle::unified;
  controller.schedule.kind = "fcfs";
  const auto lost = run([](std::size_t i, Access& access) {
    Place p;
    p.group = i % 4;
    p.column = static_cast<std::uint32_t>(i / 4 % 128);
    access.write = i % 2 == 1;
    return p;
  });
  EXPECT_GT(lost(Loss::turnaround), 0.5);
  EXPECT_LT(lost(Loss::idle) + lost(Loss::bank_group), 0.01);
}

TEST_F(DramLoss, TwoRanksInTurnLeaveAGapBetweenTheirBursts) {
  technology.organisation.ranks = 2;
  technology.timing.trtrs = 2;
  controller.schedule.kind = "fcfs";
  const auto lost = run([](std::size_t i, Access&) {
    Place p;
    p.rank = i % 2;
    p.group = i / 2 % 4;
    p.column = static_cast<std::uint32_t>(i / 8 % 128);
    return p;
  });
  EXPECT_NEAR(lost(Loss::rank), 2.0 / 6, 0.01);
}

TEST_F(DramLoss, RefreshTakesItsShare) {
  technology.refresh = device::Refresh::all_bank;
  const auto lost = run(
      [](std::size_t i, Access&) {
        Place p;
        p.group = i % 4;
        p.column = static_cast<std::uint32_t>(i / 4 % 128);
        return p;
      },
      20000);
  EXPECT_NEAR(lost(Loss::refresh), 420.0 / 9360, 0.01);  // tRFC, tREFI
}

TEST_F(DramLoss, WithoutWorkTheBusIsIdle) {
  OwnChannels memory(technology, controller, 1);
  std::vector<Completion> done;
  for (Cycle now = 0; now < 1000000; now += 10000) {
    memory.advance(now, done);
    memory.add(0, Access{}, now);
  }
  memory.advance(1000000, done);
  const BusTime bus = memory.report(1000000).bus;
  EXPECT_EQ(bus.data, 100u * 4);
  EXPECT_GT(bus.lost[static_cast<unsigned>(Loss::idle)], 990000u);
}

}  // namespace
}  // namespace simtlab::memory::dram
