#include "studies/common/points.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace simtlab::studies {
namespace {

using testing::HasSubstr;

// The time is the first value; at 3 the point is impossible, at 4 the sweep ends.
Outcome swept(const std::vector<Axis>& axes, ExitCode end = ExitCode::failure) {
  const auto at = [end](const std::vector<std::string>& values) {
    if (values[0] == "3") throw Error(ExitCode::bad_input, "row", "3 is odd", "take 2");
    if (values[0] == "4") throw Error(end, "end", "no more");
    result::Result out;
    out.total.set("gpu.time", std::stod(values[0]));
    out.total.set("gpu.ipc", 1.0);
    return out;
  };
  const auto columns = [](const std::vector<SweptPoint>& points) {
    SweptColumns out;
    out.head = fmt::format("time of {}", points.size());
    out.row = [](const result::Metrics& total, const report::Style&) {
      return fmt::format("{} ns", *total.get("gpu.time"));
    };
    out.csv = {"gpu.time", "gpu.cycles"};
    out.value = [](const result::Metrics& total, const std::string& metric) { return total.get(metric); };
    return out;
  };
  return sweep_points(
      {axes, "test-sweep", "testing", at, [](const Error& e) { return e.id() == "row"; }, columns}, {});
}

TEST(Points, ImpossibleOnesAreRowsWithEachHintOnce) {
  const Outcome out = swept({{"n", {"2", "3"}}, {"a.long.name.of.an.axis", {"x", "y"}}});
  EXPECT_EQ(out.code, 0);
  EXPECT_EQ(text_of(out, {}),
            "n             a.long.name.of.an.axis  time of 4\n"
            "2             x                       2 ns\n"
            "2             y                       2 ns\n"
            "3             x                       3 is odd\n"
            "3             y                       3 is odd\n"
            "hint: take 2\n");
  EXPECT_EQ(csv_of(out),
            "n,a.long.name.of.an.axis,gpu.time,gpu.cycles,problem\n2,x,2,,\n2,y,2,,\n3,x,,,\"3 is odd\"\n"
            "3,y,,,\"3 is odd\"\n");
  const auto sweep = nlohmann::json::parse(json_of(out))["sweep"];
  ASSERT_EQ(sweep.size(), 4u);
  EXPECT_EQ(sweep[1]["point"]["a.long.name.of.an.axis"], "y");
  EXPECT_EQ(sweep[1]["total"], nlohmann::json::parse(R"({"gpu.time": {"value": 2.0, "unit": "ns"}})"));
  EXPECT_EQ(sweep[2]["problem"], "3 is odd");
  EXPECT_EQ(sweep[2]["hint"], "take 2");
  EXPECT_FALSE(sweep[2].contains("total"));
}

TEST(Points, ASweepOfImpossiblePointsHasFailed) {
  EXPECT_EQ(swept({{"n", {"3", "3"}}}).code, static_cast<int>(ExitCode::bad_input));
}

TEST(Points, AnInterruptLeavesWhatIsDone) {
  const Outcome out = swept({{"n", {"1", "4", "2"}}}, ExitCode::interrupted);
  ASSERT_TRUE(out.failure);
  EXPECT_THAT(text_of(out, {}), HasSubstr("INCOMPLETE: interrupted after 1 of 3 variants"));
  EXPECT_EQ(nlohmann::json::parse(json_of(out))["interrupted"], true);
  EXPECT_THROW(swept({{"n", {"4", "1"}}}, ExitCode::interrupted), Error) << "nothing is done";
  EXPECT_THROW(swept({{"n", {"1", "4"}}}), Error) << "another error ends it";
}

}  // namespace
}  // namespace simtlab::studies
