// Each form of the report of `simtlab check`, of findings made by hand.
#include "report/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/check_words.h"
#include "report/html.h"
#include "report/report.h"

namespace simtlab::report {
namespace {

using nlohmann::json;
using result::Access;
using result::Finding;
using result::Level;
using testing::HasSubstr;
using testing::Not;

Access access_at(const std::string& file, std::uint32_t line, const std::string& what, std::uint32_t thread) {
  Access a;
  a.place.kernel = "sum(float*)";
  a.place.function = "part(float*)";
  a.place.file = file;
  a.place.line = line;
  a.place.column = 5;
  a.place.text = "tile[i] = x; // <b>&";
  a.what = what;
  a.launch = 2;
  a.thread[0] = thread;
  a.value = "7";
  return a;
}

Finding race() {
  Finding f;
  f.rule = "race.shared";
  f.message = "threads (3,0,0) and (4,0,0) access 'tile' without an order";
  f.accesses = {access_at("/work/src/a b.cu", 21, "write of 4 bytes", 3),
                access_at("/work/src/a b.cu", 25, "read of 4 bytes", 4)};
  f.memory = "word 12 of shared variable 'tile'";
  f.missing = "no barrier since line 20";
  f.mend = "with __syncthreads() before line 25 the race is gone";
  f.count = 31;
  f.order = "9";
  return f;
}

Finding leak() {
  Finding f;
  f.rule = "memory.leak";
  f.level = Level::warning;
  f.message = "4096 bytes are never freed";
  return f;
}

CheckReport sample() {
  result::Result r;
  r.manifest.working_directory = "/work";
  r.manifest.tool_version = "1.2.3";
  r.manifest.mode = "functional";
  r.kernels.resize(2);
  r.kernels[0].demangled = "sum(float*)";
  r.kernels[1].demangled = "other()";
  r.check.emplace();
  r.check->checks = {"memory", "races", "leaks", "coverage"};
  r.check->findings = {leak(), race()};
  r.check->launches = 3;
  r.check->gaps = {"the kernel k2 has machine code only"};
  r.check->coverage = {{"/work/src/a b.cu",
                        {{"sum(float*)", 10, 4}, {"never()", 40, 0}},
                        {{11, 4, 32}, {12, 0, 0}, {13, 0, 0}, {14, 4, 8}},
                        {{11, 0, 1, 2, 3}, {14, 0, 0, 0, 0}}}};
  CheckReport out = check_report(r);
  out.judgements[0].fingerprint = "0000000000000000:1";
  out.judgements[1].fingerprint = "0000000000000001:1";
  return out;
}

// Findings whose every text tries to break out of the form.
CheckReport hostile() {
  CheckReport out = sample();
  const std::string evil = "]]>&\"'<!--%0A::error::,\r\n\t\x1b[31m\xff\xef\xbf\xbf\xc3\xa9 -->";
  Finding f = race();
  f.message = f.memory = f.missing = f.mend = f.hint = f.order = evil;
  for (Access& a : f.accesses) {
    a.what = a.value = evil;
    a.place.kernel = a.place.function = a.place.file = a.place.text = a.place.instruction = evil;
  }
  out.result.check->findings = {f};
  out.result.check->gaps = {evil};
  out.result.check->coverage[0].file = evil;
  out.result.check->coverage[0].functions[0].name = evil;
  out.result.kernels[0].demangled = evil;
  out.judgements.resize(1);
  out.judgements[0].reason = evil;
  out.warnings = {evil};
  return out;
}

TEST(CheckText, ShowsBothPlacesTheMissingEdgeAndTheMend) {
  const std::string text = check_text(sample(), {});
  for (const char* part :
       {"error: race.shared: threads (3,0,0) and (4,0,0) access 'tile' without an order\n",
        "  at src/a b.cu:21:5\n", "     21 | tile[i] = x;", "  and src/a b.cu:25:5\n",
        "block (0,0,0), thread (3,0,0): write of 4 bytes, value 7\n",
        "block (0,0,0), thread (4,0,0): read of 4 bytes, value 7\n",
        "in part(float*), of kernel sum(float*), launch 2\n", "where:   word 12 of shared variable 'tile'\n",
        "missing: no barrier since line 20\n", "tried:   with __syncthreads()", "seen:    31 times\n",
        "--order 9 ", "hint:", "not checked: the kernel k2 has machine code only\n", "never: line 12-13\n",
        "coverage: 50.0 % of the lines ran (2 of 4), 2 of 4 outcomes of branches\n",
        "1 error, 1 warning in 2 kernels (3 launches)\n"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(CheckText, OfNothingFoundSaysThatItIsAboutThisRun) {
  CheckReport report = sample();
  report.result.check->findings.clear();
  report.judgements.clear();
  const std::string text = check_text(report, {});
  EXPECT_THAT(text, HasSubstr("no bad access, no race, no leak in this run\n"));
  EXPECT_THAT(text, HasSubstr("0 errors, 0 warnings in 2 kernels (3 launches)\n"));
  EXPECT_THAT(text, Not(HasSubstr("free of")));
}

TEST(CheckText, KnownAndSuppressedOnesAreCountedAndToldOfOnlyWithAll) {
  CheckReport report = sample();
  report.judgements[0].standing = Standing::known;
  report.judgements[1].standing = Standing::suppressed;
  report.judgements[1].reason = "on purpose";
  EXPECT_THAT(check_text(report, {}),
              HasSubstr("0 errors, 0 warnings in 2 kernels (3 launches); suppressed 1, known 1\n"));
  EXPECT_THAT(check_text(report, {}), Not(HasSubstr("race.shared")));
  report.all = true;
  EXPECT_THAT(check_text(report, {}), HasSubstr("suppressed: on purpose\n"));
  EXPECT_EQ(counts_of(report).failing, 0U);
}

TEST(CheckText, AWarningFailsOnlyWhereItIsToFail) {
  CheckReport report = sample();
  EXPECT_FALSE(fails(report, 0));
  EXPECT_TRUE(fails(report, 1));
  report.fails_from = Level::warning;
  EXPECT_TRUE(fails(report, 0));
}

TEST(CheckText, LikeComputeSanitizerEndsWithItsSummary) {
  const std::string text = check_like_sanitizer(sample());
  EXPECT_THAT(text,
              HasSubstr("========= Error: Race reported between write of 4 bytes at part(float*) in src/a "
                        "b.cu:21:5 and read of 4 bytes at part(float*) in src/a b.cu:25:5 [31 hazards]\n"));
  EXPECT_THAT(text, HasSubstr("=========     by thread (3,0,0) in block (0,0,0)\n"));
  EXPECT_THAT(text, HasSubstr("========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n"));
  EXPECT_TRUE(text.ends_with("========= ERROR SUMMARY: 1 error\n")) << text;
  const std::string evil = check_like_sanitizer(hostile());
  for (std::size_t at = 0; at < evil.size(); at = evil.find('\n', at) + 1)
    EXPECT_TRUE(evil.substr(at).starts_with("=========")) << evil.substr(at, 80);
}

TEST(CheckSarif, HasRulesBothPlacesFingerprintsAndSuppressions) {
  CheckReport report = sample();
  report.has_baseline = true;
  report.judgements[0].standing = Standing::suppressed;
  report.judgements[0].reason = "the driver frees it";
  const json log = json::parse(check_sarif(report));
  EXPECT_EQ(log["version"], "2.1.0");
  const json& run = log["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["rules"].size(), result::finding_rules().size());
  ASSERT_EQ(run["results"].size(), 2U);
  const json &leak = run["results"][0], &race = run["results"][1];
  EXPECT_EQ(leak["suppressions"][0]["kind"], "external");
  EXPECT_EQ(leak["suppressions"][0]["justification"], "the driver frees it");
  EXPECT_EQ(leak["level"], "warning");
  EXPECT_TRUE(leak["locations"].empty());
  report.result.manifest.inputs = {{"/work/tests.cu", ""}};
  EXPECT_EQ(
      json::parse(check_sarif(
          report))["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
      "tests.cu");
  EXPECT_EQ(race["ruleId"], "race.shared");
  EXPECT_EQ(run["tool"]["driver"]["rules"][race["ruleIndex"].get<std::size_t>()]["id"], "race.shared");
  EXPECT_EQ(race["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "src/a%20b.cu");
  EXPECT_EQ(race["locations"][0]["physicalLocation"]["region"]["startLine"], 21);
  EXPECT_EQ(race["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 25);
  EXPECT_EQ(race["codeFlows"][0]["threadFlows"].size(), 2U);
  EXPECT_EQ(race["partialFingerprints"]["simtlabFinding/v1"], "0000000000000001:1");
  EXPECT_EQ(race["baselineState"], "new");
  EXPECT_EQ(race["occurrenceCount"], 31);
}

TEST(CheckSarif, HostileTextsStayTexts) {
  const json log = json::parse(check_sarif(hostile()));
  const json& race = log["runs"][0]["results"][0];
  EXPECT_THAT(race["message"]["text"].get<std::string>(), HasSubstr("]]>&\"'<!--%0A::error::,"));
  const std::string uri = race["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
  EXPECT_EQ(uri.find_first_of(" \"<>\n\r\x1b\xff"), std::string::npos) << uri;
}

TEST(CheckGithub, PutsNotesAtLinesErrorsFirst) {
  const std::string text = check_github(sample());
  EXPECT_TRUE(
      text.starts_with("::error file=src/a b.cu,line=21,col=5,title=Race in shared memory (race.shared)"
                       "::threads (3,0,0) and (4,0,0) access 'tile' without an order. "))
      << text;
  EXPECT_THAT(text, HasSubstr("\n::warning title=Memory that is never freed (memory.leak)::4096 bytes"));
  EXPECT_THAT(text, HasSubstr("\n::notice title=Not checked::the kernel k2"));
}

TEST(CheckGithub, NoTextEndsACommandOrBeginsOne) {
  const std::string text = check_github(hostile());
  EXPECT_EQ(std::ranges::count(text, '\n'), 2) << text;
  EXPECT_THAT(text, HasSubstr("file=]]>&\"'<!--%250A%3A%3Aerror%3A%3A%2C"));
  EXPECT_EQ(text.find_first_of("\r\x1b"), std::string::npos);
}

TEST(CheckLcov, HasFunctionsBranchesWithThreeOutcomesAndLines) {
  EXPECT_EQ(check_lcov(sample()),
            "TN:simtlab_check\nSF:/work/src/a b.cu\nFN:10,sum(float*)\nFN:40,never()\nFNDA:4,sum(float*)\n"
            "FNDA:0,never()\nFNF:2\nFNH:1\nBRDA:11,0,0,1\nBRDA:11,0,1,2\nBRDA:11,0,2,3\nBRDA:14,0,0,-\n"
            "BRDA:14,0,1,-\nBRDA:14,0,2,-\nBRF:6\nBRH:3\nDA:11,4\nDA:12,0\nDA:13,0\nDA:14,4\nLF:4\nLH:2\n"
            "end_of_record\n");
  const std::string evil = check_lcov(hostile());
  EXPECT_EQ(std::ranges::count(evil, '\n'), std::ranges::count(check_lcov(sample()), '\n')) << evil;
}

TEST(CheckCoverage, FailsBelowTheShareThatIsAskedFor) {
  CheckReport report = sample();
  EXPECT_FALSE(too_little_coverage(report));
  report.coverage_min = 0.5;
  EXPECT_FALSE(too_little_coverage(report));
  report.coverage_min = 0.51;
  EXPECT_TRUE(too_little_coverage(report));
  EXPECT_THAT(check_text(report, {}), HasSubstr("less than the 51 % that --coverage-min asks for\n"));
}

TEST(CheckHtml, HasFindingsCodeAndCoverageAndNoForeignMarkup) {
  const std::string page = check_html(sample());
  for (const char* part : {"error: race.shared: threads", "src/a b.cu:21:5", "tile[i] = x; // &lt;b&gt;&amp;",
                           "no barrier since line 20", "Coverage of device code", "50.0 %",
                           "taken 1, not 2, both in one warp 3"})
    EXPECT_THAT(page, HasSubstr(part));
  const std::string evil = check_html(hostile());
  EXPECT_EQ(evil.find("<!--%"), std::string::npos);
  EXPECT_EQ(evil.find('\x1b'), std::string::npos);
}

TEST(CheckResult, IsPrintedByTheCommandsThatPrintResults) {
  EXPECT_EQ(text(sample().result, {}), check_text(sample(), {}));
  EXPECT_THAT(html(sample().result, {}), HasSubstr("error: race.shared"));
}

}  // namespace
}  // namespace simtlab::report
