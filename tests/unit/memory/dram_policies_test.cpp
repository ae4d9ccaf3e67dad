// What each policy of the controller is for, seen in the order of answers and in the commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "memory/dram/own_channels.h"

namespace simtlab::memory::dram {
namespace {

using device::MemoryController;
using device::QueueStyle;
using device::Technology;
using testing::ElementsAre;

struct Issued final : CommandSink {
  std::vector<CommandRecord> all;
  void command(const CommandRecord& record) override { all.push_back(record); }
  std::size_t count(Command c) const {
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const CommandRecord& r) { return r.command == c; }));
  }
};

class DramPolicies : public testing::Test {
 protected:
  Technology technology = device::load_technology("ddr4-2400").technology;
  MemoryController controller;

  OwnChannels make() { return OwnChannels(technology, controller, 1); }
  static Access at(const OwnChannels& memory, std::uint32_t bank, std::uint32_t row, std::uint32_t column,
                   std::uint64_t tag, bool write = false, std::uint32_t source = 0) {
    Place place;
    place.bank = static_cast<std::uint8_t>(bank);
    place.row = row;
    place.column = column;
    return {memory.mapping().encode_local(place), write, source, tag};
  }
  // All added in cycle 0; tags in the order of completion.
  static std::vector<std::uint64_t> order(OwnChannels& memory, const std::vector<Access>& accesses) {
    for (const Access& a : accesses) memory.add(0, a, 0);
    std::vector<Completion> done;
    while (memory.next_event() != never) memory.advance(memory.next_event() + 1, done);
    std::vector<std::uint64_t> tags;
    for (const Completion& c : done) tags.push_back(c.tag);
    return tags;
  }
};

TEST_F(DramPolicies, FcfsKeepsTheOrderOfArrival) {
  controller.schedule.kind = "fcfs";
  OwnChannels memory = make();
  EXPECT_THAT(order(memory, {at(memory, 0, 1, 0, 0), at(memory, 0, 2, 0, 1), at(memory, 1, 1, 0, 2),
                             at(memory, 0, 1, 1, 3)}),
              ElementsAre(0, 1, 2, 3));
}

TEST_F(DramPolicies, FrFcfsServesTheOpenRowFirst) {
  controller.schedule.kind = "fr_fcfs";
  OwnChannels memory = make();
  EXPECT_THAT(order(memory, {at(memory, 0, 1, 0, 0), at(memory, 0, 2, 0, 1), at(memory, 0, 1, 1, 2),
                             at(memory, 0, 1, 2, 3)}),
              ElementsAre(0, 2, 3, 1));
}

TEST_F(DramPolicies, ACapLetsTheOlderRequestHaveItsRow) {
  controller.schedule.kind = "fr_fcfs_cap";
  controller.schedule.parameters["row_hit_cap"] = 2;
  OwnChannels memory = make();
  EXPECT_THAT(order(memory, {at(memory, 0, 1, 0, 0), at(memory, 0, 2, 0, 1), at(memory, 0, 1, 1, 2),
                             at(memory, 0, 1, 2, 3)}),
              ElementsAre(0, 2, 1, 3));
}

// Source 0 keeps a row of a bank busy; source 1 asks for another row of it now and then.
double worst_latency_of_the_modest(OwnChannels& memory) {
  std::vector<Completion> done;
  std::vector<Cycle> sent;
  Cycle now = 0, worst = 0;
  std::uint32_t column = 0;
  for (std::uint64_t tag = 0; tag < 4000; ++tag) {
    const bool modest = tag % 200 == 150;
    Place place;
    place.row = modest ? 7 : 1;
    place.column = modest ? 0 : column++ % 128;
    const Access access{memory.mapping().encode_local(place), false, modest ? 1u : 0u, tag};
    while (!memory.accepts(0, access)) memory.advance(now = std::max(now, memory.next_event() + 1), done);
    sent.push_back(now);
    memory.add(0, access, now);
    memory.advance(++now, done);
  }
  while (memory.next_event() != never) memory.advance(memory.next_event() + 1, done);
  for (const Completion& c : done)
    if (c.tag % 200 == 150) worst = std::max(worst, c.at - sent[c.tag]);
  return static_cast<double>(worst);
}

TEST_F(DramPolicies, BatchesProtectTheModestSource) {
  controller.schedule.kind = "fr_fcfs";
  OwnChannels greedy = make();
  controller.schedule.kind = "par_bs";
  OwnChannels fair = make();
  EXPECT_LT(worst_latency_of_the_modest(fair), worst_latency_of_the_modest(greedy) / 3);
}

TEST_F(DramPolicies, ABlacklistProtectsTheModestSource) {
  controller.schedule.kind = "fr_fcfs";
  OwnChannels greedy = make();
  controller.schedule.kind = "blacklist";
  OwnChannels fair = make();
  controller.schedule.parameters["streak"] = 1024;  // no source ever steps back
  OwnChannels lenient = make();
  const double worst = worst_latency_of_the_modest(greedy);
  EXPECT_LT(worst_latency_of_the_modest(fair), worst / 3);
  EXPECT_GT(worst_latency_of_the_modest(lenient), worst / 2);
}

TEST_F(DramPolicies, AHistoryOfConflictsClosesRowsEarlyInItsBankAlone) {
  controller.page.policy = "history";
  controller.page.parameters["conflicts"] = 2;
  OwnChannels memory = make();
  Issued commands;
  memory.record(&commands);
  std::vector<Completion> done;
  Cycle now = 0;
  const auto access = [&](std::uint32_t bank, std::uint32_t row, std::uint32_t column) {
    memory.add(0, at(memory, bank, row, column, now), now);
    memory.advance(now += 300, done);
  };
  for (std::uint32_t row = 0; row < 3; ++row) access(0, row, 0);  // two conflicts
  // The third row, whose conflict was the second
  EXPECT_EQ(commands.count(Command::rda), 1u);
  for (std::uint32_t row = 3; row < 10; ++row) access(0, row, 0);
  EXPECT_EQ(commands.count(Command::pre), 2u);
  for (std::uint32_t column = 0; column < 8; ++column) access(1, 5, column);
  EXPECT_EQ(commands.count(Command::rda), 8u);  // none of the other bank
  // Rows that come back: open pages again.
  for (std::uint32_t column = 0; column < 8; ++column) access(0, 9, column);
  EXPECT_EQ(commands.count(Command::rda), 8u);
}

TEST_F(DramPolicies, ClosedPagesAreClosedByTheirLastAccess) {
  controller.page.policy = "closed";
  OwnChannels memory = make();
  Issued commands;
  memory.record(&commands);
  order(memory, {at(memory, 0, 1, 0, 0), at(memory, 0, 1, 1, 1), at(memory, 0, 2, 0, 2)});
  EXPECT_EQ(commands.count(Command::rd), 1u);
  EXPECT_EQ(commands.count(Command::rda), 2u);
  EXPECT_EQ(commands.count(Command::pre) + commands.count(Command::prea), 0u);
  EXPECT_EQ(memory.report(5000).requests.row_conflicts, 0u);
}

TEST_F(DramPolicies, ATimeoutClosesAnIdleRow) {
  controller.page.policy = "timeout";
  controller.page.parameters["timeout"] = 300;
  OwnChannels memory = make();
  Issued commands;
  memory.record(&commands);
  std::vector<Completion> done;
  memory.add(0, at(memory, 0, 1, 0, 0), 0);
  memory.advance(2000, done);
  ASSERT_EQ(commands.count(Command::pre), 1u);
  EXPECT_EQ(commands.all.back().at, technology.timing.trcd_read + 300);
  memory.add(0, at(memory, 0, 2, 0, 1), 2000);
  memory.advance(4000, done);
  EXPECT_EQ(memory.report(4000).requests.row_misses, 2u);
}

TEST_F(DramPolicies, AQueuedWriteAnswersAReadAndAbsorbsAWrite) {
  OwnChannels memory = make();
  // Reads first, so that the write waits in its queue.
  EXPECT_THAT(order(memory, {at(memory, 0, 1, 0, 0), at(memory, 1, 1, 0, 1, true), at(memory, 1, 1, 0, 2),
                             at(memory, 1, 1, 0, 3, true)}),
              testing::UnorderedElementsAre(0, 1, 2, 3));
  const Report report = memory.report(5000);
  EXPECT_EQ(report.requests.forwarded, 1u);
  EXPECT_EQ(report.requests.merged_writes, 1u);
  EXPECT_EQ(report.requests.read_bursts, 1u);
  EXPECT_EQ(report.requests.write_bursts, 1u);
}

TEST_F(DramPolicies, NoWritePassesAnOlderReadOfItsAddress) {
  unsigned seed = 0;
  for (const QueueStyle style : {QueueStyle::split, QueueStyle::unified, QueueStyle::per_bank})
    for (const char* kind : {"fr_fcfs", "oldest_ready", "round_robin", "par_bs"}) {
      controller.queues.style = style;
      controller.schedule.kind = kind;
      controller.queues.high = 0.1;  // writes are drained early
      controller.queues.low = 0.05;
      OwnChannels memory = make();
      Issued commands;
      memory.record(&commands);
      std::mt19937 random(++seed);
      std::vector<Completion> done;
      Cycle now = 0;
      std::uint64_t tag = 0;
      // A read and at once a write of the same line, each line once: its RD must come before its WR.
      for (std::uint32_t line = 0; line < 400; ++line) {
        for (const bool write : {false, true}) {
          const Access access = at(memory, line % 4, line * 7 % 5 + line / 100 * 5, line % 100, tag++, write);
          while (!memory.accepts(0, access))
            memory.advance(now = std::max(now, memory.next_event() + 1), done);
          memory.add(0, access, now);
          memory.advance(now += random() % 3, done);
        }
      }
      while (memory.next_event() != never) memory.advance(memory.next_event() + 1, done);
      std::map<std::tuple<int, std::uint32_t, std::uint32_t>, bool> read;
      for (const CommandRecord& c : commands.all) {
        if (!is_column(c.command)) continue;
        bool& was_read = read[{c.bank, c.row, c.column}];
        if (is_read(c.command))
          was_read = true;
        else
          EXPECT_TRUE(was_read) << "style " << static_cast<int>(style) << ", scheduler " << kind;
      }
      EXPECT_EQ(done.size(), tag);
    }
}

TEST_F(DramPolicies, PowerDownCostsItsExitAndIsAccountedFor) {
  technology.refresh = device::Refresh::none;
  controller.upkeep.power_down_after = 100;
  OwnChannels memory = make();
  std::vector<Completion> done;
  memory.advance(1000, done);
  memory.add(0, at(memory, 0, 1, 0, 0), 1000);
  memory.advance(2000, done);
  ASSERT_EQ(done.size(), 1u);
  const auto& t = technology.timing;
  EXPECT_EQ(done[0].at, 1000 + t.txp + t.trcd_read + t.cl + t.burst);
  const Report report = memory.report(2000);
  ASSERT_EQ(report.ranks.size(), 1u);
  EXPECT_EQ(report.ranks[0].precharge_power_down, 900u);  // from 100 on
  EXPECT_GT(report.ranks[0].active_power_down, 700u);
}

}  // namespace
}  // namespace simtlab::memory::dram
