#include "options/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "options/configuration.h"
#include "options/given.h"

namespace simtlab::options {
namespace {

TEST(Rows, EachSaysWhatItIs) {
  std::set<std::string_view> keys;
  for (const Row& row : rows()) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key << " stands twice";
    EXPECT_FALSE(row.doc.empty()) << row.key;
    EXPECT_FALSE(row.doc.ends_with('.')) << row.key;
    const bool typed = row.read_by != Studies();
    EXPECT_EQ(typed, !row.group.empty()) << row.key;
    EXPECT_EQ(row.form == Form::flag, typed && row.value.empty()) << row.key;
    EXPECT_TRUE(row.parameter.empty() || std::holds_alternative<std::monostate>(row.field)) << row.key;
    if (row.layered) { EXPECT_FALSE(row.default_value.empty()) << row.key; }
  }
}

TEST(Rows, EveryStudyHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (unsigned s = 0; s < static_cast<unsigned>(Study::count_); ++s) {
    const auto study = static_cast<Study>(s);
    EXPECT_FALSE(name_of(study).empty()) << s;
    EXPECT_TRUE(names.insert(name_of(study)).second) << name_of(study);
  }
}

TEST(Rows, AValueThatIsNoneIsRefusedByName) {
  for (const Row& row : rows()) {
    if (row.read_by == Studies() || row.form != Form::text) continue;
    const bool number = std::holds_alternative<std::uint64_t Options::*>(row.field) ||
                        std::holds_alternative<double Options::*>(row.field);
    if (!number && row.choices.empty()) continue;
    Options out = defaults();
    try {
      store(row, "no such value", out);
      ADD_FAILURE() << row.key;
    } catch (const Error& e) { EXPECT_THAT(e.format(), testing::HasSubstr(std::string(row.key) + ": ")); }
  }
}

// What only a command line says is no key of a configuration file, and none of --set.
TEST(Rows, OnlyLayeredOptionsAreKeys) {
  const Surroundings nowhere{"/", [](const char*) { return std::nullopt; }};
  for (const Row& row : rows()) {
    if (row.layered || row.key == "set" || row.key == "config") continue;
    Given given;
    given.add("set", std::string(row.key) + "=1");
    EXPECT_THROW(gather(nowhere, given), Error) << row.key;
  }
}

TEST(Given, TheLastOneCounts) {
  Given given;
  given.add("gpu", "a100");
  given.add("gpu", "v100");
  given.add("set", "sm.count=4");
  given.add("set", "sm.count=5");
  EXPECT_EQ(given.get("gpu"), "v100");
  EXPECT_EQ(given.all("set").size(), 2U);
  given.set("gpu", "k40");
  EXPECT_EQ(given.all("gpu"), std::vector<std::string>{"k40"});
  given.remove("gpu");
  EXPECT_FALSE(given.has("gpu"));
}

TEST(Given, ABareNumberOfATimeIsSeconds) {
  const Surroundings nowhere{"/", [](const char*) { return std::nullopt; }};
  Given given;
  given.add("max-time", "90");
  EXPECT_EQ(gather(nowhere, given).options.max_time_s(), 90);
  given.set("max-time", "2 s");
  EXPECT_EQ(gather(nowhere, given).options.max_time_s(), 2);
}

}  // namespace
}  // namespace simtlab::options
