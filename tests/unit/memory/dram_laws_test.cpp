// What every technology costs by its numbers alone: laws in closed form that any controller has to meet, for
// each file of data/dram under the default controller.
#include <gtest/gtest.h>

#include "dram_drive.h"

namespace simtlab::memory::dram {
namespace {

using device::MemoryController;
using device::Refresh;
using device::Technology;

class DramLaws : public testing::TestWithParam<std::string> {
 protected:
  static MemoryController with(const char* scheduler) {
    MemoryController c = device::load_memory_controller("default").controller;
    c.schedule.kind = scheduler;
    return c;
  }
  static MemoryController usual() { return device::load_memory_controller("default").controller; }
  // Without what happens from outside, so that a law is an equation.
  Technology unrefreshed() const {
    Technology t = technology_;
    t.refresh = Refresh::none;
    return t;
  }

  const Technology technology_ = device::load_technology(GetParam()).technology;
};

Access access_of(const OwnChannels& memory, const Place& place, std::size_t tag, bool write = false) {
  return {memory.mapping().encode_local(place), write, 0, tag};
}

// Share of the time in which refreshes hold a bank back, each longer by `extra`.
double refresh_share(const Technology& t, double extra = 0) {
  if (t.refresh == Refresh::all_bank) return (t.timing.trfc + extra) / t.timing.trefi;
  if (t.refresh == Refresh::per_bank) return (t.timing.trfc_pb + extra) / t.timing.trefi;
  return 0;
}

// A bank that is used once for each row: until the next activation.
double row_cycle(const Technology& t, bool write) {
  const auto& c = t.timing;
  const std::uint32_t used = write ? c.trcd_write + c.cwl + c.burst + c.twr : c.trcd_read + c.trtp;
  return std::max(c.trc, std::max(c.tras, used) + c.trp);
}

// Clocks of a data bus for each access of a stream over all bank groups. The technology may forbid what its
// data bus could do.
double stream_distance(const Technology& t, bool write) {
  const auto& c = t.timing;
  const double groups = t.organisation.bank_groups;
  const double accesses_of_a_row = t.organisation.row_bytes / t.burst_bytes();
  return std::max({double(c.burst), double(c.tccd_s), (write ? c.write_distance() : c.tccd_l) / groups,
                   c.trrd_s / accesses_of_a_row, c.tfaw / 4.0 / accesses_of_a_row,
                   double(t.column_clocks) * t.organisation.pseudo_channels});
}

std::vector<Access> stream(const OwnChannels& memory, std::size_t count, bool write) {
  std::vector<Access> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = {i * memory.access_bytes(), write, 0, i};
  return made;
}

TEST_P(DramLaws, UnloadedReads) {
  const Technology t = unrefreshed();
  const auto& c = t.timing;
  OwnChannels memory(t, usual(), 1);
  std::vector<Access> accesses;
  for (const auto& [row, column] : {std::pair{0u, 0u}, {0u, 1u}, {1u, 0u}}) {
    Place place;
    place.row = row;
    place.column = column;
    accesses.push_back(access_of(memory, place, accesses.size()));
  }
  const Outcome run = drive(memory, accesses, 100000);
  EXPECT_EQ(run.latency[0], c.trcd_read + c.cl + c.burst) << "closed bank";
  EXPECT_EQ(run.latency[1], c.cl + c.burst) << "open row";
  EXPECT_EQ(run.latency[2], c.trp + c.trcd_read + c.cl + c.burst) << "another row";
}

TEST_P(DramLaws, UnloadedWrites) {
  const auto& c = technology_.timing;
  OwnChannels memory(technology_, usual(), 1);
  EXPECT_EQ(drive(memory, {Access{.write = true}}).latency[0], c.trcd_write + c.cwl + c.burst);
}

TEST_P(DramLaws, RowConflictsCostOneRowCycleEachPlusRefresh) {
  for (const bool write : {false, true}) {
    OwnChannels memory(technology_, usual(), 1);
    std::vector<Access> accesses(2000);
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      Place place;
      place.row = static_cast<std::uint32_t>(i);
      accesses[i] = access_of(memory, place, i, write);
    }
    const Outcome run = drive(memory, accesses);
    const double each = static_cast<double>(run.end) / static_cast<double>(accesses.size());
    const double cycle = row_cycle(technology_, write), busy = refresh_share(technology_, cycle);
    EXPECT_GE(each, cycle * 0.999) << (write ? "writes" : "reads");
    EXPECT_LE(each, cycle / (1 - busy) * 1.01 + 1) << (write ? "writes" : "reads");
  }
}

TEST_P(DramLaws, AccessesOfAnOpenRowKeepTheDistanceOfABankGroup) {
  const Technology t = unrefreshed();
  const auto& c = t.timing;
  for (const bool write : {false, true}) {
    OwnChannels memory(t, usual(), 1);
    std::vector<Access> accesses(t.organisation.row_bytes / t.burst_bytes());
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      Place place;
      place.column = static_cast<std::uint32_t>(i);
      accesses[i] = access_of(memory, place, i, write);
    }
    const Outcome run = drive(memory, accesses);
    const Cycle first = write ? c.trcd_write + c.cwl : c.trcd_read + c.cl;
    const Cycle distance = std::max({write ? c.write_distance() : c.tccd_l, c.burst, t.column_clocks});
    EXPECT_EQ(run.end - 1, first + (accesses.size() - 1) * distance + c.burst)
        << (write ? "writes" : "reads");
  }
}

// A refresh of all banks stops a stream. One of a bank stops the default controller where the stream has come
// to it, which uses one bank of each group at a time; behind the longer queues of the other the banks around
// it go on.
TEST_P(DramLaws, StreamsReachNineTenthsOfThePeakLessRefresh) {
  for (const char* controller : {"default", "gpu"}) {
    double refresh = refresh_share(technology_);
    if (technology_.refresh == Refresh::per_bank)
      refresh *= std::string(controller) == "gpu" ? 0 : technology_.organisation.bank_groups;
    for (const bool write : {false, true}) {
      OwnChannels memory(technology_, device::load_memory_controller(controller).controller, 1);
      const Outcome run = drive(memory, stream(memory, 30000, write));
      const Report report = memory.report(run.end);
      const double reached = static_cast<double>(report.bus.data) / static_cast<double>(report.bus.total());
      const double bound = technology_.timing.burst / stream_distance(technology_, write);
      EXPECT_LE(reached, bound) << controller << (write ? ", writes" : ", reads");
      EXPECT_GE(reached, 0.9 * (bound - refresh)) << controller << (write ? ", writes" : ", reads");
    }
  }
}

TEST_P(DramLaws, NoTechnologyOfTheCatalogueForbidsItsPeak) {
  EXPECT_EQ(stream_distance(technology_, false), technology_.timing.burst);
}

TEST_P(DramLaws, RandomReadsAreNeverFasterThanAStreamNorThanActivationsAllow) {
  constexpr std::size_t count = 20000;
  OwnChannels memory(technology_, usual(), 1);
  const Cycle streamed = drive(memory, stream(memory, count, false)).end;
  memory.restart();
  const Cycle scattered = drive(memory, random_accesses(memory, count, 0, 1ull << 40, 3)).end;
  EXPECT_GE(scattered, streamed);
  const Report report = memory.report(scattered);
  double activations = 0;
  for (const RankActivity& rank : report.ranks)
    activations = std::max(activations, static_cast<double>(rank.activations));
  const double each = std::max<double>(technology_.timing.tfaw / 4.0, technology_.timing.trrd_s);
  EXPECT_GE(scattered, (activations - 4) * each);
  double all = 0;
  for (const RankActivity& rank : report.ranks) all += static_cast<double>(rank.activations);
  EXPECT_GE(scattered, (all - 1) * technology_.act_clocks) << "the command bus";
}

// In order of arrival: one rank and the other in turn.
TEST_P(DramLaws, TwoRanksShareTheDataBus) {
  Technology t = unrefreshed();
  t.organisation.ranks = 2;
  t.timing.trtrs = std::max(t.timing.trtrs, 1u);
  const auto& c = t.timing;
  for (const bool write : {false, true}) {
    OwnChannels memory(t, with("fcfs"), 1);
    const std::size_t count = 2 * (t.organisation.row_bytes / t.burst_bytes());
    std::vector<Access> accesses(count);
    for (std::size_t i = 0; i < count; ++i) {
      Place place;
      place.rank = static_cast<std::uint8_t>(i % 2);
      place.column = static_cast<std::uint32_t>(i / 2);
      accesses[i] = access_of(memory, place, i, write);
    }
    const Outcome run = drive(memory, accesses);
    // Reads leave a gap on the bus, writes come from one driver; every other access is in the same bank
    // again.
    const Cycle pair =
        std::max<Cycle>(2 * (c.burst + (write ? 0 : c.trtrs)), write ? c.write_distance() : c.tccd_l);
    const Cycle steady = (count / 2 - 2) * pair;
    EXPECT_GE(run.end, steady);
    EXPECT_LE(run.end, steady + 4 * pair + 2 * (c.trcd_read + c.trcd_write + c.cl + c.cwl))
        << (write ? "writes" : "reads");
  }
}

// Turning the bus round costs CL + burst + gap - CWL one way and CWL + burst + tWTR the other.
TEST_P(DramLaws, AlternatingReadsAndWritesPayBothTurnarounds) {
  const Technology t = unrefreshed();
  const auto& c = t.timing;
  MemoryController in_order = with("fcfs");
  in_order.queues.style = device::QueueStyle::unified;
  OwnChannels memory(t, in_order, 1);
  std::vector<Access> accesses(t.organisation.row_bytes / t.burst_bytes());
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    Place place;
    place.column = static_cast<std::uint32_t>(i);
    accesses[i] = access_of(memory, place, i, i % 2 == 1);
  }
  const Outcome run = drive(memory, accesses);
  const Cycle there = static_cast<Cycle>(std::max<std::int64_t>(c.read_to_write(), 1));
  const Cycle back = c.cwl + c.burst + c.twtr_l;
  const Cycle pairs = accesses.size() / 2;
  const Cycle last_write = c.trcd_read + pairs * there + (pairs - 1) * back;
  const Cycle moved = c.trcd_write > c.trcd_read + there ? c.trcd_write - c.trcd_read - there : 0;
  EXPECT_EQ(run.end - 1, last_write + moved + c.cwl + c.burst);
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, DramLaws, testing::ValuesIn(device::list_technologies()), name_of);

}  // namespace
}  // namespace simtlab::memory::dram
