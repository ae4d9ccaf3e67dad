#include "result/findings.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/error.h"
#include "result/json.h"
#include "result/merge_findings.h"

namespace simtlab::result {
namespace {

// Findings with whatever may stand in them.
class RandomFindings {
 public:
  explicit RandomFindings(unsigned seed) : random_(seed) {}

  CheckResult result() {
    CheckResult out;
    for (std::size_t i = number(4); i > 0; --i) out.checks.push_back(text());
    for (std::size_t i = number(5); i > 0; --i) out.findings.push_back(finding());
    for (std::size_t i = number(3); i > 0; --i) out.coverage.push_back(covered());
    for (std::size_t i = number(3); i > 0; --i) out.gaps.push_back(text());
    out.launches = wide();
    return out;
  }

 private:
  std::uint64_t number(std::uint64_t below) { return random_() % below; }
  std::uint64_t wide() { return number(3) == 0 ? ~std::uint64_t{0} - number(5) : number(1000); }
  std::uint32_t narrow() { return static_cast<std::uint32_t>(number(3) == 0 ? 0xffffffffu : number(100)); }
  std::string text() {
    static const std::vector<std::string> parts = {"a",  "<b>&amp;", "\"q\"", "\n", "\\",         "\x01",
                                                   "%s", "\xc3\xa9", "'",     "\t", "tile[i + 1]"};
    std::string out;
    for (std::size_t i = number(4); i > 0; --i) out += parts[number(parts.size())];
    return out;
  }
  CodePlace place() {
    const std::string file = number(4) == 0 ? "no\xff utf8" : text();
    return {text(), text(), file, narrow(), narrow(), text(), narrow(), text(), text()};
  }
  Access access() {
    return {place(), text(), wide(), {narrow(), narrow(), narrow()}, {narrow(), narrow(), narrow()}, text()};
  }
  Finding finding() {
    Finding f;
    f.rule = finding_rules()[number(finding_rules().size())].id;
    f.level = number(2) == 0 ? Level::error : Level::warning;
    f.message = text();
    for (std::size_t i = number(4); i > 0; --i) f.accesses.push_back(access());
    f.memory = text(), f.missing = text(), f.mend = text(), f.hint = text(), f.order = text();
    f.count = wide();
    return f;
  }
  CoveredFile covered() {
    CoveredFile out;
    out.file = text();
    for (std::size_t i = number(3); i > 0; --i) out.functions.push_back({text(), narrow(), wide()});
    for (std::size_t i = number(3); i > 0; --i)
      out.lines.push_back({narrow(), wide(), static_cast<std::uint32_t>(number(33))});
    for (std::size_t i = number(3); i > 0; --i)
      out.branches.push_back({narrow(), narrow(), wide(), wide(), wide()});
    return out;
  }

  std::mt19937 random_;
};

TEST(Findings, RulesHaveNamesTitlesAndHelp) {
  std::set<std::string_view> ids;
  for (const FindingRule& rule : finding_rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_FALSE(rule.title.empty()) << rule.id;
    EXPECT_TRUE(rule.help.ends_with('.')) << rule.id;
    EXPECT_EQ(find_finding_rule(rule.id), &rule);
  }
  EXPECT_EQ(find_finding_rule("race"), nullptr);
}

TEST(Findings, AnyRoundTripThroughTheResultFile) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Result result;
    result.check = RandomFindings(seed).result();
    const std::string text = to_json(result);
    const Result back = result_from_json(text, "r.json");
    ASSERT_TRUE(back.check);
    EXPECT_EQ(*back.check, *result.check) << seed;
    EXPECT_EQ(to_json(back), text) << seed;
  }
}

TEST(Findings, AResultWithoutACheckHasNone) {
  EXPECT_FALSE(result_from_json(to_json(Result{}), "r.json").check);
}

Finding race(const std::string& file, std::uint32_t line, std::uint64_t count) {
  Finding f;
  f.rule = "race.shared";
  f.message = "m";
  f.count = count;
  Access& access = f.accesses.emplace_back();
  access.what = "w";
  access.place.file = file;
  access.place.line = line;
  return f;
}

std::string error_when(std::string from, const std::string& to) {
  Result result;
  result.check.emplace();
  result.check->findings.push_back(race("", 0, 1));
  result.check->coverage.push_back({"f", {}, {{1, 2, 32}}, {}});
  std::string text = to_json(result);
  EXPECT_NE(text.find(from), std::string::npos) << from << " in " << text;
  text.replace(text.find(from), from.size(), to);
  try {
    result_from_json(text, "r.json");
  } catch (const Error& e) { return e.format(); }
  return "no error";
}

TEST(Findings, HostileMembersAreNamed) {
  const auto says = [](const std::string& from, const std::string& to, const std::string& what) {
    const std::string error = error_when(from, to);
    EXPECT_NE(error.find(what), std::string::npos) << error;
    EXPECT_NE(error.find("result-json"), std::string::npos) << error;
  };
  says("\"race.shared\"", "\"race.nowhere\"", "'check.findings[0].rule' is not a rule");
  says("\"race.shared\"", "7", "'check.findings[0].rule' is not a string");
  says("\"level\": \"error\"", "\"level\": \"fatal\"", "error or warning");
  says("\"count\": 1", "\"count\": -1", "'check.findings[0].count'");
  says("\"block\": [0, 0, 0]", "\"block\": [0, 0]", "'check.findings[0].accesses[0].block' is not three");
  says("\"thread\": [0, 0, 0]", "\"thread\": [0, 0, 4294967296]", "a whole number in range");
  says("\"place\": {}", "\"place\": []", "'check.findings[0].accesses[0].place' is not an object");
  says("[1, 2, 32]", "[1, 2, 33]", "'check.coverage[0].lines[0][2]'");
  says("[1, 2, 32]", "[1, 2]", "'check.coverage[0].lines[0]' is not a list");
  says("\"launches\": 0", "\"launched\": 0", "'check.launches' is missing");
}

TEST(Findings, OfTwoProcessesAreMerged) {
  CheckResult one{{"races"}, {race("a.cu", 7, 2)}, {{"b.cu", {{"k", 1, 2}}, {{1, 2, 4}}, {}}}, {"g"}, 3};
  CheckResult other{
      {"races", "init"},
      {race("a.cu", 3, 1), race("a.cu", 7, 5)},
      {{"a.cu", {}, {}, {}}, {"b.cu", {{"k", 1, 1}}, {{0, 1, 1}, {1, 1, 32}}, {{1, 0, 1, 2, 3}}}},
      {"g", "h"},
      1};
  merge(one, std::move(other));
  EXPECT_EQ(one.launches, 4U);
  EXPECT_EQ(one.checks, (std::vector<std::string>{"races", "init"}));
  EXPECT_EQ(one.gaps, (std::vector<std::string>{"g", "h"}));
  ASSERT_EQ(one.findings.size(), 2U);
  EXPECT_EQ(one.findings[0].accesses[0].place.line, 3U);
  EXPECT_EQ(one.findings[1].count, 7U);
  ASSERT_EQ(one.coverage.size(), 2U);
  EXPECT_EQ(one.coverage[0].file, "a.cu");
  EXPECT_EQ(one.coverage[1].functions, (std::vector<CoveredFunction>{{"k", 1, 3}}));
  EXPECT_EQ(one.coverage[1].lines, (std::vector<CoveredLine>{{0, 1, 1}, {1, 3, 32}}));
  EXPECT_EQ(one.coverage[1].branches, (std::vector<CoveredBranch>{{1, 0, 1, 2, 3}}));
}

}  // namespace
}  // namespace simtlab::result
