// Time without requests is skipped in periods of its refreshes. A channel whose commands are recorded goes
// through every one of them: both have to come out the same.
#include <gtest/gtest.h>

#include "dram_drive.h"

namespace simtlab::memory::dram {
namespace {

using device::MemoryController;
using device::Technology;

struct Commands final : CommandSink {
  std::uint64_t refreshes = 0;
  void command(const CommandRecord& record) override {
    refreshes += record.command == Command::ref || record.command == Command::refpb;
  }
};

std::vector<std::uint64_t> numbers(const Report& r) {
  const ChannelStatistics& s = r.requests;
  std::vector<std::uint64_t> all = {s.reads,         s.writes,           s.forwarded,     s.merged_reads,
                                    s.merged_writes, s.read_bursts,      s.write_bursts,  s.row_hits,
                                    s.row_misses,    s.row_conflicts,    s.latency_queue, s.latency_row,
                                    s.latency_bus,   s.latency_transfer, r.bus.data,      r.end};
  all.insert(all.end(), r.bus.lost.begin(), r.bus.lost.end());
  for (const RankActivity& a : r.ranks)
    for (const std::uint64_t n :
         {a.activations, a.reads, a.writes, a.refreshes, a.bank_refreshes, a.active_standby,
          a.precharge_standby, a.active_power_down, a.precharge_power_down, a.self_refresh})
      all.push_back(n);
  for (const BankActivity& b : r.banks) all.insert(all.end(), {b.activations, b.reads, b.writes});
  return all;
}

// Bursts of accesses with gaps of any length between them; what was done when, and the counts on the way.
std::vector<std::uint64_t> work(OwnChannels& memory, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> seen;
  std::vector<Completion> done;
  Cycle now = 0;
  const auto advance = [&](Cycle to) {
    memory.advance(now = to, done);
    for (const Completion& c : done) seen.insert(seen.end(), {c.at, c.tag});
    done.clear();
  };
  for (unsigned burst = 0; burst < 8; ++burst) {
    for (const Access& access : random_accesses(memory, 1 + random() % 40, 30, 1 << 18, seed + burst)) {
      while (!memory.accepts(0, access)) advance(std::max(now, memory.next_event()) + 1);
      memory.add(0, access, now);
      advance(now + 1 + random() % 3);
    }
    while (memory.next_event() != never) advance(memory.next_event() + 1);
    now += random() % (std::uint64_t{1} << random() % 21);  // up to a million clocks
    if (random() % 2 == 0) {
      const std::vector<std::uint64_t> report = numbers(memory.report(now));
      seen.insert(seen.end(), report.begin(), report.end());
    }
  }
  const std::vector<std::uint64_t> report = numbers(memory.report(now + 500000));
  seen.insert(seen.end(), report.begin(), report.end());
  return seen;
}

class DramIdle : public testing::TestWithParam<std::string> {};

TEST_P(DramIdle, SkippingRefreshesComesOutAsGoingThroughThem) {
  const Technology plain = device::load_technology(GetParam()).technology;
  for (unsigned seed = 0; seed < 24; ++seed) {
    Technology t = plain;
    MemoryController c;
    c.page.policy = seed % 3 == 0 ? "timeout" : seed % 3 == 1 ? "open" : "closed";
    if (seed % 3 == 0) c.page.parameters["timeout"] = seed % 2 == 0 ? 200 : 20000;
    c.upkeep.precharge_all = seed % 5 != 0;
    c.upkeep.staggered = seed % 2 == 0;
    c.upkeep.blocks_channel = seed % 7 == 0;
    c.upkeep.power_down_after = seed % 4 == 1 ? 60 : seed % 4 == 2 ? 30000 : 0;
    c.upkeep.self_refresh_after = seed % 8 == 2 ? 400 : seed % 8 == 5 ? 100000 : 0;
    if (t.organisation.pseudo_channels * t.organisation.ranks == 1 && seed % 3 == 1) t.organisation.ranks = 2;
    if (seed % 4 == 3 && t.timing.trfc_pb != 0) t.refresh = device::Refresh::per_bank;
    OwnChannels skipped(t, c, 1), one_by_one(t, c, 1);
    Commands commands;
    one_by_one.record(&commands);
    EXPECT_EQ(work(skipped, seed), work(one_by_one, seed)) << "seed " << seed;
    if (t.refresh != device::Refresh::none && c.upkeep.self_refresh_after == 0) {
      EXPECT_GT(commands.refreshes, 0u) << "seed " << seed;
    }
  }
}

std::string name_of_idle(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, DramIdle, testing::ValuesIn(device::list_technologies()), name_of_idle);

}  // namespace
}  // namespace simtlab::memory::dram
