// Resios: the equations at every point that the thesis or its figures give (ids of data/measured/resios.csv),
// the queues by hand, the switches.
#include "models/resios.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "device/catalogue.h"
#include "models/model.h"
#include "models/resios_queue.h"

namespace simtlab::models {
namespace {

using testing::HasSubstr;
using C = Counts;

struct Point {
  const char* id;
  double value, published;
};

TEST(ResiosFormulas, EveryPublishedPoint) {
  using namespace resios;
  const auto madd = [](double tlp) { return delay(22, penalty(32, 16), tlp); };
  const auto global = [](double lines) { return global_delay(500, thesis_max_p, 128, lines, 64); };
  const auto shared = [](double degree) { return shared_delay(36, thesis_max_p, degree); };
  const Point points[] = {
      {"R038", transfer_bandwidth(1000, 5000), 5000},
      {"R039", transfer_bandwidth(2, 5000) - transfer_bandwidth(1, 5000), 100},
      {"R040", transfer_bandwidth(0, 5000), 692},
      {"R041", transfer_time(1, 5000), 1.2626},
      {"R042", transfer_time(4, 5000), 3.663},
      {"R043", transfer_time(10, 5000), 5.9102},
      {"R044", transfer_time(43.08, 5000), 8.616},
      {"R045", transfer_time(100, 5000), 20},
      {"R062", madd(1), 22},
      {"R063", madd(2), 11},
      {"R064", madd(4), 5.5},
      {"R065", madd(8), 2.75},
      {"R066", madd(11), 2},
      {"R067", madd(12), 2.1667},
      {"R068", madd(16), 2.125},
      {"R069", madd(32), 2.0625},
      {"R070", penalty(32, 16), 2},
      {"R071", bytes_per_cycle(86.4, 1.35), 64},
      {"R072", global(1), 516},
      {"R073", global(2), 532},
      {"R074", global(4), 564},
      {"R075", global(8), 628},
      {"R076", global(16), 756},
      {"R077", global(32), 1012},
      {"R078", shared(0), 37},
      {"R079", shared(1), 38},
      {"R080", shared(2), 39},
      {"R081", shared(4), 41},
      {"R082", shared(8), 45},
      {"R083", shared(16), 53},
      {"R084", shared(32), 69},
      {"R085", thesis_max_p, 8},
      {"R086", bytes_per_cycle(86.4, 7), 12.34},  // GB/s of an SM
      {"R094", warps_for_latency(22, 4, 1), 88},
      {"R094", warps_for_latency(500, 4, 10), 200},
      {"R095", ilp(3, 2), 1.5},
  };
  for (const Point& p : points)
    EXPECT_NEAR(p.value, p.published, 5e-5 * p.published + 5e-3 * (p.published == 12.34)) << p.id;
}

// Table 3.1 of the thesis is where the device file's figures come from: warps_for_peak of the units with the
// rate and latency there.
TEST(ResiosFormulas, MaxPOfTheMeasuredUnits) {
  EXPECT_EQ(resios::most_parallel(16, resios::penalty(32, 32)), 16);  // R001 to R003: add
  EXPECT_EQ(resios::most_parallel(22, resios::penalty(32, 16)), 11);  // R007 to R009: madd
  EXPECT_EQ(resios::most_parallel(18, resios::penalty(32, 32)), 18);  // R019 to R021: fmadd; 16 measured
}

TEST(ResiosFormulas, TheDeviceFileHasTheParametersOfTheThesis) {
  const device::Device gpu = device::load_device("gtx460").device;
  EXPECT_EQ(gpu.host.launch_overhead_ns, 4000);           // R037
  EXPECT_EQ(gpu.host.copy_bandwidth_h2d, 5e9);            // R038
  EXPECT_EQ(gpu.shared.latency, 36);                      // R052
  EXPECT_EQ(gpu.l1.latency, 36);                          // R051
  EXPECT_EQ(gpu.l2.latency, 300);                         // R053
  EXPECT_EQ(gpu.dram.latency, 500);                       // R054
  EXPECT_NEAR(gpu.dram.bandwidth, 86.4e9, 1);             // R056
  EXPECT_EQ(gpu.sm.count, 7u);                            // R097
  EXPECT_EQ(gpu.latency[class_index("int_alu")], 16);     // R001
  EXPECT_EQ(gpu.latency[class_index("int_mul")], 20);     // R004
  EXPECT_EQ(gpu.throughput[class_index("int_mul")], 16);  // R005
  EXPECT_EQ(gpu.latency[class_index("fp32")], 18);        // R019
  EXPECT_EQ(gpu.latency[class_index("int_div")], 317);    // R010
  EXPECT_EQ(gpu.latency[class_index("fp32_div")], 711);   // R025
  EXPECT_EQ(gpu.latency[class_index("fp32_sqrt")], 269);  // R028
}

resios::Work one_station(double alone, double busy) {
  resios::Work w;
  w.stations = {{"unit", alone, busy, 0}};
  return w;
}

TEST(ResiosQueue, OneWarpTakesItsLatency) {
  resios::Work w = one_station(22, 2);
  EXPECT_DOUBLE_EQ(simulate(w).cycles, 22);
  w.rounds = 5;
  EXPECT_DOUBLE_EQ(simulate(w).cycles, 110);
  w.blocks = 3;  // one after the other
  EXPECT_NEAR(simulate(w).cycles, 330, 1e-9);
}

// Delays of equation 4.5 without its rest of the latency: 22 / TLP up to eleven warps, then the unit's two
// cycles.
TEST(ResiosQueue, ManyWarpsTakeTheUnitsPace) {
  resios::Work w = one_station(22, 2);
  w.rounds = 1000;
  for (const double warps : {1.0, 2.0, 4.0, 8.0, 11.0, 12.0, 16.0, 32.0}) {
    w.warps_per_block = warps;
    EXPECT_NEAR(simulate(w).cycles / (1000 * warps), std::max(22 / warps, 2.0), 0.1) << warps;
  }
}

TEST(ResiosQueue, BatchesOfAMemoryThatTakesEightAtATime) {
  resios::Work w;
  w.stations = {{"memory", 516, 0, 8}};
  w.warps_per_block = 8;
  EXPECT_DOUBLE_EQ(simulate(w).cycles, 516);
  w.warps_per_block = 16;
  EXPECT_DOUBLE_EQ(simulate(w).cycles, 1032);
}

TEST(ResiosQueue, TwoUnitsOverlapForDifferentWarps) {
  resios::Work w;
  w.stations = {{"memory", 100, 10, 0}, {"cores", 100, 10, 0}};
  w.warps_per_block = 2;
  w.rounds = 10;
  const double two = simulate(w).cycles;
  EXPECT_DOUBLE_EQ(two, 2000 + 10);  // the second warp comes 10 cycles behind
  w.warps_per_block = 40;
  const double forty = simulate(w).cycles;
  EXPECT_GE(forty, 10 * 40 * 10);        // one unit's work
  EXPECT_LT(forty, 10 * 40 * 10 + 600);  // not both, one after the other
}

TEST(ResiosQueue, BarriersMakeWarpsOfABlockWait) {
  resios::Work w;
  w.stations = {{"memory", 100, 10, 0}, {"cores", 100, 10, 0}};
  w.warps_per_block = 20;
  w.rounds = 10;
  const double free = simulate(w).cycles;
  w.barriers = 10;
  w.barrier_cycles = 30;
  EXPECT_GE(simulate(w).cycles, free + 10 * 30);
  w.barriers = 1000;  // more than rounds: each round has a hundred
  EXPECT_GE(simulate(w).cycles, 1000 * 30);
}

// What is staged between two barriers comes first, at once, and nobody computes meanwhile.
TEST(ResiosQueue, StagedAccessesDoNotOverlapTheirOwnBlock) {
  resios::Work w;
  w.stations = {{"memory", 100, 10, 0, true}, {"cores", 100, 10, 0}};
  w.rounds = 4;
  w.barriers = 2;
  w.barrier_cycles = 5;
  EXPECT_DOUBLE_EQ(simulate(w).cycles, 4 * 100 + 4 * 100 + 2 * 5);
  w.warps_per_block = 10;
  // Twice: the last warp enters memory after 9 * 20 cycles and has it for 200; two rounds on the cores
  // follow.
  EXPECT_GE(simulate(w).cycles, 2 * (180 + 200 + 5 + 200));
}

TEST(ResiosQueue, LongGridsAreExtrapolatedFromTheirFirstWaves) {
  resios::Work w;
  w.stations = {{"memory", 100, 10, 0}, {"cores", 60, 7, 0}};
  w.warps_per_block = 4;
  w.resident = 3;
  w.rounds = 3;
  w.blocks = 6;  // simulated in full
  const resios::Outcome full = simulate(w);
  EXPECT_FALSE(full.extrapolated);
  w.blocks = 1e9;
  const resios::Outcome many = simulate(w);
  EXPECT_TRUE(many.extrapolated);
  EXPECT_NEAR(many.cycles / 1e9, full.cycles / 6, 0.1 * full.cycles / 6);
  EXPECT_EQ(many.busy.size(), 2u);
}

TEST(ResiosQueue, NothingToDoTakesNoTime) {
  resios::Work w;
  w.blocks = 5;
  w.rounds = 3;
  EXPECT_EQ(simulate(w).cycles, 0);
  w.block_launch = 20;
  EXPECT_EQ(simulate(w).cycles, 100);
}

constexpr std::string_view kernel = R"(blocks = 70
threads_per_block = 256
active_blocks_per_sm = 6
ilp = 1
mlp = 1
l1_bytes = 2293760
l2_bytes = 2293760
dram_bytes = 2293760
lines_per_access = 1
l1_miss_ratio = 1
l2_miss_ratio = 1
shared_passes = 1
active_lanes = 32
flops = 3584000
[class.load]
insts = 16
[class.store]
insts = 16
[class.fp32]
insts = 100
[class.control]
insts = 16
)";

Counts resios_counts(const std::string& more = "") {
  const device::Device gpu = device::load_device("gtx460").device;
  std::string text(kernel);
  if (more.starts_with("active_lanes")) text.erase(text.find("active_lanes"), 18);
  Inputs in = parse_counts(more + text, "c.toml");
  complete(in, &gpu);
  require(in, resios_model());
  return in.counts;
}

double resios_value(const Evaluation& e, std::string_view name) {
  const auto found = std::ranges::find(e.terms, name, &Term::name);
  EXPECT_NE(found, e.terms.end()) << "no term " << name;
  return found == e.terms.end() ? std::nan("") : found->value;
}

TEST(Resios, EverySimplificationOfTheThesisCosts) {
  const Counts c = resios_counts();
  EXPECT_NEAR(c.fma_insts, 100, 1e-9);  // 3584000 operations of 70 * 8 warps of 32
  const double plain = predict(resios_model(), c, {}).cycles;
  Options split, eight;
  split.resios_fma = false;
  eight.resios_max_p = 8;
  for (const Options& o : {split, eight, Options::resios_as_in_the_thesis()}) {
    const Prediction p = predict(resios_model(), c, o);
    EXPECT_GT(p.cycles, plain);
    EXPECT_TRUE(std::ranges::any_of(p.evaluation.notes, [](const std::string& n) {
      return n.starts_with("Simplifications of the thesis");
    }));
  }
}

TEST(Resios, MultiplicationsAloneHaveNothingFused) {
  EXPECT_NEAR(resios_counts("active_lanes = 30\nfma_insts = 7\n").fma_insts, 7, 0);  // given
  const device::Device gpu = device::load_device("gtx460").device;
  std::string text(kernel);
  text.replace(text.find("flops = 3584000"), 15, "flops = 1792000");
  text.replace(text.find("active_lanes = 32"), 17, "active_lanes = 30");
  Inputs in = parse_counts(text, "c.toml");
  complete(in, &gpu);
  EXPECT_EQ(in.counts.fma_insts, 0);
}

TEST(Resios, BandwidthOfAnSmDependsOnTheOthersOnlyWithoutTheThesis) {
  Counts c = resios_counts();
  c.active_sms = c.blocks = 1;
  c.total_warps = 8;
  Options thesis;
  thesis.resios_per_sm = true;
  EXPECT_NEAR(resios_value(resios_model().evaluate(c, thesis), "bandwidth_SM"), 0.95 * 64 / 7, 1e-9);
  EXPECT_NEAR(resios_value(resios_model().evaluate(c, {}), "bandwidth_SM"), 0.95 * 64, 1e-9);
}

TEST(Resios, TheTotalHasLaunchCopiesAndContext) {
  const Counts c = resios_counts("context_init = 65\nh2d_bytes = 1e7\nd2h_bytes = 0\n");
  const Prediction own = predict(resios_model(), c, {});
  EXPECT_NEAR(own.evaluation.total_ns, own.time_ns + 65e6 + 4e3 + 1e7 / 5 + 1e4, 1);
  Options thesis;
  thesis.resios_transfer = true;
  const Prediction fit = predict(resios_model(), c, thesis);
  EXPECT_NEAR(fit.evaluation.total_ns, fit.time_ns + 65e6 + 4e3 + 5.9102e6, 1e3);  // R043
}

TEST(Resios, EdgeCasesStayFinite) {
  const Counts base = resios_counts();
  const Options thesis = Options::resios_as_in_the_thesis();
  for (const Options& o : {Options(), thesis})
    for (double loads : {0.0, 0.5, 1e6})
      for (double blocks : {1.0, 8.0, 1e9})
        for (double barriers : {0.0, 1.0, 1e6}) {
          Counts c = base;
          c.blocks = blocks;
          c.active_sms = std::min(blocks, 7.0);
          c.total_warps = 8 * blocks;
          c.chain_accesses = c.mem_insts = loads;
          c.mix.insts[class_index("load")] = loads;
          c.mix.insts[class_index("store")] = 0;
          c.mix.insts[class_index("barrier")] = c.sync_insts = barriers;
          const Prediction p = predict(resios_model(), c, o);
          ASSERT_TRUE(std::isfinite(p.cycles)) << loads << " " << blocks << " " << barriers;
          ASSERT_GE(p.cycles, p.floor * (1 - 1e-9));
        }
}

}  // namespace
}  // namespace simtlab::models
