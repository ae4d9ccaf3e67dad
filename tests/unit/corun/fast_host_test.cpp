// The fast host and the interference model on cases whose answer can be worked out.
#include "corun/fast_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "corun/log.h"
#include "one_kernel_app.h"

namespace simtlab::corun {
namespace {

Profile figures(double time_ns, double l2_gb = 0, double stall = 0, double ipc = 0) {
  Profile p;
  p.time_ns = time_ns;
  p.l2_bandwidth = l2_gb * 1e9;
  p.dram_bandwidth = 0;
  p.memory_stall = stall;
  p.ipc = ipc;
  return p;
}

FastOptions fast_with(std::uint32_t limit) {
  FastOptions o;
  o.settings.limit = limit;
  return o;
}

TEST(Interference, AloneNothingIsSlower) {
  const Demand one[] = {{344.86e9, 10.2e9, 23.62, 13000, 0.6355}};
  double slow[1];
  slowdowns({}, one, slow);
  EXPECT_DOUBLE_EQ(slow[0], 1);
}

// HW beside the micro-benchmark of L2 at its maximum: 1 + 0.6355 * ((380 + 344.86) / 380 - 1).
TEST(Interference, FollowsItsEquation) {
  const InterferenceModel m;
  const Demand together[] = {{344.86e9, 10.2e9, 23.62, 13000, 0.6355},
                             disturbance(m, Disturbance::l2, intensities - 1)};
  double slow[2];
  slowdowns(m, together, slow);
  EXPECT_NEAR(slow[0], 1.5767, 1e-4);
  const Demand with_dram[] = {{0, 0, 0, 0, 0.5}, {0, 125e9, 0, 0, 0}};
  slowdowns(m, with_dram, slow);
  EXPECT_NEAR(slow[0], 1 + 0.5 * 1.10 * 0.25, 1e-12);
  const Demand with_compute[] = {{0, 0, 48, 0, 0.25}, {0, 0, 96, 0, 0}};
  slowdowns(m, with_compute, slow);
  EXPECT_NEAR(slow[0], 1.75, 1e-12);
  EXPECT_NEAR(slow[1], 1.5, 1e-12);
}

TEST(FastHost, AnApplicationAloneTakesItsTime) {
  const Workload mix[] = {app("a", figures(1000), 5, 100)};
  const MixResult r = run_fast(mix, policy("mps"), fast_with(4));
  EXPECT_EQ(r.applications[0].launches, 5u);
  EXPECT_DOUBLE_EQ(r.applications[0].gpu_ns, 5000);
  EXPECT_DOUBLE_EQ(r.applications[0].turnaround_ns, 5400);  // no gap after the last
  EXPECT_DOUBLE_EQ(r.applications[0].slowdown_turnaround(), 1);
  EXPECT_DOUBLE_EQ(r.applications[0].waited_ns, 0);
}

TEST(FastHost, WithOneSlotApplicationsTakeTurnsAndNobodyIsDisturbed) {
  const Workload mix[] = {app("a", figures(1000, 400, 1), 3), app("b", figures(1000, 400, 1), 3)};
  const MixResult r = run_fast(mix, policy("mps"), fast_with(1));
  EXPECT_DOUBLE_EQ(r.applications[0].slowdown_gpu(), 1);
  EXPECT_DOUBLE_EQ(r.makespan_ns, 6000);
  EXPECT_DOUBLE_EQ(r.applications[1].waited_ns, 3000);
  EXPECT_DOUBLE_EQ(r.applications[1].slowdown_turnaround(), 2);
}

// Two kernels of 1000 ns that slow each other down to 1.5: 1500 ns. The longer one of 2000 has 1000 left then
// and runs it alone.
TEST(FastHost, KernelsSlowDownOnlyWhileTheyRunTogether) {
  const Workload mix[] = {app("a", figures(1000, 0, 0, 48), 1), app("b", figures(2000, 0, 0, 48), 1)};
  const MixResult r = run_fast(mix, policy("mps"), fast_with(2));
  EXPECT_DOUBLE_EQ(r.applications[0].gpu_ns, 1500);
  EXPECT_DOUBLE_EQ(r.applications[1].gpu_ns, 2500);
}

TEST(FastHost, EveryPolicyRunsEveryLaunchAndRepeats) {
  for (const Policy* p : policies()) {
    std::vector<Workload> mix;
    for (int i = 0; i < 6; ++i)
      mix.push_back(app("a" + std::to_string(i), figures(100 + 37 * i, 70.0 * i, 0.15 * i, 10),
                        40 + static_cast<std::uint64_t>(i), i == 3 ? 50 : 0));
    mix[0].priority = 1;
    std::string log;
    FastOptions o = fast_with(3);
    o.learn = true;
    o.log = [&](std::string_view line) { log.append(line) += '\n'; };
    const MixResult r = run_fast(mix, *p, o);
    for (std::size_t i = 0; i < mix.size(); ++i)
      EXPECT_EQ(r.applications[i].launches, mix[i].launches()) << p->name;
    const Replayed again = replay(log, "log");  // the fast host decides as the replay of its events does
    EXPECT_EQ(again.log, log) << p->name;
    EXPECT_EQ(again.launches, 6u * 40 + 15);
    EXPECT_EQ(again.waiting + again.running, 0u);
  }
}

TEST(FastHost, AMillionLaunchesKeepNothing) {
  const Workload mix[] = {app("a", figures(100, 10, 0.1, 5), 500000),
                          app("b", figures(150, 300, 0.6, 5), 500000)};
  EXPECT_EQ(run_fast(mix, policy("shark"), fast_with(2)).applications[1].launches, 500000u);
}

TEST(FastHost, MixesDependOnTheSeedAlone) {
  const std::vector<std::string> names = {"A", "B", "C"};
  EXPECT_EQ(random_mixes(names, 5, 8, 7), random_mixes(names, 5, 8, 7));
  EXPECT_NE(random_mixes(names, 5, 8, 7), random_mixes(names, 5, 8, 8));
}

TEST(Judge, FollowsTheDefinitions) {
  const double slow[] = {1, 2, 4};
  const Judged j = judge(slow);
  EXPECT_DOUBLE_EQ(j.antt, 7.0 / 3);
  EXPECT_DOUBLE_EQ(j.stp, 1.75);
  EXPECT_NEAR(j.gm, 0.5, 1e-12);
  EXPECT_DOUBLE_EQ(j.fairness, 4);
  EXPECT_NEAR(j.jain, 1.75 * 1.75 / (3 * 1.3125), 1e-12);
}

Profiles thesis() {
  return load_profiles(std::filesystem::path(SIMTLAB_SOURCE_DIR) / "data" / "corun" / "titanx-thesis.toml");
}

// Rows TOTAL of Table 5.1, which the data file does not hold as kernels.
TEST(Thesis, ApplicationsAddUpToThePublishedTotals) {
  const std::pair<const char*, double> totals[] = {{"BH", 4013.26},   {"HW", 1276.18},   {"LAVA", 13392.46},
                                                   {"LEUKO", 6373.1}, {"SRAD", 1365.14}, {"QTC", 1133.23}};
  const Profiles p = thesis();
  EXPECT_EQ(p.applications.size(), std::size(totals));
  for (const auto& [name, ms] : totals) {
    const std::vector<std::string> one = {name};
    const Workload w = workloads(p, one, 1).front();
    double sum = 0;
    for (const Workload::Step& s : w.sequence)
      sum += *s.profile.time_ns * static_cast<double>(w.iterations) / 1e6;
    EXPECT_NEAR(sum / ms, 1, 0.03) << name;  // the table's times have one to four digits
  }
}

TEST(Thesis, TheModelFileIsTheDefault) {
  EXPECT_EQ(load_model(std::filesystem::path(SIMTLAB_SOURCE_DIR) / "data" / "corun" / "model-titanx.toml"),
            InterferenceModel{});
}

TEST(Workloads, SayWhatIsMissing) {
  Profiles p = thesis();
  const std::vector<std::string> unknown = {"XYZ"}, hw = {"HW"};
  EXPECT_THROW(workloads(p, unknown, 1), Error);
  p.kernels.at({"HW", "kernel"}).profile.ipc.reset();
  try {
    workloads(p, hw, 1);
    FAIL();
  } catch (const Error& e) { EXPECT_THAT(e.format(), testing::HasSubstr("misses ipc")); }
}

}  // namespace
}  // namespace simtlab::corun
