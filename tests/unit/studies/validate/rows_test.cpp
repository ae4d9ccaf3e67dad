// Rows of validations: errors, files, and what counts as worse.
#include "studies/validate/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/error.h"

namespace simtlab::studies::validate {
namespace {

Row sample_row() {
  Row row = value_row("sizes", "v100", "L1, a \"quoted\" name", "bytes", 100, 110);
  row.over = "median of 3 sizes", row.worst = 0.2, row.target = 0.15, row.role = Role::held_out,
  row.source = "a.csv", row.note = "b, c # d";
  return row;
}

TEST(Rows, ErrorsOfValuesAreRelativeAndOfIntervalsTheDistance) {
  EXPECT_DOUBLE_EQ(error_of(110, 100, 100), 0.1);
  EXPECT_DOUBLE_EQ(error_of(90, 100, 100), -0.1);
  EXPECT_EQ(error_of(105, 100, 110), 0);
  EXPECT_DOUBLE_EQ(error_of(121, 100, 110), 0.1);
  EXPECT_DOUBLE_EQ(error_of(50, 100, {}), -0.5);
  EXPECT_EQ(error_of(500, 100, {}), 0);
  EXPECT_DOUBLE_EQ(error_of(3, {}, 0), 3) << "of nothing there is no part";
}

TEST(Rows, TargetsAreMetUpToThemselves) {
  Row row = sample_row();
  EXPECT_TRUE(row.met()) << "no target of the worst";
  row.worst_target = 0.2;
  EXPECT_TRUE(row.met());
  row.worst_target = 0.19;
  EXPECT_FALSE(row.met());
  row.worst_target.reset();
  row.error = -0.1501;
  EXPECT_FALSE(row.met());
  row.target.reset();
  EXPECT_TRUE(row.met());
}

TEST(Rows, AFileGivesBackWhatWasWritten) {
  Row other = bounded_row("sizes", "a100", "x", "1", {}, 2.5, 1);
  const std::vector<Row> rows = {sample_row(), other};
  const std::string text = to_csv(rows, "one\ntwo");
  EXPECT_TRUE(text.starts_with("# one\n# two\ngroup,device,"));
  EXPECT_EQ(parse_csv("f", text), rows);
  EXPECT_EQ(rows_of(table_of(rows)), rows);
  Row third = value_row("g", "d", "q", "1", 3, 1);
  EXPECT_EQ(rounded(rounded(third)), rounded(third));
  EXPECT_EQ(rounded(third).error, -0.666667);
}

TEST(Rows, WorseIsAGreaterErrorOrARowThatIsGone) {
  const std::vector<Row> before = {sample_row()};
  std::vector<Row> now = before;
  EXPECT_TRUE(worse(before, now, 0).empty());
  now[0].error = -0.104;
  EXPECT_TRUE(worse(before, now, 0.005).empty()) << "the sign is not what counts";
  EXPECT_EQ(worse(before, now, 0.003).size(), 1);
  now[0].error = 0, now[0].worst = 0.21;
  EXPECT_EQ(worse(before, now, 0.005),
            std::vector<std::string>{"sizes: v100: L1, a \"quoted\" name: worst error 21.0 %, was 20.0 %"});
  now[0].worst.reset();
  EXPECT_EQ(worse(before, now, 0.005).size(), 1);
  now[0].device = "h100";
  EXPECT_EQ(worse(before, now, 1),
            std::vector<std::string>{"sizes: v100: L1, a \"quoted\" name: the row is gone"});
}

TEST(Rows, NumbersForPeople) {
  Row row = value_row("g", "d", "q", "share", 0.117, 0.0818);
  EXPECT_EQ(reference_text(row), "11.7 %");
  EXPECT_EQ(ours_text(row), "8.18 %");
  EXPECT_EQ(error_text(row), "-30.1 %");
  EXPECT_EQ(error_text(value_row("g", "d", "q", "clocks", 1174500, 1174501)), "0.0 %");
  EXPECT_EQ(reference_text(value_row("g", "d", "q", "clocks", 1174500, 1)), "1174500 clocks");
  EXPECT_EQ(reference_text(bounded_row("g", "d", "q", "1", 1.4, {}, 1)), "at least 1.4");
  EXPECT_EQ(reference_text(bounded_row("g", "d", "q", "1", {}, 2, 1)), "at most 2");
  EXPECT_EQ(reference_text(bounded_row("g", "d", "q", "bytes", 1024, 2 << 20, 1)), "1 KiB to 2 MiB");
  EXPECT_EQ(target_text(sample_row()), "15 %");
  row.target = 0.0;
  EXPECT_EQ(target_text(row), "equal");
  row.high = 0.2;
  EXPECT_EQ(target_text(row), "inside");
}

TEST(Rows, SummariesCountTargets) {
  std::vector<Row> rows = {sample_row(), sample_row(), sample_row()};
  rows[1].error = -0.3, rows[2].target.reset();
  const Summary s = summarise(rows);
  EXPECT_EQ(s.rows, 3);
  EXPECT_EQ(s.targets, 2);
  EXPECT_EQ(s.missed, 1);
  EXPECT_DOUBLE_EQ(s.median, 0.1);
  EXPECT_DOUBLE_EQ(s.worst, 0.3);
}

// What the report of `simtlab predict` says of its first model.
// The report of a prediction says so: on loops no other one is nearer by more than a point.
TEST(Rows, ThroughputIsTheNearestOfTheModels) {
  const std::string folder = std::string(SIMTLAB_SOURCE_DIR) + "/data/validation/";
  for (const auto& [file, group] :
       {std::pair{"predict.csv", "loop nests"}, std::pair{"predict.recorded.csv", "programs"}}) {
    std::map<std::string, std::vector<double>> errors;
    for (const Row& row : read_rows(folder + file)) {
      if (row.group != group) continue;
      const std::size_t colon = row.quantity.rfind(": ");
      if (colon == std::string::npos || row.quantity.starts_with("all: ")) continue;
      errors[row.quantity.substr(colon + 2)].push_back(std::abs(row.error));
    }
    const auto mean = [&](const std::string& model) {
      const std::vector<double>& all = errors.at(model);
      return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
    };
    ASSERT_TRUE(errors.contains("throughput")) << group;
    for (const char* other : {"resios", "mwp-cwp", "mwp-cwp-2012"}) {
      // Nobody ran the programs with it.
      if (group == std::string("programs") && other == std::string("resios")) continue;
      ASSERT_TRUE(errors.contains(other)) << group;
      const double as_near = group == std::string("loop nests") ? 0.01 : 0;
      EXPECT_LE(mean("throughput"), mean(other) + as_near) << group << ", " << other;
    }
  }
}

}  // namespace
}  // namespace simtlab::studies::validate
