// Resios: the equations at every point that the thesis or its figures give (ids of data/measured/resios.csv),
// algorithm 5.1 by hand, the model through counts, its parameters.
#include "models/resios.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "device/catalogue.h"
#include "models/model.h"
#include "models/resios_simulation.h"

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
  const auto madd = [](double tlp) { return delay(22, penalty(32, 16), 11, tlp); };
  // The figure has the penalty at max_p already.
  const auto global = [](double c) { return 8 * memory_delay(500, global_penalty(128, c, 64), 7.9, 8); };
  const auto shared = [](double c) { return 8 * memory_delay(36, shared_penalty(32, 4, 32, c, 32), 7.9, 8); };
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

// ---- algorithm 5.1

// `cycles` at any TLP, or shared by the warps that are ready.
resios::Step step(bool memory, double cycles, bool divided = false) {
  resios::Step s{memory, {}};
  for (int tlp = 1; tlp <= 64; ++tlp) s.delay.push_back(divided ? cycles / tlp : cycles);
  return s;
}

resios::Work work_of(std::vector<resios::Step> steps, std::size_t warps, std::size_t blocks = 1,
                     std::size_t resident = 1) {
  resios::Work w;
  w.steps = std::move(steps);
  w.warps_per_block = warps, w.blocks = blocks, w.resident_blocks = resident;
  return w;
}

// Equation 4.4: the sum over the warps, each at the TLP with which all began.
TEST(ResiosSimulation, WarpsThatAreReadyTogetherShareTheLatency) {
  for (const std::size_t warps : {1u, 2u, 11u, 32u}) {
    const resios::Outcome out = simulate(work_of({step(false, 22, true)}, warps));
    EXPECT_NEAR(out.cycles, 22, 1e-9) << warps;
    EXPECT_NEAR(out.computing, 22, 1e-9);
  }
  // Blocks one after the other: nobody shares
  EXPECT_NEAR(simulate(work_of({step(false, 22, true)}, 1, 3, 1)).cycles, 66, 1e-9);
  EXPECT_NEAR(simulate(work_of({step(false, 22, true)}, 1, 3, 3)).cycles, 22, 1e-9);
}

// Figure 5.6: two warps are ready, and the delay of the one in the queue is halved once, not again when it
// runs alone.
TEST(ResiosSimulation, ADelayIsAdjustedOnce) {
  EXPECT_NEAR(simulate(work_of({step(false, 10, true), step(false, 10, true)}, 2)).cycles, 20, 1e-9);
}

// Figure 5.3: one warp computes while another is at memory.
TEST(ResiosSimulation, UnitsOfTheTwoKindsWorkSideBySide) {
  const std::vector<resios::Step> trace = {step(false, 10), step(true, 30)};
  const resios::Outcome out = simulate(work_of(trace, 3));
  EXPECT_NEAR(out.cycles, 10 + 3 * 30, 1e-9);
  EXPECT_NEAR(out.computing, 30, 1e-9);
  // The first 20 cycles of memory are beside computation.
  EXPECT_EQ(out.idle[0], 0);
  EXPECT_NEAR(out.idle[1], 70, 1e-9);
  EXPECT_NEAR(out.in_unit[1], 90, 1e-9);
}

TEST(ResiosSimulation, MoreUnitsTakeMoreWarps) {
  resios::Work w = work_of({step(false, 10), step(true, 30)}, 3);
  w.compute_units = 3;
  EXPECT_NEAR(simulate(w).cycles, 10 + 90, 1e-9);
  w.memory_units = 3;
  EXPECT_NEAR(simulate(w).cycles, 40, 1e-9);
  w.compute_units = 1;
  EXPECT_NEAR(simulate(w).cycles, 30 + 30, 1e-9);
}

// Who waits behind a long instruction of others has its short one late, and they are at memory early.
TEST(ResiosSimulation, TheOrderOfTheQueueDecides) {
  resios::Work w = work_of({step(false, 10), step(true, 5), step(false, 1)}, 4);
  std::map<resios::Order, double> cycles;
  for (std::size_t order = 0; order < std::size(resios::order_names); ++order) {
    w.order = static_cast<resios::Order>(order);
    cycles[w.order] = simulate(w).cycles;
  }
  EXPECT_NEAR(cycles[resios::Order::fifo], 46, 1e-9);
  EXPECT_NEAR(cycles[resios::Order::longest], 46, 1e-9);
  EXPECT_NEAR(cycles[resios::Order::lifo], 48, 1e-9);
  EXPECT_NEAR(cycles[resios::Order::shortest], 48, 1e-9);
  EXPECT_NEAR(cycles[resios::Order::oldest], 48, 1e-9);
}

TEST(ResiosSimulation, NothingToDoTakesNoTime) {
  EXPECT_EQ(simulate(work_of({}, 4, 5, 2)).cycles, 0);
  EXPECT_EQ(simulate(work_of({step(false, 0), step(true, 0)}, 4, 5, 2)).cycles, 0);
}

// ---- the model

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

Counts counts_of(const std::string& text) {
  const device::Device gpu = device::load_device("gtx460").device;
  Inputs in = parse_counts(text, "c.toml");
  complete(in, &gpu);
  require(in, resios_model());
  return in.counts;
}
Counts resios_counts(const std::string& more = "") { return counts_of(more + std::string(kernel)); }

Prediction predicted(const Counts& c, const std::string& parameters = "") {
  return predict(resios_model(), c, parse_options("order", parameters));
}

double resios_value(const Evaluation& e, std::string_view name) {
  const auto found = std::ranges::find(e.terms, name, &Term::name);
  EXPECT_NE(found, e.terms.end()) << "no term " << name;
  return found == e.terms.end() ? std::nan("") : found->value;
}

// A chain of 1000 operations of a block on each SM.
Counts chain(int warps, double latency, double throughput, const std::string& more = "") {
  return counts_of(
      fmt::format("blocks = 7\nthreads_per_block = {}\nactive_blocks_per_sm = 1\nilp = 1\n{}[class.fp32]\n"
                  "insts = 1000\nlatency = {}\nthroughput = {}\n",
                  32 * warps, more, latency, throughput));
}

// Figure 4.3, through the model: 22 cycles shared up to eleven warps, the rate of 16 a cycle beyond.
TEST(Resios, AChainOfMultiplyAddsByWarps) {
  EXPECT_NEAR(predicted(chain(1, 22, 16)).cycles, 22000, 1e-6);
  EXPECT_NEAR(predicted(chain(8, 22, 16)).cycles, 22000, 1e-6);
  EXPECT_NEAR(predicted(chain(11, 22, 16)).cycles, 22000, 1e-6);
  EXPECT_NEAR(predicted(chain(12, 22, 16)).cycles, 12000 * (22 / (12.0 * 11) + 2), 1e-6);
  EXPECT_NEAR(predicted(chain(32, 22, 16)).cycles, 32000 * 2.0625, 1e-6);
  EXPECT_EQ(predicted(chain(32, 22, 16)).evaluation.hotspots.size(), 0u);
}

// A chain alone does not reach more than an instruction a scheduler: table 3.1 has 32 of 48 lanes.
TEST(Resios, TheRateOfAChainIsBoundByTheSchedulers) {
  EXPECT_NEAR(resios_value(predicted(chain(32, 18, 48)).evaluation, "max_fp32"), 18, 1e-9);
}

TEST(Resios, FewWarpsAreSimulatedAndTheOthersTakeAsLong) {
  Counts c = resios_counts();
  c.blocks = 7e5, c.total_warps = 8 * c.blocks;
  const Prediction all = predicted(c), few = predicted(c, "warps=64");
  EXPECT_EQ(resios_value(few.evaluation, "simulated_warps"), 64);
  EXPECT_EQ(resios_value(all.evaluation, "simulated_warps"), 256);
  EXPECT_NEAR(resios_value(all.evaluation, "extrapolation"), 8e5 / 256, 1e-6);
  EXPECT_NEAR(few.evaluation.cycles / all.evaluation.cycles, 1, 0.1);
}

TEST(Resios, ResidentWarpsAndBlocksBoundTheParallelism) {
  const Counts c = resios_counts();
  const auto resident = [&](const std::string& parameters) {
    return resios_value(predicted(c, parameters).evaluation, "resident_warps");
  };
  EXPECT_EQ(resident(""), 48);
  EXPECT_EQ(resident("resident-blocks=2"), 16);
  EXPECT_EQ(resident("resident-warps=30"), 24);
  EXPECT_EQ(resident("resident-warps=1000,resident-blocks=1000"), 48);
  const Prediction p = predicted(c, "resident-warps=4");  // a block is not parted
  EXPECT_THAT(p.evaluation.notes, testing::Contains(HasSubstr("one block is resident")));
  EXPECT_GT(predicted(c, "resident-blocks=1").evaluation.cycles, predicted(c).evaluation.cycles);
}

TEST(Resios, MemoryIsChargedWithWhatComputationDoesNotCover) {
  const Counts c = resios_counts();
  const Evaluation e = predicted(c).evaluation;
  ASSERT_EQ(e.hotspots.size(), 2u);
  EXPECT_NEAR(e.hotspots[0].idle_cycles + e.hotspots[1].idle_cycles, resios_value(e, "T_idle"), 1e-6);
  EXPECT_GT(e.hotspots[0].idle_cycles, e.hotspots[1].idle_cycles);
  EXPECT_NEAR(resios_value(e, "T_idle") + resios_value(e, "T_compute"), e.cycles, 1e-6);
  // A long chain and one store: it is not the store that takes the time.
  Counts busy = c;
  busy.mix.insts[class_index("load")] = 0, busy.mix.insts[class_index("store")] = 1;
  busy.mix.insts[class_index("fp32")] = 25600;
  const Evaluation b = predicted(busy).evaluation;
  EXPECT_LT(b.hotspots.at(0).idle_share, 0.01);
  EXPECT_EQ(b.limit, "the compute units");
}

// A trace says where; how much is what the counts say.
TEST(Resios, TheTraceGivesPlacesAndTheCountsTheNumbers) {
  Counts c = resios_counts();
  c.trace = {{"a", device::OpClass::load, 1, 1.5}, {"b", device::OpClass::load, 3, 0.5}};
  const Evaluation e = predicted(c).evaluation;
  double loads = 0;
  std::vector<std::string> places;
  for (const Hotspot& h : e.hotspots) {
    places.push_back(h.place);
    if (h.op_class == "load") loads += h.insts;
  }
  EXPECT_NEAR(loads, 16, 1e-9);
  EXPECT_THAT(places, testing::UnorderedElementsAre("a", "b", "store"));
}

TEST(Resios, FusedMultiplyAddsAreTwoOnlyWhereTheyAreKnown) {
  const Counts c = resios_counts();
  EXPECT_NEAR(c.fma_insts, 100, 1e-9);  // 3584000 operations of 70 * 8 warps of 32
  EXPECT_GT(predicted(c, "fma=two,memory-units=8").evaluation.cycles,
            1.4 * predicted(c, "memory-units=8").evaluation.cycles);
  EXPECT_NEAR(predicted(chain(11, 22, 16, "fma_insts = 1000\n"), "fma=two").cycles, 44000, 1e-6);
  const Prediction unknown = predicted(chain(11, 22, 16), "fma=two");
  EXPECT_NEAR(unknown.cycles, 22000, 1e-6);
  EXPECT_THAT(unknown.evaluation.notes, testing::Contains(HasSubstr("fma_insts is not known")));
}

TEST(Resios, MultiplicationsAloneHaveNothingFused) {
  std::string text(kernel);
  text.replace(text.find("flops = 3584000"), 15, "flops = 1792000");
  text.replace(text.find("active_lanes = 32"), 17, "active_lanes = 30");
  EXPECT_EQ(counts_of(text).fma_insts, 0);
}

TEST(Resios, BandwidthIsPartedBetweenAllSms) {
  Counts c = resios_counts();
  c.active_sms = c.blocks = 1;
  c.total_warps = 8;
  EXPECT_NEAR(resios_value(resios_model().evaluate(c, {}), "bandwidth_SM"), 64.0 / 7, 1e-9);
}

TEST(Resios, TheTotalHasLaunchCopiesAndContext) {
  const Counts c = resios_counts("context_init = 65\nh2d_bytes = 1e7\nd2h_bytes = 0\n");
  const Prediction fit = predicted(c), own = predicted(c, "copies=device");
  EXPECT_NEAR(fit.evaluation.total_ns, fit.time_ns + 65e6 + 4e3 + 5.9102e6, 1e3);  // R043
  EXPECT_NEAR(own.evaluation.total_ns, own.time_ns + 65e6 + 4e3 + 1e7 / 5 + 1e4, 1);
}

TEST(Resios, ParametersAreCheckedAndNamed) {
  for (const ResiosParameter& p : resios_parameters()) {
    EXPECT_FALSE(p.values.empty() || p.doc.empty()) << p.name;
    EXPECT_THROW(parse_options("order", fmt::format("{}=nonsense", p.name)), Error);
    EXPECT_THROW(parse_options("order", std::string(p.name)), Error);
    EXPECT_THROW(parse_options("order", fmt::format("{}=", p.name)), Error);
  }
  for (const char* bad : {"memory-units=0", "memory-units=1.5", "memory-units=nan", "memory-units=inf",
                          "warps=1e9", "max-p=-1", "queue=random", "thesis", "units=1", ",", "fma=2"})
    EXPECT_THROW(parse_options("order", bad), Error) << bad;
  try {
    parse_options("order", "memory-unit=8");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.id(), "predict-option");
    EXPECT_THAT(e.diagnostics().front().hint, HasSubstr("memory-units"));
  }
  const Options o = parse_options("order",
                                  "compute-units=2,memory-units=3,resident-warps=4,resident-blocks=5,"
                                  "warps=6,queue=oldest,max-p=7,max-i=8,bank-bandwidth=9,fma=two,"
                                  "copies=device");
  EXPECT_EQ(o.resios.memory_units, 3);
  EXPECT_EQ(o.resios.order, 2u);
  EXPECT_TRUE(o.resios.split_fma && !o.resios.fitted_copies);
}

TEST(Resios, EdgeCasesStayFinite) {
  const Counts base = resios_counts();
  for (const char* parameters : {"", "compute-units=8,memory-units=1024,queue=longest",
                                 "warps=1,resident-warps=1", "warps=1000,max-p=0.1,max-i=1024"})
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
          const Prediction p = predicted(c, parameters);
          ASSERT_TRUE(std::isfinite(p.cycles)) << loads << " " << blocks << " " << barriers;
          ASSERT_GE(p.cycles, p.floor * (1 - 1e-9));
        }
}

}  // namespace
}  // namespace simtlab::models
