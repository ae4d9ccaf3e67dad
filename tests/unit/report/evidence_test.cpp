#include "report/evidence.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/profile_text.h"

namespace simtlab::report {
namespace {

result::KernelResult kernel() {
  result::KernelResult k;
  k.name = "k";
  result::Metrics& m = k.metrics;
  m.set("gpu.cycles", std::uint64_t{1000});
  m.set("gpu.time", 1000.0);
  m.set("gpu.instructions.warp", std::uint64_t{250});
  m.set("gpu.waves", 0.5);
  m.set("occupancy.theoretical", 0.5);
  m.set("occupancy.achieved", 0.4);
  m.set("scheduler.slots", std::uint64_t{1000});
  m.set("stall.selected", 0.25);
  m.set("stall.long_scoreboard", 0.6);
  m.set("stall.no_warp", 0.15);
  k.limiter = "registers";
  return k;
}

std::vector<std::string> names(const std::vector<Suspect>& all) {
  std::vector<std::string> out;
  for (const Suspect& s : all) out.push_back(s.what_if);
  return out;
}

TEST(Evidence, GoesFromTheWholeToTheReason) {
  const auto sentences = evidence(kernel(), "v100");
  ASSERT_GE(sentences.size(), 4u);
  EXPECT_NE(sentences[0].find("1,000 cycles"), std::string::npos);
  EXPECT_NE(sentences[1].find("limited by registers"), std::string::npos);
  EXPECT_NE(sentences[2].find("4.00 slots"), std::string::npos);
  EXPECT_NE(sentences[3].find("long_scoreboard: 60.0 %"), std::string::npos);
  EXPECT_NE(sentences[3].find("80.0 % of the lost"), std::string::npos);
}

TEST(Suspects, FollowTheEvidence) {
  result::KernelResult k = kernel();
  EXPECT_EQ(std::ranges::count(names(suspects(k)), "no-bank-conflicts"), 0);
  k.metrics.set("shared.wavefronts", std::uint64_t{100});
  k.metrics.set("shared.bank_conflicts", std::uint64_t{90});
  k.metrics.set("stall.short_scoreboard", 0.5);
  EXPECT_EQ(std::ranges::count(names(suspects(k)), "no-bank-conflicts"), 1);
  k.metrics.set("global.load.requests", std::uint64_t{10});
  k.metrics.set("l1.read.accesses", std::uint64_t{100});
  k.metrics.set("l1.read.hits", std::uint64_t{0});
  EXPECT_EQ(names(suspects(k)).front(), "perfect-l1");
  k.metrics.set("load.latency", 1000.0);
  k.metrics.set("load.latency.dram_queue", 900.0);
  EXPECT_EQ(std::ranges::count(names(suspects(k)), "infinite-dram-bandwidth"), 1);
}

TEST(ProfileText, NamesTheLineAndItsStall) {
  result::KernelResult k = kernel();
  k.profile.reasons = {"selected", "long_scoreboard", "no_warp"};
  k.profile.slots = {250, 600, 150};
  k.profile.lines = {{.function = "k", .ptx_line = 9, .ptx = "add.f32 %f1, %f2, %f3;", .file = "dir/a.cu", .line = 4, .text = "sum += x[i];",
                      .instructions = 250, .threads = 8000, .slots = {250, 600, 0}}};
  const std::string text = profile_text(k, {});
  EXPECT_NE(text.find("a.cu:4  sum += x[i];"), std::string::npos) << text;
  EXPECT_NE(text.find("long_scoreboard 70.6 %"), std::string::npos) << text;
  EXPECT_NE(text.find(": 4.00"), std::string::npos) << text;
  EXPECT_EQ(profile_text(kernel(), {}), "");
}

}  // namespace
}  // namespace simtlab::report
