// What schedulers and page policies are told: every request, every command, every row, in the order of time.
#include <gtest/gtest.h>

#include "dram_drive.h"
#include "witness.h"

namespace simtlab::memory::dram {
namespace {

using device::MemoryController;
using device::QueueStyle;

struct CountedCommands final : CommandSink {
  std::array<std::uint64_t, 12> count{};
  void command(const CommandRecord& record) override { ++count[static_cast<std::size_t>(record.command)]; }
  std::uint64_t of(Command c) const { return count[static_cast<std::size_t>(c)]; }
};

struct Told {
  std::uint64_t requests = 0;  // that reached the memory
  CountedCommands commands;
};

Told drive_witness(QueueStyle style, bool frees_at_activation, bool precharge_all) {
  MemoryController c;
  c.schedule.kind = c.page.policy = "witness";
  c.queues.style = style;
  c.queues.frees_at_activation = frees_at_activation;
  c.upkeep.precharge_all = precharge_all;
  OwnChannels memory(device::load_technology("ddr4-2400").technology, c, 1);
  Told told;
  memory.record(&told.commands);
  const Outcome run = drive(memory, random_accesses(memory, 4000, 40, 1 << 16, 3), 3);
  const ChannelStatistics s = memory.report(run.end + 50000).requests;
  told.requests = s.reads + s.writes - s.forwarded - s.merged_reads - s.merged_writes;
  return told;
}

TEST(DramEvents, EveryRequestCommandAndRowIsToldOfOnceWhateverTheQueues) {
  for (const QueueStyle style : {QueueStyle::split, QueueStyle::unified, QueueStyle::per_bank})
    for (const bool frees : {false, true})
      for (const bool all : {false, true}) {
        SCOPED_TRACE(static_cast<int>(style) * 100 + frees * 10 + all);
        const Told told = drive_witness(style, frees, all);
        const auto& s = witness::scheduler;
        const auto& p = witness::page;
        const CountedCommands& c = told.commands;
        const std::uint64_t columns =
            c.of(Command::rd) + c.of(Command::rda) + c.of(Command::wr) + c.of(Command::wra);
        const std::uint64_t with_access = c.of(Command::rda) + c.of(Command::wra);
        EXPECT_EQ(s.arrived, style == QueueStyle::per_bank ? 0 : told.requests);
        EXPECT_EQ(s.moved, style == QueueStyle::per_bank ? told.requests : 0);
        EXPECT_EQ(p.arrived, told.requests);
        EXPECT_EQ(s.served, told.requests);
        EXPECT_EQ(p.served, told.requests);
        EXPECT_EQ(columns, told.requests);
        EXPECT_EQ(s.opened, c.of(Command::act));
        EXPECT_EQ(p.opened, c.of(Command::act));
        const auto closed = [&](Closing why) { return p.closed[static_cast<std::size_t>(why)]; };
        EXPECT_EQ(closed(Closing::with_access), with_access);
        EXPECT_GT(with_access, 0u);
        EXPECT_GT(closed(Closing::conflict), 0u);
        EXPECT_GT(closed(Closing::unused), 0u);
        EXPECT_EQ(closed(Closing::conflict) + closed(Closing::unused) + closed(Closing::bank_upkeep),
                  c.of(Command::pre));
        EXPECT_EQ(closed(Closing::rank_upkeep) > 0, c.of(Command::prea) > 0);
        EXPECT_EQ(c.of(Command::prea) > 0, all);
        EXPECT_EQ(s.closed, closed(Closing::conflict) + closed(Closing::unused) +
                                closed(Closing::with_access) + closed(Closing::bank_upkeep) +
                                closed(Closing::rank_upkeep));
        EXPECT_EQ(s.turned > 0, style == QueueStyle::split);
        EXPECT_TRUE(s.in_order && p.in_order);
      }
}

// A policy that overrides no event costs no call; one that does is called. What each of the built policies
// listens to.
TEST(DramEvents, APolicyListensToWhatItOverrides) {
  const auto events = [](std::string_view name) { return find_named(scheduler_rules(), name)->events; };
  EXPECT_EQ(events("fcfs"), 0u);
  EXPECT_EQ(events("fr_fcfs_cap"), 0u);
  EXPECT_EQ(events("par_bs"), static_cast<unsigned>(on_arrival) | on_service);
  EXPECT_EQ(events("blacklist"), static_cast<unsigned>(on_service));
  EXPECT_EQ(events("witness"), 63u);
  const auto page_events = [](std::string_view name) {
    return find_named(page_policy_rules(), name)->events;
  };
  EXPECT_EQ(page_events("open"), 0u);
  EXPECT_EQ(page_events("closed"), static_cast<unsigned>(page_closes_with));
  EXPECT_EQ(page_events("adaptive"),
            static_cast<unsigned>(page_close_at) | page_on_opening | page_on_closing);
  EXPECT_EQ(page_events("witness"), 63u);
}

TEST(DramEvents, ParametersAreTheirDefaultsUnlessAControllerGivesThem) {
  const device::PolicyParameter declared[] = {{"a", Unit::none, 1, 9, 4, ""},
                                              {"b", Unit::cycles, 0, 9, 5, ""}};
  const device::ParameterValues given{{"b", 7}, {"of_another_policy", 1}};
  const PolicySetup setup(16, declared, given);
  EXPECT_EQ(setup.banks(), 16u);
  EXPECT_EQ(setup["a"], 4u);
  EXPECT_EQ(setup["b"], 7u);
}

}  // namespace
}  // namespace simtlab::memory::dram
