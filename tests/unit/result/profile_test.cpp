#include "result/profile.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "result/json.h"
#include "result/timeline.h"

namespace simtlab::result {
namespace {

Profile two_lines() {
  Profile p;
  p.reasons = {"selected", "wait"};
  p.slots = {10, 30};
  LineProfile a{.function = "f",
                .ptx_line = 7,
                .ptx = "add",
                .file = "a.cu",
                .line = 3,
                .text = "x += \"1\";",
                .instructions = 10,
                .threads = 320};
  a.slots = {5, 20};
  LineProfile b{.function = "f",
                .ptx_line = 8,
                .ptx = "ld",
                .file = "a.cu",
                .line = 3,
                .instructions = 5,
                .threads = 100};
  b.slots = {5, 10};
  b.requests = 5;
  b.sectors = 20;
  b.loads = 5;
  b.load_cycles = 500;
  p.lines = {a, b};
  return p;
}

Result with(const Profile& profile, const Series& series) {
  Result r;
  KernelResult k;
  k.name = "f";
  k.profile = profile;
  k.series = series;
  r.kernels.push_back(k);
  return r;
}

TEST(Profile, SurvivesTheResultFile) {
  Series series;
  series.interval = 100;
  series.columns = {"end", "ipc"};
  series.rows = {{100, 0.25}, {150, 1e-9}};
  const Result back = result_from_json(to_json(with(two_lines(), series)), "r.json");
  EXPECT_EQ(back.kernels.at(0).profile, two_lines());
  EXPECT_EQ(back.kernels.at(0).series, series);
  EXPECT_EQ(to_json(back), to_json(with(two_lines(), series)));
}

TEST(Profile, IsAbsentWhereNobodyAsked) {
  const std::string text = to_json(with({}, {}));
  EXPECT_EQ(text.find("profile"), std::string::npos);
  EXPECT_EQ(text.find("series"), std::string::npos);
}

TEST(Profile, LinesOfOneSourceLineAreAdded) {
  const auto lines = by_source(two_lines());
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(slots_of(lines[0]), 40u);
  EXPECT_EQ(lines[0].instructions, 15u);
  EXPECT_EQ(lines[0].ptx, "") << "it has no PTX line of its own";
}

TEST(Profile, LaunchesAreAdded) {
  Profile sum;
  merge(sum, two_lines());
  merge(sum, two_lines());
  EXPECT_EQ(sum.launches, 2u);
  EXPECT_EQ(sum.slots, (std::vector<std::uint64_t>{20, 60}));
  ASSERT_EQ(sum.lines.size(), 2u);
  EXPECT_EQ(sum.lines[1].load_cycles, 1000u);
}

TEST(Profile, HostileFilesAreRefused) {
  std::string text = to_json(with(two_lines(), {}));
  const auto replaced = [&](const std::string& a, const std::string& b) {
    std::string out = text;
    out.replace(out.find(a), a.size(), b);
    return out;
  };
  EXPECT_THROW(result_from_json(replaced("\"wait\": 20", "\"nap\": 20"), "r"), Error);
  EXPECT_THROW(result_from_json(replaced("\"wait\": 20", "\"wait\": -1"), "r"), Error);
  EXPECT_THROW(result_from_json(replaced("\"ptx_line\": 7", "\"ptx_line\": \"x\""), "r"), Error);
}

}  // namespace
}  // namespace simtlab::result
