// Throughput bound, roofline, and the floor that both share: figures computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "device/catalogue.h"
#include "models/model.h"
#include "models/units.h"

namespace simtlab::models {
namespace {

using testing::HasSubstr;
using C = Counts;

// A machine of two SMs with round numbers: four schedulers, 32 lanes of everything, 100-cycle DRAM of 64
// bytes a cycle.
constexpr std::string_view machine = R"(freq = 1
schedulers = 4
issue_per_cycle = 4
cores_shared = 0
l1_lat = 20
l2_lat = 60
dram_lat = 100
l1_bytes_per_cycle = 128
l2_bytes_per_cycle = 128
mem_peak_bandwidth = 64
dram_bandwidth_measured = 64
line_bytes = 128
active_sms = 2
shared_passes = 1
)";

std::string op_class(const char* name, double insts) {
  return "[class." + std::string(name) + "]\ninsts = " + std::to_string(insts) +
         "\nlatency = 10\nthroughput = 32\n";
}

Counts bound_counts(const std::string& kernel) {
  Inputs in = parse_counts(std::string(machine) + kernel, "c.toml");
  complete(in, nullptr);
  for (const Model* model : {&throughput(), &roofline()}) require(in, *model);
  return in.counts;
}

double bound_value(const Evaluation& e, std::string_view name) {
  const auto found = std::ranges::find(e.terms, name, &Term::name);
  EXPECT_NE(found, e.terms.end()) << "no term " << name;
  return found == e.terms.end() ? std::nan("") : found->value;
}

bool has(const Evaluation& e, std::string_view name) {
  return std::ranges::find(e.terms, name, &Term::name) != e.terms.end();
}

// One warp on each SM, a chain of 100 dependent operations: latency alone.
TEST(Throughput, OneWarpTakesItsChain) {
  const Counts c =
      bound_counts("blocks = 2\nthreads_per_block = 32\nactive_blocks_per_sm = 1\nilp = 1\nmlp = 1\n" +
                   op_class("fp32", 100));
  const Evaluation e = throughput().evaluate(c, {});
  EXPECT_EQ(bound_value(e, "chain_computation"), 1000);
  EXPECT_EQ(bound_value(e, "chain_memory"), 0);
  EXPECT_EQ(bound_value(e, "T_latency"), 1000);
  EXPECT_EQ(bound_value(e, "T_fp32"), 400);  // alone on its scheduler, a warp has a quarter of the lanes
  EXPECT_THAT(e.which_case, HasSubstr("latency"));
  EXPECT_THAT(e.limit, HasSubstr("latency of instructions"));
  EXPECT_DOUBLE_EQ(e.cycles, 1000);
}

TEST(Throughput, ManyWarpsTakeTheLanes) {
  const Counts c =
      bound_counts("blocks = 20\nthreads_per_block = 256\nactive_blocks_per_sm = 5\nilp = 1\nmlp = 1\n" +
                   op_class("fp32", 100));
  const Evaluation e = throughput().evaluate(c, {});
  EXPECT_EQ(bound_value(e, "waves"), 2);
  EXPECT_EQ(bound_value(e, "T_fp32"), 8000);  // 10 blocks of 8 warps on each SM, 32 lanes
  EXPECT_EQ(bound_value(e, "T_issue"), 2000);
  EXPECT_EQ(bound_value(e, "T_latency"), 2000);
  EXPECT_THAT(e.limit, HasSubstr("floating-point lanes"));
  EXPECT_DOUBLE_EQ(e.cycles, 8000 + 0.5 * 1000);  // nothing to do while the first warps wait
  EXPECT_EQ(bound_value(e, "warps_to_hide_latency"), 10);
}

TEST(Throughput, AStreamTakesDramsBandwidthAndOneLatencyMore) {
  const Counts c = bound_counts(
      "blocks = 1000\nthreads_per_block = 128\nactive_blocks_per_sm = 8\nilp = 1\nmlp = 1\nl1_bytes = "
      "1024000\nl2_bytes = 1024000\ndram_bytes = 1024000\n"
      "lines_per_access = 1\nl1_miss_ratio = 1\nl2_miss_ratio = 1\n" +
      op_class("load", 1) + op_class("store", 1));
  const Evaluation e = throughput().evaluate(c, {});
  EXPECT_EQ(bound_value(e, "T_dram"), 16000);
  EXPECT_EQ(bound_value(e, "T_l2"), 8000);
  EXPECT_EQ(bound_value(e, "T_l1"), 4000);  // 500 blocks of 4 warps with two lines each at one a cycle
  EXPECT_EQ(bound_value(e, "access_latency"), 100);
  EXPECT_EQ(bound_value(e, "T_stores"), 60);
  EXPECT_THAT(e.limit, HasSubstr("DRAM"));
  EXPECT_GT(e.cycles, 16000);
}

// 3 blocks for 2 SMs: one SM does two, one after the other.
TEST(Throughput, ThePartlyFilledLastWaveCounts) {
  const std::string rest =
      "threads_per_block = 1024\nactive_blocks_per_sm = 1\nilp = 1\nmlp = 1\n" + op_class("fp32", 100);
  const Evaluation two = throughput().evaluate(bound_counts("blocks = 2\n" + rest), {}),
                   three = throughput().evaluate(bound_counts("blocks = 3\n" + rest), {});
  EXPECT_DOUBLE_EQ(three.cycles, two.cycles + 3200);  // 32 warps of 100 instructions
  EXPECT_TRUE(std::ranges::any_of(
      three.notes, [](const std::string& n) { return n.find("leave SMs idle") != std::string::npos; }));
}

// The way of a warp, where it is known, takes the place of a chain of mean latencies; the longest one ends
// alone.
// One block of 32 warps at a time: the load waits behind the arithmetic of all of them, because they meet.
TEST(Throughput, WarpsThatMeetWaitForTheirBlock) {
  const auto kernel = [](double loads, double barriers) {
    return "blocks = 8\nthreads_per_block = 1024\nactive_blocks_per_sm = 1\nilp = 10\nmlp = 1\nl1_bytes = 1\n"
           "l2_bytes = 1\ndram_bytes = 1\nlines_per_access = 1\nl1_miss_ratio = 1\nl2_miss_ratio = 1\n" +
           op_class("fp32", 100) + op_class("load", loads) + op_class("store", 1) +
           op_class("barrier", barriers);
  };
  const Evaluation apart = throughput().evaluate(bound_counts(kernel(1, 0)), {}),
                   meet = throughput().evaluate(bound_counts(kernel(1, 1)), {}),
                   often = throughput().evaluate(bound_counts(kernel(40, 1)), {});
  EXPECT_EQ(bound_value(apart, "T_block"), 0);
  EXPECT_EQ(bound_value(apart, "T_latency"), 4 * bound_value(apart, "chain_latency") + 3 * 60);
  const double block = 32 * 100 - bound_value(meet, "chain_computation");
  EXPECT_DOUBLE_EQ(bound_value(meet, "T_block"), block);
  EXPECT_DOUBLE_EQ(bound_value(meet, "T_latency"), 4 * (bound_value(meet, "chain_latency") + block) + 3 * 60);
  EXPECT_GT(meet.cycles, apart.cycles);
  // Two phases with twenty round trips each
  EXPECT_DOUBLE_EQ(bound_value(often, "T_block"),
                   (32 * 100 - bound_value(often, "chain_computation")) * 2 / 40);
}

TEST(Throughput, TheWayOfAWarpCountsAndTheLongestOneEndsAlone) {
  const std::string kernel =
      "blocks = 2\nthreads_per_block = 32\nactive_blocks_per_sm = 1\nilp = 1\nmlp = 1\nwarp_latency = 3000\n";
  EXPECT_DOUBLE_EQ(throughput().evaluate(bound_counts(kernel + op_class("fp32", 100)), {}).cycles, 3000);
  const Evaluation e =
      throughput().evaluate(bound_counts(kernel + "warp_spread = 3\n" + op_class("fp32", 100)), {});
  EXPECT_DOUBLE_EQ(e.cycles, 9000);
  EXPECT_THAT(e.limit, HasSubstr("one warp does more"));
}

TEST(Throughput, BankConflictsTakePassesAndUncoalescedAccessesLatency) {
  const std::string kernel =
      "blocks = 100\nthreads_per_block = 256\nactive_blocks_per_sm = 4\nilp = 1\nmlp = 1\n" +
      op_class("shared", 10);
  Counts c = bound_counts(kernel);
  const double once = bound_value(throughput().evaluate(c, {}), "T_shared");
  c.shared_passes = 4;
  EXPECT_DOUBLE_EQ(bound_value(throughput().evaluate(c, {}), "T_shared"), 4 * once);
}

TEST(Throughput, ClassesShareLanesAsTheMachineDoes) {
  Counts c =
      bound_counts("blocks = 100\nthreads_per_block = 256\nactive_blocks_per_sm = 4\nilp = 1\nmlp = 1\n" +
                   op_class("fp32", 10) + op_class("int_alu", 10));
  EXPECT_TRUE(has(throughput().evaluate(c, {}), "T_integer"));
  const double apart = bound_value(throughput().evaluate(c, {}), "T_fp32");
  c.cores_shared = 1;
  EXPECT_DOUBLE_EQ(bound_value(throughput().evaluate(c, {}), "T_cores"), 2 * apart);
  c.mix.insts[class_index("int_mul")] = 10;
  c.mix.throughput[class_index("int_mul")] = 8;  // under half the rate of fp32: units of their own
  EXPECT_DOUBLE_EQ(bound_value(throughput().evaluate(c, {}), "T_integer-slow"), 4 * apart);
}

TEST(Throughput, ConversionsOf64BitsTakeTheFp64UnitsWhereTheyAreAsFast) {
  Counts c =
      bound_counts("blocks = 100\nthreads_per_block = 256\nactive_blocks_per_sm = 4\nilp = 1\nmlp = 1\n" +
                   op_class("fp64", 10) + op_class("convert64", 10));
  const double both = bound_value(throughput().evaluate(c, {}), "T_fp64");
  EXPECT_FALSE(has(throughput().evaluate(c, {}), "T_special"));
  c.mix.throughput[class_index("convert64")] = 16;
  EXPECT_DOUBLE_EQ(bound_value(throughput().evaluate(c, {}), "T_fp64"), both / 2);
  EXPECT_DOUBLE_EQ(bound_value(throughput().evaluate(c, {}), "T_special"), both);
}

TEST(Throughput, IsFiniteAndNoShorterThanItsFloorWhateverTheCounts) {
  Counts base = bound_counts(
      "blocks = 1000\nthreads_per_block = 128\nactive_blocks_per_sm = 8\nilp = 1\nmlp = 1\nl1_bytes = "
      "1024000\nl2_bytes = 1024000\ndram_bytes = 1024000\n"
      "lines_per_access = 1\nl1_miss_ratio = 1\nl2_miss_ratio = 1\n" +
      op_class("load", 1) + op_class("fp32", 5));
  for (double blocks : {1.0, 2.0, 7.0, 1000.0})
    for (double bytes : {0.0, 1e3, 1e9})
      for (double insts : {0.0, 1.0, 1e6})
        for (double miss : {0.0, 0.5, 1.0}) {
          Counts c = base;
          c.blocks = blocks;
          c.active_sms = std::min(blocks, 2.0);
          c.total_warps = 4 * blocks;
          c.dram_bytes = bytes;
          c.mix.insts[class_index("fp32")] = insts;
          c.insts = insts + 1;
          c.l1_miss_ratio = miss;
          for (const Model* model : {&throughput(), &roofline()}) {
            const Prediction p = predict(*model, c, {});
            ASSERT_TRUE(std::isfinite(p.cycles) && p.cycles > 0);
            ASSERT_FALSE(p.below_floor) << model->name() << " " << p.evaluation.cycles << " " << p.floor;
          }
        }
}

// A scheduler that issues two instructions a cycle takes them from one warp.
TEST(Throughput, DualIssueNeedsIndependentInstructions) {
  Counts c =
      bound_counts("blocks = 20\nthreads_per_block = 256\nactive_blocks_per_sm = 5\nilp = 1\nmlp = 1\n" +
                   op_class("fp32", 100));
  c.schedulers = 1;
  c.issue_per_cycle = 2;
  EXPECT_EQ(bound_value(throughput().evaluate(c, {}), "T_issue"), 8000);
  c.ilp = 1.5;
  EXPECT_NEAR(bound_value(throughput().evaluate(c, {}), "T_issue"), 8000 / (2 - 1 / 1.5), 1e-9);
  c.ilp = 1000;
  EXPECT_NEAR(bound_value(throughput().evaluate(c, {}), "T_issue"), 4000, 4);
  EXPECT_EQ(bound_value(roofline().evaluate(c, {}), "T_issue"), 4000);
}

TEST(Throughput, SensitivitiesNameClasses) {
  const Counts c =
      bound_counts("blocks = 20\nthreads_per_block = 256\nactive_blocks_per_sm = 5\nilp = 1\nmlp = 1\n" +
                   op_class("fp32", 100));
  const Prediction p = predict(throughput(), c, {});
  const auto found = std::ranges::find(p.sensitivity, "class.fp32.throughput", &Sensitivity::parameter);
  ASSERT_NE(found, p.sensitivity.end());
  EXPECT_LT(found->change, -0.05);
}

// Two names of one quantity change together: the floor has the one, the model the other.
TEST(Sensitivity, ChangesBothNamesOfAQuantity) {
  const device::Device gpu = device::load_device("v100").device;
  Inputs in = parse_counts(
      "blocks = 10000\nthreads_per_block = 256\nactive_blocks_per_sm = 8\nilp = 1\nmlp = 1\nl1_bytes = "
      "1e9\nl2_bytes = 1e9\ndram_bytes = 1e9\nlines_per_access = 1\n" +
          op_class("load", 2),
      "c.toml");
  complete(in, &gpu);
  const Prediction p = predict(mwp_cwp(), in.counts, {});
  EXPECT_EQ(p.floor_by, "bandwidth");
  const auto found = std::ranges::find(p.sensitivity, "mem_bandwidth", &Sensitivity::parameter);
  ASSERT_NE(found, p.sensitivity.end());
  EXPECT_NEAR(found->change, 1 / 1.1 - 1, 0.02);
}

TEST(Roofline, HasIntensitiesAndTheCeilingThatBinds) {
  const Counts c = bound_counts(
      "blocks = 1000\nthreads_per_block = 128\nactive_blocks_per_sm = 8\nilp = 1\nmlp = 1\nl1_bytes = "
      "1024000\nl2_bytes = 512000\ndram_bytes = 256000\nflops = 512000\n"
      "lines_per_access = 1\nl1_miss_ratio = 0.5\nl2_miss_ratio = 0.5\n" +
      op_class("load", 2) + op_class("fp32", 2));
  const Evaluation e = roofline().evaluate(c, {});
  EXPECT_DOUBLE_EQ(bound_value(e, "intensity_dram"), 2);
  EXPECT_DOUBLE_EQ(bound_value(e, "intensity_l1"), 0.5);
  EXPECT_FALSE(has(e, "intensity_shared"));
  EXPECT_DOUBLE_EQ(bound_value(e, "T_dram"), 4000);
  EXPECT_DOUBLE_EQ(bound_value(e, "T_l1"), 4000);
  EXPECT_DOUBLE_EQ(bound_value(e, "T_fp32"), 4000);
  EXPECT_DOUBLE_EQ(bound_value(e, "roof_dram"), 128);  // GFLOP/s: 2 operations a byte, 64 GB/s
  EXPECT_DOUBLE_EQ(e.cycles, 4000);
  EXPECT_EQ(e.which_case, "T_fp32 is the longest");
  EXPECT_EQ(e.limit, "the floating-point lanes");
}

// Integer beside floating point: the old floor of MWP-CWP would ask for twice the cycles.
TEST(Floor, IsThatOfTheMixWhereItIsKnown) {
  Inputs in =
      parse_counts(std::string(machine) +
                       "issue_cycles = 1\nmem_ld = 100\ndeparture_del_coal = 1\ndeparture_del_uncoal = 1\n"
                       "blocks = 100\nthreads_per_block = 256\nactive_blocks_per_sm = 4\nilp = 1\nmlp = 1\n" +
                       op_class("fp32", 50) + op_class("int_alu", 50),
                   "c.toml");
  complete(in, nullptr);
  require(in, mwp_cwp());
  const Prediction p = predict(mwp_cwp(), in.counts, {});
  EXPECT_DOUBLE_EQ(p.floor, 50 * 8 * 50);
  EXPECT_DOUBLE_EQ(p.evaluation.compute_floor, 2 * p.floor);
}

TEST(Units, WithoutAMixOnlyTrafficIsKnown) {
  Counts c;
  EXPECT_TRUE(units_of(c, 100, 1).empty());
  c.total_warps = 10;
  c.active_sms = 2;
  c.dram_bytes = 1000;
  c.freq = 2;
  const auto units = units_of(c, 100, 1);
  ASSERT_EQ(units.size(), 1u);
  EXPECT_EQ(units[0].grid_cycles, 20);
  EXPECT_EQ(longest(units), &units[0]);
  EXPECT_EQ(longest(units, true), nullptr);
}

TEST(Devices, AKernelAndADeviceFileSufficeForEveryModel) {
  const std::string kernel =
      "blocks = 1000\nthreads_per_block = 256\nactive_blocks_per_sm = 2\nilp = 1.5\nmlp = 2\nl1_bytes = "
      "1e8\nl2_bytes = 5e7\ndram_bytes = 2e7\nflops = 1e7\n"
      "lines_per_access = 2\nl1_miss_ratio = 0.5\nl2_miss_ratio = 0.5\nshared_passes = "
      "1.5\n[class.load]\ninsts = 10\n[class.store]\ninsts = 2\n[class.fp32]\ninsts = 20\n"
      "[class.int_alu]\ninsts = 20\n[class.shared]\ninsts = 4\n[class.barrier]\ninsts = "
      "1\n[class.control]\ninsts = 3\n[class.sfu]\ninsts = 1\n";
  for (const std::string& name : device::list_devices()) {
    const device::Device gpu = device::load_device(name).device;
    Inputs in = parse_counts(kernel, "c.toml");
    complete(in, &gpu);
    for (const Model* model : models()) {
      EXPECT_TRUE(missing(in, *model).empty())
          << name << ", " << model->name() << ": " << missing(in, *model).front();
      if (!missing(in, *model).empty()) continue;
      const Prediction p = predict(*model, in.counts, {});
      EXPECT_TRUE(std::isfinite(p.cycles)) << name << ", " << model->name();
      EXPECT_GE(p.cycles, p.floor * (1 - 1e-9)) << name << ", " << model->name();
    }
  }
}

}  // namespace
}  // namespace simtlab::models
