#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "result/fingerprint.h"
#include "studies/check/baseline.h"
#include "studies/check/glob.h"
#include "studies/check/judge.h"
#include "studies/check/xml.h"

namespace simtlab::studies {
namespace {

using report::Standing;
using result::Finding;
using testing::HasSubstr;

Finding found(const std::string& rule, const std::string& kernel, std::uint32_t line,
              const std::string& text) {
  Finding f;
  f.rule = rule;
  f.message = "m";
  result::Access& a = f.accesses.emplace_back();
  a.place.kernel = a.place.function = kernel;
  a.place.file = "/work/src/a.cu";
  a.place.line = line;
  a.place.text = text;
  a.launch = 1;
  return f;
}

result::Result sample() {
  result::Result r;
  r.manifest.working_directory = "/work";
  for (const char* name : {"sum(float*)", "mark(int*)"}) r.kernels.emplace_back().demangled = name;
  r.check.emplace();
  r.check->checks = {"races"};
  r.check->launches = 2;
  r.check->findings = {found("race.shared", "sum(float*)", 7, "s += tile[i + 1];"),
                       found("race.same-value", "mark(int*)", 31, "seen[v] = 1;")};
  Finding leak;
  leak.rule = "memory.leak";
  leak.message = "4096 bytes at 0x7f00 are never freed";
  r.check->findings.push_back(leak);
  return r;
}

std::vector<Standing> standings(const report::CheckReport& report) {
  std::vector<Standing> out;
  for (const report::Judgement& j : report.judgements) out.push_back(j.standing);
  return out;
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::bad_input);
    return e.format();
  }
  return "no error";
}

TEST(CheckGlob, KnowsStarsAndQuestionMarks) {
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("race.*", "race.shared"));
  EXPECT_TRUE(glob_matches("*a*b?", "xxaxxabc"));
  EXPECT_TRUE(glob_matches("f(int*)", "f(int*)"));
  EXPECT_FALSE(glob_matches("race", "race.shared"));
  EXPECT_FALSE(glob_matches("?", ""));
  EXPECT_FALSE(glob_matches(std::string(40, '*') + "b", std::string(20000, 'a')));
  EXPECT_TRUE(glob_names_file("a.cu", "/work/src/a.cu", "/work"));
  EXPECT_TRUE(glob_names_file("src/*", "/work/src/a.cu", "/work"));
  EXPECT_TRUE(glob_names_file("/work/*.cu", "/work/src/a.cu", ""));
  EXPECT_FALSE(glob_names_file("src/*", "/works/src/a.cu", "/work"));
}

TEST(CheckFingerprint, StaysWhileLinesMoveAndTellsEqualOnesApart) {
  const auto one = [](const Finding& f) { return result::fingerprints({f}).front(); };
  Finding here = found("race.shared", "k", 7, "x  = y;"), moved = found("race.shared", "k", 70, "x = y; ");
  moved.count = 9;
  moved.accesses[0].value = "3";
  EXPECT_EQ(one(here), one(moved));
  EXPECT_NE(one(here), one(found("race.global", "k", 7, "x = y;")));
  EXPECT_NE(one(here), one(found("race.shared", "l", 7, "x = y;")));
  EXPECT_NE(one(here), one(found("race.shared", "k", 7, "x = z;")));
  const std::vector<std::string> twins = result::fingerprints({here, moved});
  EXPECT_TRUE(twins[0].ends_with(":1"));
  EXPECT_EQ(twins[1], twins[0].substr(0, 17) + "2");
  Finding leak, other;
  leak.rule = other.rule = "memory.leak";
  leak.message = "4096 bytes at 0x7f00 are never freed", other.message = "17 bytes at 0x1 are never freed";
  EXPECT_EQ(one(leak), one(other));
}

TEST(CheckSuppression, ByRuleKernelFileTextAndLine) {
  const auto matched = [](const std::string& keys) {
    result::Result r = sample();
    Judging j;
    j.suppressions = suppressions_from("[[suppression]]\nreason = \"r\"\n" + keys, "s.toml");
    const report::CheckReport report = judge(r, j);
    std::string out;
    for (const Standing s : standings(report)) out += s == Standing::suppressed ? 's' : '.';
    EXPECT_EQ(report.warnings.empty(), out != "...") << keys;
    return out;
  };
  EXPECT_EQ(matched("rule = \"race.*\""), "ss.");
  EXPECT_EQ(matched("rule = \"memory.leak\""), "..s");
  EXPECT_EQ(matched("kernel = \"mark\""), ".s.");
  EXPECT_EQ(matched("kernel = \"*int*\""), ".s.");
  EXPECT_EQ(matched("file = \"src/*.cu\""), "ss.");
  EXPECT_EQ(matched("file = \"a.cu\"\nline = 7"), "s..");
  EXPECT_EQ(matched("text = \"seen[v]\""), ".s.");
  EXPECT_EQ(matched("rule = \"race.shared\"\ntext = \"seen[v]\""), "...");
}

TEST(CheckSuppression, BadFilesNameTheLine) {
  const auto error = [](const std::string& text) {
    return error_of([&] { suppressions_from(text, "s.toml"); });
  };
  EXPECT_THAT(error("[[suppression]]\nrule = \"race.shard\"\nreason = \"r\""),
              testing::AllOf(HasSubstr("s.toml:2:"), HasSubstr("did you mean 'race.shared'?")));
  EXPECT_THAT(error("[[suppression]]\nrule = \"race.*\""), HasSubstr("no 'reason'"));
  EXPECT_THAT(error("[[suppression]]\nreason = \"r\""), HasSubstr("silence everything"));
  EXPECT_THAT(error("[[suppression]]\nkernal = \"x\"\nreason = \"r\""), HasSubstr("kernel"));
  EXPECT_THAT(error("[[suppression]]\nline = 0\nfile = \"a\"\nreason = \"r\""), HasSubstr("no line number"));
  EXPECT_THAT(error("suppression = 3"), HasSubstr("[[suppression]]"));
  EXPECT_THAT(error("[[suppression"), HasSubstr("toml-syntax"));
}

TEST(CheckSuppression, ReadsWhatComputeSanitizerWrites) {
  const std::string xml =
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!-- c --><ComputeSanitizerOutput version='1'>\n<record>\n"
      "<kind>Race</kind><level>Error</level>\n<what><text>a &lt; b</text></what>\n"
      "<where><func>sum(float*)</func><path>/elsewhere/a.cu</path><line>7</line></where></record>\n"
      "<record><kind>Leak</kind><what><text>Leaked 4 "
      "bytes</text></what></record>\n</ComputeSanitizerOutput>\n";
  Judging j;
  std::vector<std::string> warnings;
  j.suppressions = sanitizer_suppressions(xml, "s.xml", warnings);
  ASSERT_EQ(j.suppressions.size(), 1U);
  EXPECT_EQ(j.suppressions[0].from, "s.xml:3");
  EXPECT_THAT(warnings, testing::ElementsAre(HasSubstr("s.xml:7: the record names no device code")));
  result::Result r = sample();
  EXPECT_THAT(standings(judge(r, j)),
              testing::ElementsAre(Standing::suppressed, Standing::open, Standing::open));
}

TEST(CheckXml, HostileTextsAreErrors) {
  const auto error = [](const std::string& text) { return error_of([&] { parse_xml(text, "s.xml"); }); };
  EXPECT_THAT(error(""), HasSubstr("an element is expected"));
  EXPECT_THAT(error("<a>\n<b></a>"), HasSubstr("s.xml:2"));
  EXPECT_THAT(error("<a>&x;</a>"), HasSubstr("entity"));
  EXPECT_THAT(error("<!DOCTYPE a [<!ENTITY x \"y\">]><a/>"), HasSubstr("document type"));
  EXPECT_THAT(error("<a/><b/>"), HasSubstr("more behind"));
  EXPECT_THAT(error("<a b=\"c>"), HasSubstr("attribute"));
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  EXPECT_THAT(error(deep), HasSubstr("too deep"));
  const std::string good = "<a><b>x</b><![CDATA[<y>]]></a>";
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_NE(error(good.substr(0, n)), "no error") << n;
  EXPECT_EQ(parse_xml(good, "s.xml").text, "<y>");
}

TEST(CheckBaseline, WhatWasWrittenIsKnownAndNewOnesAreNot) {
  result::Result r = sample();
  const std::string text = baseline_of(judge(r, {}));
  EXPECT_THAT(text, HasSubstr("place = \"src/a.cu: seen[v] = 1;\""));
  result::Result later = sample();
  for (Finding& f : later.check->findings)
    for (result::Access& a : f.accesses) a.place.line += 100;
  later.check->findings.push_back(found("race.global", "sum(float*)", 9, "x[0] = 1;"));
  Judging j;
  j.baseline = baseline_from(text, "b.toml");
  const report::CheckReport report = judge(later, j);
  EXPECT_THAT(standings(report),
              testing::ElementsAre(Standing::known, Standing::known, Standing::known, Standing::open));
  EXPECT_TRUE(report.warnings.empty());
  result::Result mended = sample();
  mended.check->findings.pop_back();
  EXPECT_THAT(judge(mended, j).warnings,
              testing::ElementsAre(HasSubstr("1 finding of the baseline did not show")));
  EXPECT_THAT(error_of([] { baseline_from("[[finding]]\nrule = \"x\"", "b.toml"); }),
              HasSubstr("no fingerprint"));
}

TEST(CheckFilter, LeavesKernelsOutOfFindingsAndSaysSo) {
  result::Result r = sample();
  Judging j;
  j.kernels = {"su?", "nothing*"};
  const report::CheckReport report = judge(r, j);
  ASSERT_EQ(r.check->findings.size(), 2U);
  EXPECT_EQ(r.check->findings[0].rule, "race.shared");
  EXPECT_EQ(r.check->findings[1].rule, "memory.leak");  // no kernel's
  EXPECT_EQ(report.result.kernels.size(), 1U);
  EXPECT_THAT(report.check().gaps, testing::ElementsAre(HasSubstr("mark(int*): --kernel-name")));
  EXPECT_THAT(report.warnings, testing::ElementsAre(HasSubstr("nothing* names no kernel")));
  result::Result other = sample();
  j = {};
  j.without_kernels = {"*"};
  EXPECT_EQ(judge(other, j).check().findings.size(), 1U);
}

TEST(CheckJunit, HasACaseAKernelAndCheckAndIsXmlWhateverTheNames) {
  result::Result r = sample();
  const std::string evil = "<k>&\"']]>\n\x1b\xff(int*)";
  r.kernels[0].demangled = evil;
  Finding& f = r.check->findings[0];
  f.message = f.accesses[0].place.kernel = f.accesses[0].place.text = evil;
  r.check->checks = {"memory", "races", "coverage"};
  r.check->gaps = {evil};
  Judging j;
  j.suppressions =
      suppressions_from("[[suppression]]\nkernel = \"mark\"\nreason = \"on <purpose>\"", "s.toml");
  const XmlElement root = parse_xml(report::check_junit(judge(r, j)), "j.xml");
  ASSERT_EQ(root.name, "testsuites");
  const XmlElement* suite = root.child("testsuite");
  ASSERT_NE(suite, nullptr);
  std::size_t cases = 0, failures = 0, skipped = 0;
  for (const XmlElement& one : suite->children) {
    cases += one.name == "testcase";
    if (const XmlElement* failure = one.child("failure")) {
      ++failures;
      EXPECT_THAT(failure->text, HasSubstr("hint"));
    }
    skipped += one.child("skipped") != nullptr;
  }
  EXPECT_EQ(cases, 5U);  // two kernels with two checks each, and the leak of the program
  EXPECT_EQ(failures, 2U);
  EXPECT_EQ(skipped, 1U);
}

}  // namespace
}  // namespace simtlab::studies
