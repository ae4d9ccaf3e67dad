#include "report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <regex>
#include <string>

#include "report/glossary.h"
#include "report/not_modelled.h"
#include "result/totals.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Result;
using testing::HasSubstr;
using testing::Not;

KernelResult kernel(const std::string& name, double time_ns) {
  KernelResult k;
  k.name = "_Z" + name;
  k.demangled = name + "(int)";
  k.grid[0] = 16;
  k.block[0] = 256;
  k.registers = 34;
  k.shared_bytes = 2048;
  k.limiter = "registers";
  k.bottleneck = "It waits for DRAM: 78 % of its bandwidth is used.";
  k.not_modelled = {"D-TIMING-1", "D-TIMING-4"};
  k.metrics.set("gpu.cycles", std::uint64_t{17343});
  k.metrics.set("gpu.time", time_ns);
  k.metrics.set("gpu.ipc", 1203.25);
  k.metrics.set("gpu.instructions.warp", std::uint64_t{1000});
  k.metrics.set("gpu.instructions.thread", std::uint64_t{30000});
  k.metrics.set("sol.compute", 0.412);
  k.metrics.set("sol.memory", 0.78);
  k.metrics.set("pipe.fp32", 0.412);
  k.metrics.set("pipe.int_alu", 0.1);
  k.metrics.set("dram.utilisation", 0.78);
  k.metrics.set("l2.utilisation", 0.5);
  k.metrics.set("l1.read.accesses", std::uint64_t{400});
  k.metrics.set("l1.read.miss_rate", 0.25);
  k.metrics.set("l2.read.accesses", std::uint64_t{0});
  k.metrics.set("dram.read.bytes", std::uint64_t{1 << 20});
  k.metrics.set("dram.write.bytes", std::uint64_t{0});
  k.metrics.set("occupancy.theoretical", 0.75);
  k.metrics.set("occupancy.achieved", 0.682);
  k.metrics.set("scheduler.slots", std::uint64_t{1000});
  for (const auto& [reason, share] : {std::pair{"selected", 0.2},
                                      {"long_scoreboard", 0.5},
                                      {"barrier", 0.15},
                                      {"wait", 0.1},
                                      {"no_warp", 0.05}})
    k.metrics.set(std::string("stall.") + reason, share);
  return k;
}

Result one() {
  Result r;
  r.manifest.device = "a100";
  r.manifest.mode = "timing";
  r.kernels = {kernel("matmul", 12300)};
  r.total = result::combine(r.kernels);
  return r;
}

TextOptions everything() {
  TextOptions options;
  options.all = true;
  return options;
}

TEST(TextReport, OneKernelFitsAScreenAndSaysWhatMatters) {
  const std::string out = text(one(), {});
  EXPECT_LE(std::ranges::count(out, '\n'), 40) << out;
  for (const char* part :
       {"matmul(int)", "grid 16x1x1, block 256x1x1, 34 registers a thread, 2.00 KiB shared memory a block",
        "12.3 us on a100, simulated at cycle level: 17,343 cycles", "compute       41.2 %", "fp32",
        "memory        78.0 %", "dram", "Bottleneck: It waits for DRAM", "long_scoreboard", "50.0 %",
        "L1 75.0 % hits", "L2 no reads", "DRAM 1.00 MiB read, 0 B written",
        "75.0 % theoretical, 68.2 % achieved; limited by registers", "Not modelled: D-TIMING-1, D-TIMING-4"})
    EXPECT_THAT(out, HasSubstr(part));
}

TEST(TextReport, ShowsTheThreeLargestReasonsAndAllOfThemOnRequest) {
  const std::string brief = text(one(), {});
  EXPECT_THAT(brief, HasSubstr("wait"));
  EXPECT_THAT(brief, Not(HasSubstr("no_warp")));
  EXPECT_LT(brief.find("long_scoreboard"), brief.find("barrier"));
  const std::string full = text(one(), everything());
  EXPECT_THAT(full, HasSubstr("no_warp"));
  EXPECT_THAT(full, HasSubstr("selected"));
  EXPECT_THAT(full, HasSubstr("scheduler.slots"));
}

TEST(TextReport, LinesKeepToTheWidth) {
  Result r = one();
  r.kernels[0].demangled = std::string(500, 'x');
  r.kernels[0].bottleneck = std::string(60, 'a') + " " + std::string(60, 'b') + " " + std::string(20, 'c');
  const std::string out = text(r, TextOptions{});
  for (std::size_t i = 0, end = 0; i < out.size(); i = end + 1) {
    end = std::min(out.find('\n', i), out.size());
    EXPECT_LE(end - i, 100u) << out.substr(i, end - i);
  }
}

TEST(TextReport, ManyLaunchesBecomeATableSortedByTime) {
  Result r = one();
  r.kernels = {kernel("small", 100), kernel("big", 5000), kernel("small", 300), kernel("third", 200)};
  r.total = result::combine(r.kernels);
  r.total.set("copy.time", 700.0);
  r.total.set("program.time", 6400.0);
  const std::string out = text(r, {});
  EXPECT_THAT(out, HasSubstr("4 launches of 3 kernels on a100"));
  EXPECT_THAT(out, HasSubstr("5.60 us in kernels, 700 ns in copies; 6.40 us from first to last activity"));
  EXPECT_LT(out.find("big(int)"), out.find("small(int)"));
  EXPECT_THAT(out, HasSubstr("89.3 %"));
  EXPECT_THAT(out, HasSubstr("2 launches, shape of the longest"));
  EXPECT_THAT(out, HasSubstr("1 more in the table; --all prints them in detail"));
}

TEST(TextReport, FunctionalRunsClaimNoTimes) {
  Result r = one();
  r.manifest.mode = "functional";
  KernelResult k;
  k.name = "k";
  k.metrics.set("gpu.instructions.warp", std::uint64_t{7});
  r.kernels = {k};
  const std::string out = text(r, {});
  EXPECT_THAT(out, HasSubstr("there are no times"));
  EXPECT_THAT(out, Not(HasSubstr("Speed of light")));
}

TEST(TextReport, AnInterruptedOrFailedRunSaysSoFirst) {
  Result r = one();
  r.manifest.interrupted = true;
  EXPECT_TRUE(text(r, {}).starts_with("INCOMPLETE: the run was interrupted"));
  r.manifest.interrupted = false;
  r.manifest.failure = "error: x";
  r.manifest.failure_id = "limit-time";
  EXPECT_TRUE(text(r, {}).starts_with("INCOMPLETE: the run failed (limit-time)"));
}

TEST(TextReport, AProgramWithoutLaunchesSaysSo) {
  Result r;
  EXPECT_THAT(text(r, {}), HasSubstr("no kernel was launched"));
}

TEST(TextReport, EscapesInNamesDoNotReachTheTerminal) {
  Result r = one();
  r.kernels[0].demangled = "evil\x1b]0;title\x07";
  r.kernels[0].limiter = "\x1b[2J";
  r.kernels[0].bottleneck = "\x1b[2J";
  EXPECT_EQ(text(r, everything()).find('\x1b'), std::string::npos);
}

TEST(CsvReport, HasOneRowAKernelAndMetricAndQuotes) {
  Result r = one();
  r.kernels[0].demangled = "f(int, \"x\")";
  const std::string out = csv(r);
  EXPECT_TRUE(out.starts_with("launch,name,demangled,grid,block,metric,value,unit\r\n"));
  EXPECT_THAT(out,
              HasSubstr("\r\n0,_Zmatmul,\"f(int, \"\"x\"\")\",16x1x1,256x1x1,gpu.cycles,17343,cycles\r\n"));
  EXPECT_THAT(out, HasSubstr("\r\ntotal,,,,,gpu.cycles,17343,cycles\r\n"));
  EXPECT_EQ(std::ranges::count(out, '\n'),
            std::ssize(r.kernels[0].metrics.values()) + std::ssize(r.total.values()) + 1);
}

TEST(Glossary, TermsAreUniqueAndWritten) {
  for (const auto* terms : {&stall_reasons(), &error_ids(), &deviations()})
    for (const Term& t : *terms) {
      EXPECT_EQ(find_term(*terms, t.name), &t) << t.name << " twice";
      EXPECT_FALSE(t.meaning.empty()) << t.name;
    }
  EXPECT_EQ(find_term(stall_reasons(), "none"), nullptr);
}

// `simtlab explain` prints a term alone: nothing stands before it that a pronoun could mean.
TEST(Glossary, EveryTextStandsAlone) {
  const std::regex leaning(
      "^(Of|As|And|In it|It|Its|They|Their|Them|These|Those|This|That|The same|No such|What it) ");
  const std::regex hanging("lists (them|it)\\b|describes it\\b|\\bthat one\\b|[Tt]he same\\b");
  const auto check = [&](const Term& t, std::string_view text, bool strict) {
    const std::string whole(text);
    EXPECT_FALSE(std::regex_search(whole, leaning)) << t.name << ": " << text;
    if (!strict || whole.empty()) return;
    EXPECT_FALSE(std::regex_search(whole, hanging)) << t.name << ": " << text;
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(whole.front())) || whole.front() == '`' ||
                whole.starts_with("docs/") || whole.starts_with("--") || whole.starts_with("simtlab"))
        << t.name << " does not begin a sentence: " << text;
    EXPECT_TRUE(whole.ends_with(".") || whole.ends_with("`") || whole.ends_with(")"))
        << t.name << ": " << text;
  };
  for (const Term& t : error_ids()) check(t, t.meaning, true), check(t, t.remedy, true);
  for (const Term& t : stall_reasons()) check(t, t.meaning, true), check(t, t.remedy, true);
  for (const Term& t : deviations()) check(t, t.meaning, false);
}

TEST(NotModelled, NamesAFewAndJoinsMany) {
  EXPECT_EQ(not_modelled_text({}), "");
  EXPECT_EQ(not_modelled_text({"D-A-1"}), "D-A-1 (`simtlab explain D-A-1` says what it is)");
  EXPECT_EQ(not_modelled_text({"D-A-1", "D-B-4"}),
            "D-A-1, D-B-4 (`simtlab explain D-A-1` says what the first is)");
  EXPECT_EQ(not_modelled_text({"D-A-1", "D-A-2", "D-A-3", "D-A-5", "D-B-4", "D-B-5", "D-EXEC-A1", "D-A-9"}),
            "8 deviations from hardware: D-A-1 to 3, 5, D-B-4, 5, D-EXEC-A1, D-A-9 (`simtlab explain D-A-1` "
            "says what the first is)");
  // What no simtlab wrote stays printable.
  EXPECT_EQ(not_modelled_text({"D-A-99999999999", "\x1b"}).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace simtlab::report
