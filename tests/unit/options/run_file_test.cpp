#include "options/run_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "options/rows.h"

namespace simtlab::options {
namespace {

// Every field has another value than its default.
Options others() {
  Options out = defaults();
  std::uint64_t n = 3;
  for (const Row& row : rows()) {
    if (const auto* text = std::get_if<std::string Options::*>(&row.field))
      out.** text = "/x y " + std::to_string(n);
    if (const auto* flag = std::get_if<bool Options::*>(&row.field)) out.** flag = !(out.**flag);
    if (const auto* real = std::get_if<double Options::*>(&row.field))
      out.** real = static_cast<double>(n) / 7;
    if (const auto* whole = std::get_if<std::uint64_t Options::*>(&row.field))
      out.** whole = row.maximum == UINT64_MAX ? ~n : n;
    ++n;
  }
  out.mode = "functional";
  return out;
}

bool equal(const Row& row, const Options& a, const Options& b) {
  return std::visit(
      [&](const auto& member) {
        if constexpr (std::is_same_v<std::decay_t<decltype(member)>, std::monostate>)
          return true;
        else
          return a.*member == b.*member;
      },
      row.field);
}

TEST(RunFile, EveryOptionRoundTrips) {
  RunFile run{others(), {{"sm.count", "4", {"command line", "--set sm.count=4", "", false}}}};
  const RunFile back = run_file_from_json(to_json(run), "c.json");
  const Options usual = defaults();
  for (const Row& row : rows()) {
    EXPECT_TRUE(equal(row, run.options, back.options)) << row.key;
    if (!std::holds_alternative<std::monostate>(row.field)) {
      EXPECT_FALSE(equal(row, usual, back.options)) << row.key;
    }
  }
  ASSERT_EQ(back.settings.size(), 1U);
  EXPECT_EQ(back.settings[0].key, "sm.count");
  EXPECT_EQ(back.settings[0].value, "4");
  EXPECT_EQ(back.settings[0].origin.where, "--set sm.count=4");
}

TEST(RunFile, ResultsDependOnWhatIsNotOfTheHost) {
  const Options usual = defaults(), other = others();
  const auto before = what_results_depend_on(usual), after = what_results_depend_on(other);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NE(before[i], after[i]) << before[i].first;
  for (const char* key : {"gpu", "threads", "max-time", "max-memory", "max-cycles", "record", "resume"})
    EXPECT_EQ(std::ranges::find(before, key, &std::pair<std::string, std::string>::first), before.end())
        << key;
  for (const char* key :
       {"seed", "mode", "regs", "what-if", "lowering", "lines", "cache", "predict", "check"})
    EXPECT_NE(std::ranges::find(before, key, &std::pair<std::string, std::string>::first), before.end())
        << key;
}

TEST(RunFile, BadContentIsAnErrorThatNamesTheKey) {
  const std::string good = to_json({defaults(), {}});
  for (const auto& [from, to, key] :
       std::vector<std::array<std::string, 3>>{{"\"mode\": \"timing\"", "\"mode\": \"fast\"", "mode"},
                                               {"\"max-cycles\": 0", "\"max-cycles\": -1", "max-cycles"},
                                               {"\"regs\": 0", "\"regs\": 256", "regs"},
                                               {"\"seed\": 0", "\"sed\": 0", "seed"},
                                               {"\"lines\": false", "\"lines\": 1", "lines"},
                                               {"\"settings\": []", "\"settings\": [1]", "settings"}}) {
    std::string text = good;
    ASSERT_NE(text.find(from), std::string::npos) << text;
    text.replace(text.find(from), from.size(), to);
    try {
      run_file_from_json(text, "c.json");
      ADD_FAILURE() << to;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::bad_input);
      EXPECT_NE(e.format().find(key), std::string::npos) << e.format();
    }
  }
  EXPECT_THROW(run_file_from_json("", "c.json"), Error);
}

}  // namespace
}  // namespace simtlab::options
