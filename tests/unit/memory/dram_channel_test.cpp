// The channel as its users see it: latencies and rates that follow from the technology alone, nothing lost or
// done twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dram_drive.h"

namespace simtlab::memory::dram {
namespace {

using device::MemoryController;
using device::Technology;

TEST(DramChannel, EveryRequestIsDoneOnceAndEveryClockOfTheBusIsAccountedFor) {
  using device::QueueStyle;
  const std::vector<Technology> all = technologies();
  unsigned seed = 0;
  for (const auto& [scheduler, scheduler_rule] : scheduler_rules()) {
    for (const QueueStyle style : {QueueStyle::split, QueueStyle::unified, QueueStyle::per_bank}) {
      for (const auto& [page, page_rule] : page_policy_rules()) {
        const Technology& t = all[seed % all.size()];
        MemoryController c;
        c.schedule.kind = scheduler;
        c.queues.style = style;
        c.page.policy = page;
        c.queues.frees_at_activation = seed % 3 == 0;
        c.queues.merge_reads = seed % 2 == 0;
        c.queues.turn_ahead = seed % 5 * 8;
        c.upkeep.precharge_all = seed % 5 != 0;
        c.upkeep.blocks_channel = seed % 7 == 0;
        c.upkeep.power_down_after = seed % 4 == 0 ? 60 : 0;
        c.upkeep.self_refresh_after = seed % 8 == 0 ? 400 : 0;
        c.latency.write_done = static_cast<device::WriteDone>(seed % 3);
        OwnChannels memory(t, c, 1);
        const std::uint64_t lines = seed % 2 == 0 ? 300 : 1 << 20;
        const Outcome run = drive(memory, random_accesses(memory, 3000, seed % 3 * 30, lines, seed),
                                  seed % 11 == 0 ? 200 : 1);
        EXPECT_THAT(run.times_done, testing::Each(1u)) << t.name << " seed " << seed;
        const Report report = memory.report(run.end + 100000);
        EXPECT_EQ(report.bus.total(), report.end * report.buses) << t.name << " seed " << seed;
        EXPECT_EQ(report.bus.data,
                  (report.requests.read_bursts + report.requests.write_bursts) * t.timing.burst);
        ++seed;
      }
    }
  }
}

TEST(DramChannel, SteppingMoreOftenChangesNothing) {
  const Technology t = device::load_technology("ddr4-2400").technology;
  OwnChannels memory(t, MemoryController{}, 1);
  const std::vector<Access> accesses = random_accesses(memory, 2000, 30, 1 << 20, 7);
  const Outcome coarse = drive(memory, accesses);
  memory.restart();
  std::vector<Completion> done, all;
  std::size_t next = 0;
  for (Cycle now = 0; all.size() < accesses.size(); ++now) {  // clock by clock
    memory.advance(now, done);
    all.insert(all.end(), done.begin(), done.end());
    done.clear();
    if (next < accesses.size() && memory.accepts(0, accesses[next])) memory.add(0, accesses[next++], now);
  }
  EXPECT_EQ(all.back().at + 1, coarse.end);
}

}  // namespace
}  // namespace simtlab::memory::dram
