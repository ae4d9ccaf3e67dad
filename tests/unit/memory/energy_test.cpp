// Energy from currents: results calculated by hand.
#include "memory/dram/energy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace simtlab::memory::dram {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Eight devices at 1 V and 1 ns: a milliampere in a clock is 8 pJ.
device::Technology plain() {
  device::Technology t;
  t.tck.count = 1000;
  t.organisation.channel_width = 64;
  t.organisation.device_width = 8;
  t.organisation.bank_groups = 2;
  t.organisation.banks_per_group = 4;
  t.timing.burst = 4;
  t.timing.tras = 30;
  t.timing.trc = 40;
  t.timing.trfc = 200;
  t.current = {.vdd = 1.0,
               .idd0 = 60,
               .idd2p = 10,
               .idd2n = 30,
               .idd3p = 20,
               .idd3n = 40,
               .idd4r = 140,
               .idd4w = 120,
               .idd5 = 240,
               .idd6 = 5};
  return t;
}

constexpr double pJ = 1e-12;

TEST(Energy, OfOneCommandFollowsTheFormulas) {
  const EnergyModel m(plain());
  // 60 x 40 - 40 x 30 - 30 x 10 = 900 mA clocks
  EXPECT_DOUBLE_EQ(*m.activation(), 900 * 8 * pJ);
  EXPECT_DOUBLE_EQ(*m.read(), 100 * 4 * 8 * pJ);
  EXPECT_DOUBLE_EQ(*m.write(), 80 * 4 * 8 * pJ);
  EXPECT_DOUBLE_EQ(*m.refresh(), 200.0 * 200 * 8 * pJ);
  EXPECT_DOUBLE_EQ(*m.bank_refresh(), 200.0 * 200 * pJ) << "one of eight banks";
}

TEST(Energy, AddsUpWhatARankDid) {
  const EnergyModel m(plain());
  const RankActivity a{.activations = 2,
                       .reads = 10,
                       .writes = 5,
                       .refreshes = 1,
                       .bank_refreshes = 8,
                       .active_standby = 100,
                       .precharge_standby = 200,
                       .active_power_down = 300,
                       .precharge_power_down = 400,
                       .self_refresh = 1000};
  const Energy e = m.of(a);
  EXPECT_DOUBLE_EQ(*e.activate, 2 * 7200 * pJ);
  EXPECT_DOUBLE_EQ(*e.read, 10 * 3200 * pJ);
  EXPECT_DOUBLE_EQ(*e.write, 5 * 2560 * pJ);
  EXPECT_DOUBLE_EQ(*e.refresh, 2 * 320000 * pJ);
  // 40 x 100 + 30 x 200 + 20 x 300 + 10 x 400 + 5 x 1000 mA clocks
  EXPECT_DOUBLE_EQ(*e.background, 25000 * 8 * pJ);
  EXPECT_DOUBLE_EQ(*e.total(), (14400 + 32000 + 12800 + 640000 + 200000) * pJ);
  EXPECT_EQ(a.clocks(), 2000u);
  EXPECT_NEAR(*m.average_power(a), *e.total() / 2e-6, 1e-12);
  EXPECT_THAT(m.missing(a), IsEmpty());
}

TEST(Energy, OfTwoRanksIsTheSum) {
  const EnergyModel m(plain());
  const RankActivity a{.activations = 1, .reads = 2, .active_standby = 10}, b{.writes = 3, .self_refresh = 7};
  RankActivity both = a;
  both += b;
  Energy sum = m.of(a);
  sum += m.of(b);
  EXPECT_DOUBLE_EQ(*sum.total(), *m.of(both).total());
}

TEST(Energy, CountsTheDevicesOfARank) {
  device::Technology wide = plain();
  wide.organisation.device_width = 4;
  EXPECT_DOUBLE_EQ(*EnergyModel(wide).read(), 2 * *EnergyModel(plain()).read());
}

TEST(Energy, IsUnknownWhereACurrentIsAndNamesIt) {
  device::Technology t = plain();
  t.current.idd4w.reset();
  t.current.idd3p.reset();
  const EnergyModel m(t);
  const RankActivity reads{.activations = 1, .reads = 1, .active_standby = 50};
  EXPECT_TRUE(m.of(reads).total()) << "nothing was written";
  EXPECT_EQ(m.of(reads).write, 0.0);
  RankActivity more = reads;
  more.writes = 1;
  more.active_power_down = 1;
  EXPECT_THAT(m.missing(more), ElementsAre("current.IDD3P", "current.IDD4W"));
  const Energy e = m.of(more);
  EXPECT_TRUE(e.read);
  EXPECT_FALSE(e.write);
  EXPECT_FALSE(e.background);
  EXPECT_FALSE(e.total());
  EXPECT_FALSE(m.average_power(more));
}

TEST(Energy, OfATechnologyWithoutCurrentsIsUnknownNotZero) {
  const EnergyModel m(device::load_technology("hbm3-h100").technology);
  const Energy e = m.of({});
  EXPECT_FALSE(e.activate);
  EXPECT_FALSE(e.background);
  EXPECT_FALSE(e.total());
  EXPECT_THAT(m.missing({}), ElementsAre("current.VDD"));
}

TEST(Energy, NoTimeHasNoPower) { EXPECT_FALSE(EnergyModel(plain()).average_power({.reads = 1})); }

// DDR4-2400, 8 devices at 1.2 V, 0.833 ns, by hand from its file.
TEST(Energy, OfDdr4IsThatOfItsDataSheet) {
  const EnergyModel m(device::load_technology("ddr4-2400").technology);
  // (48 x 56 - 43 x 39 - 34 x 17) mA clocks x 1.2 V x 0.833 ns x 8 = 433 x 7.9968 pJ
  EXPECT_NEAR(*m.activation(), 3462.6 * pJ, 0.1 * pJ);
  EXPECT_NEAR(*m.read(), 92 * 4 * 7.9968 * pJ, 0.1 * pJ);
  EXPECT_NEAR(*m.write(), 80 * 4 * 7.9968 * pJ, 0.1 * pJ);
  EXPECT_NEAR(*m.refresh(), 207 * 420 * 7.9968 * pJ, 1 * pJ);
  // Idle with all banks closed: 34 mA x 1.2 V x 8.
  EXPECT_NEAR(*m.average_power({.precharge_standby = 12345}), 0.3264, 1e-9);
}

TEST(Energy, OfEveryTechnologyIsPositiveWhereItIsKnown) {
  unsigned known = 0;
  for (const std::string& name : device::list_technologies()) {
    const EnergyModel m(device::load_technology(name).technology);
    for (const auto* each : {&m.activation(), &m.read(), &m.write(), &m.refresh()}) {
      if (!*each) continue;
      EXPECT_GE(**each, 0) << name;
      ++known;
    }
  }
  EXPECT_GT(known, 20u);
}

}  // namespace
}  // namespace simtlab::memory::dram
