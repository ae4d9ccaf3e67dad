#include "report/evidence.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/because.h"
#include "report/hits.h"
#include "report/profile_text.h"
#include "result/gains.h"

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
  k.metrics.set("global.load.sectors", std::uint64_t{100});
  k.metrics.set("l1.read.accesses", std::uint64_t{100});
  k.metrics.set("l1.read.hits", std::uint64_t{0});
  EXPECT_EQ(names(suspects(k)).front(), "perfect-l1");
  k.metrics.set("load.latency", 1000.0);
  k.metrics.set("load.latency.dram_queue", 900.0);
  EXPECT_EQ(std::ranges::count(names(suspects(k)), "infinite-dram-bandwidth"), 1);
}

// What 1000 store instructions send that write one sector each in 32 lines (v100: two flits a sector), or
// whole lines; they wait.
result::KernelResult writer(bool parts) {
  result::KernelResult k = kernel();
  result::Metrics& m = k.metrics;
  const std::uint64_t sectors = 32000, requests = parts ? sectors : sectors / 4;
  m.set("l2.write.accesses", sectors);
  m.set("interconnect.write.bytes", requests * 8 + sectors * 32);
  m.set("interconnect.write.flits", sectors + (parts ? requests : 0));
  m.set("stall.long_scoreboard", 0.1);
  m.set("stall.lg_throttle", 0.3);
  m.set("stall.drain", 0.2);
  return k;
}

TEST(Suspects, PartsOfSectorsThatAreWrittenPointAtWideWrites) {
  const result::KernelResult k = writer(true);
  const auto all = suspects(k);
  const auto wide = std::ranges::find(all, "wide-writes", &Suspect::what_if);
  ASSERT_NE(wide, all.end());
  EXPECT_GT(wide->weight, 0.2);
  EXPECT_LE(wide->weight, 0.5) << "masks are half of what is sent";
  EXPECT_EQ(wide->because,
            "100.0 % of the sectors that SMs write come with a mask, masks are 50.0 % of what SMs send, and "
            "58.8 % of the slots with warps wait for the queue of loads and stores or for stores to end");
  EXPECT_EQ(std::ranges::count(names(suspects(writer(false))), "wide-writes"), 0) << "whole lines";
}

TEST(Suspects, WideWritesGainNothingWhereNothingWaitsForThemOrMasksAreFree) {
  result::KernelResult k = writer(true);
  k.metrics.set("interconnect.write.flits", std::uint64_t{32000});
  EXPECT_EQ(std::ranges::count(names(suspects(k)), "wide-writes"), 0) << "a network without masks";
  k = writer(true);
  k.metrics.set("stall.lg_throttle", 0.0);
  k.metrics.set("stall.drain", 0.0);
  EXPECT_EQ(std::ranges::count(names(suspects(k)), "wide-writes"), 0);
}

TEST(Suspects, MasksAreThoseOfWritesWhateverIsRead) {
  result::Metrics m = writer(true).metrics;
  const auto set = [&](std::uint64_t masks, std::uint64_t plain, std::uint64_t reads) {
    m.set("l2.read.accesses", 4 * reads);  // whole lines
    m.set("l2.write.accesses", masks + 4 * plain);
    m.set("interconnect.write.bytes", 8 * (masks + plain + reads) + 32 * (masks + 4 * plain));
    m.set("interconnect.write.flits", 2 * masks + 4 * plain + reads);
  };
  set(100, 0, 100);
  EXPECT_DOUBLE_EQ(result::masks_of(m).of_sectors, 1);
  EXPECT_DOUBLE_EQ(result::masks_of(m).of_flits, 1.0 / 3);
  set(100, 25, 0);
  EXPECT_DOUBLE_EQ(result::masks_of(m).of_sectors, 0.5);
  set(0, 25, 100);
  EXPECT_DOUBLE_EQ(result::masks_of(m).of_sectors, 0);
  EXPECT_DOUBLE_EQ(result::masks_of(m).of_flits, 0);
}

TEST(Because, HasTheFigureThatTheEstimateRestsOn) {
  result::Metrics m = kernel().metrics;  // 1000 slots, 85 % of them with warps
  m.set("stall.no_instruction", 0.11);
  m.set("instruction.l0.accesses", std::uint64_t{200});
  m.set("instruction.l0.misses", std::uint64_t{14});
  m.set("register.bank_conflicts", std::uint64_t{13});
  m.set("stall.lg_throttle", 0.17);
  m.set("l1.utilisation", 0.19);
  const auto has = [&](const char* what_if, const char* figure) {
    const std::string text = because(m, what_if);
    EXPECT_NE(text.find(figure), std::string::npos) << what_if << ": " << text;
  };
  has("perfect-fetch", "11.0 % of the slots");
  has("perfect-fetch", "7.0 % of the lines");
  has("no-register-conflicts", "for 13 cycles, 1.3 % of");
  has("unlimited-tags", "20.0 % of the slots");
  has("unlimited-tags", "in 19.0 % of the cycles");
}

TEST(Hits, ReadsThatJoinAMissAreTold) {
  EXPECT_EQ(format_hits(result::hit_rate(50, 30, 80)), "62.5 % hits + 37.5 % pending");
  EXPECT_EQ(format_hits(result::hit_rate(3, 0, 4)), "75.0 % hits");
  EXPECT_EQ(format_hits(result::hit_rate(0, 0, 0)), "no reads");
  result::Metrics m;
  m.set("l1.read.accesses", std::uint64_t{8});
  m.set("l1.read.hits", std::uint64_t{4});
  m.set("l1.read.hits_pending", std::uint64_t{3});
  EXPECT_EQ(format_hits(m, "l1"), "50.0 % hits + 37.5 % pending");
  const result::HitRate rate = result::hit_rate(m, "l1");
  EXPECT_DOUBLE_EQ(rate.hit + rate.pending + rate.miss, 1);
  EXPECT_DOUBLE_EQ(rate.miss, 0.125);
}

TEST(Suspects, SparedSectorsAreThoseThatNoAccessNeeds) {
  result::Metrics m;
  const auto set = [&](const std::string& kind, std::uint64_t requests, std::uint64_t sectors,
                       std::uint64_t bytes) {
    m.set(kind + ".requests", requests);
    m.set(kind + ".sectors", sectors);
    m.set(kind + ".bytes", bytes);
  };
  set("global.load", 10, 40, 1280);
  set("global.store", 10, 320, 1280);
  EXPECT_DOUBLE_EQ(result::spare_sectors(m), 280.0 / 360);
  set("global.store", 10, 10, 40);  // one lane each: a sector is the least
  EXPECT_DOUBLE_EQ(result::spare_sectors(m), 0);
  set("global.load", 10, 10, 1280);  // all lanes at one address: more bytes than sectors hold
  EXPECT_DOUBLE_EQ(result::spare_sectors(m), 0);
}

TEST(LossReason, NamesTheStallThatGrewAndTheCaches) {
  const result::KernelResult before = [] {
    result::KernelResult k = kernel();
    k.metrics.set("l1.read.accesses", std::uint64_t{100});
    k.metrics.set("l1.read.hits", std::uint64_t{90});
    return k;
  }();
  result::KernelResult after = before;
  after.metrics.set("scheduler.slots", std::uint64_t{2000});
  after.metrics.set("stall.long_scoreboard", 0.8);
  after.metrics.set("l1.read.hits", std::uint64_t{10});
  const std::string why = loss_reason(before, after);
  EXPECT_NE(why.find("more slots are lost to long_scoreboard"), std::string::npos) << why;
  EXPECT_NE(why.find("L1 90.0 % hits -> 10.0 % hits"), std::string::npos) << why;
}

TEST(ProfileText, NamesTheLineAndItsStall) {
  result::KernelResult k = kernel();
  k.profile.reasons = {"selected", "long_scoreboard", "no_warp"};
  k.profile.slots = {250, 600, 150};
  k.profile.lines = {{.function = "k",
                      .ptx_line = 9,
                      .ptx = "add.f32 %f1, %f2, %f3;",
                      .file = "dir/a.cu",
                      .line = 4,
                      .text = "sum += x[i];",
                      .instructions = 250,
                      .threads = 8000,
                      .slots = {250, 600, 0}}};
  const std::string text = profile_text(k, {});
  EXPECT_NE(text.find("a.cu:4  sum += x[i];"), std::string::npos) << text;
  EXPECT_NE(text.find("long_scoreboard 70.6 %"), std::string::npos) << text;
  EXPECT_NE(text.find(": 4.00"), std::string::npos) << text;
  EXPECT_EQ(profile_text(kernel(), {}), "");
}

}  // namespace
}  // namespace simtlab::report
