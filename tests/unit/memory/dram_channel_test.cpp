// The channel as its users see it: latencies and rates that follow from the technology alone, nothing lost or done twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "memory/dram/system.h"

namespace simtlab::memory::dram {
namespace {

using device::MemoryController;
using device::Technology;

std::vector<Technology> technologies() {
  std::vector<Technology> all;
  for (const std::string& name : device::list_technologies()) all.push_back(device::load_technology(name).technology);
  return all;
}

struct Outcome {
  Cycle end = 0;                         // after the last completion
  std::vector<Cycle> latency;            // by request; 0: never done
  std::vector<unsigned> times_done;
};

// Offers one request a clock, or one every `interval`, and waits for all.
Outcome drive(DramSystem& memory, const std::vector<Access>& accesses, Cycle interval = 1) {
  Outcome run;
  run.latency.resize(accesses.size());
  run.times_done.resize(accesses.size());
  std::vector<Cycle> sent(accesses.size());
  std::vector<Completion> done;
  std::size_t finished = 0;
  Cycle now = 0;
  const auto take = [&] {
    for (const Completion& c : done) {
      run.latency[c.tag] = c.at - sent[c.tag];
      ++run.times_done[c.tag];
      run.end = std::max(run.end, c.at + 1);
    }
    finished += done.size();
    done.clear();
  };
  for (const Access& access : accesses) {
    while (!memory.accepts(0, access)) {
      now = std::max(now, memory.next_event() + 1);
      memory.advance(now, done);
      take();
    }
    sent[access.tag] = now;
    memory.add(0, access, now);
    now += interval;
    memory.advance(now, done);
    take();
  }
  while (finished < accesses.size() && memory.next_event() != never) {
    now = memory.next_event() + 1;
    memory.advance(now, done);
    take();
  }
  return run;
}

std::vector<Access> random_accesses(const DramSystem& memory, std::size_t count, unsigned write_share, std::uint64_t lines, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Access> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    made[i].address = random() % lines * memory.access_bytes() % memory.channel_bytes();
    made[i].write = random() % 100 < write_share;
    made[i].source = static_cast<std::uint32_t>(random() % 5);
    made[i].tag = i;
  }
  return made;
}

TEST(DramChannel, UnloadedReadOfAClosedBankTakesActivationLatencyAndBurst) {
  for (const Technology& t : technologies()) {
    DramSystem memory(t, MemoryController{}, 1);
    const Outcome run = drive(memory, {Access{}});
    EXPECT_EQ(run.latency[0], t.timing.trcd_read + t.timing.cl + t.timing.burst) << t.name;
  }
}

TEST(DramChannel, RowConflictsCostOneRowCycleEachPlusRefresh) {
  for (const Technology& t : technologies()) {
    DramSystem memory(t, MemoryController{}, 1);
    std::vector<Access> accesses(2000);
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      Place place;
      place.row = static_cast<std::uint32_t>(i % 64);
      accesses[i] = {memory.mapping().encode_local(place), false, 0, i};
    }
    const Outcome run = drive(memory, accesses);
    // A read holds its row at least until tRCD + tRTP + tRP.
    const double row_cycle = std::max<double>(t.timing.trc, t.timing.trcd_read + t.timing.trtp + t.timing.trp);
    const double each = static_cast<double>(run.end) / static_cast<double>(accesses.size());
    double busy = 0;
    if (t.refresh == device::Refresh::all_bank) busy = (t.timing.trfc + row_cycle) / t.timing.trefi;
    if (t.refresh == device::Refresh::per_bank) busy = (t.timing.trfc_pb + row_cycle) / t.timing.trefi;
    EXPECT_GE(each, row_cycle * 0.999) << t.name;
    EXPECT_LE(each, row_cycle / (1 - busy) * 1.01 + 1) << t.name;
  }
}

TEST(DramChannel, EveryRequestIsDoneOnceAndEveryClockOfTheBusIsAccountedFor) {
  using device::PagePolicyKind;
  using device::QueueStyle;
  using device::SchedulerKind;
  const std::vector<Technology> all = technologies();
  unsigned seed = 0;
  for (const SchedulerKind scheduler : {SchedulerKind::fcfs, SchedulerKind::fr_fcfs, SchedulerKind::fr_fcfs_cap, SchedulerKind::oldest_ready,
                                        SchedulerKind::round_robin, SchedulerKind::par_bs}) {
    for (const QueueStyle style : {QueueStyle::split, QueueStyle::unified, QueueStyle::per_bank}) {
      for (const PagePolicyKind page : {PagePolicyKind::open, PagePolicyKind::closed, PagePolicyKind::timeout, PagePolicyKind::adaptive}) {
        const Technology& t = all[seed % all.size()];
        MemoryController c;
        c.schedule.kind = scheduler;
        c.queues.style = style;
        c.page.policy = page;
        c.queues.frees_at_activation = seed % 3 == 0;
        c.queues.merge_reads = seed % 2 == 0;
        c.upkeep.precharge_all = seed % 5 != 0;
        c.upkeep.blocks_channel = seed % 7 == 0;
        c.upkeep.power_down_after = seed % 4 == 0 ? 60 : 0;
        c.upkeep.self_refresh_after = seed % 8 == 0 ? 400 : 0;
        c.latency.write_done = static_cast<device::WriteDone>(seed % 3);
        DramSystem memory(t, c, 1);
        const std::uint64_t lines = seed % 2 == 0 ? 300 : 1 << 20;
        const Outcome run = drive(memory, random_accesses(memory, 3000, seed % 3 * 30, lines, seed), seed % 11 == 0 ? 200 : 1);
        EXPECT_THAT(run.times_done, testing::Each(1u)) << t.name << " seed " << seed;
        const Report report = memory.report(run.end + 100000);
        EXPECT_EQ(report.bus.total(), report.end * report.buses) << t.name << " seed " << seed;
        EXPECT_EQ(report.bus.data, (report.requests.read_bursts + report.requests.write_bursts) * t.timing.burst);
        ++seed;
      }
    }
  }
}

TEST(DramChannel, SteppingMoreOftenChangesNothing) {
  const Technology t = device::load_technology("ddr4-2400").technology;
  DramSystem memory(t, MemoryController{}, 1);
  const std::vector<Access> accesses = random_accesses(memory, 2000, 30, 1 << 20, 7);
  const Outcome coarse = drive(memory, accesses);
  memory.restart();
  std::vector<Completion> done, all;
  std::size_t next = 0;
  for (Cycle now = 0; all.size() < accesses.size(); ++now) {   // clock by clock
    memory.advance(now, done);
    all.insert(all.end(), done.begin(), done.end());
    done.clear();
    if (next < accesses.size() && memory.accepts(0, accesses[next])) memory.add(0, accesses[next++], now);
  }
  EXPECT_EQ(all.back().at + 1, coarse.end);
}

}  // namespace
}  // namespace simtlab::memory::dram
