#include "models/loops/parallel.h"

#include <gtest/gtest.h>

#include "nest.h"

namespace simtlab::models::loops {
namespace {

using namespace test;

const std::string unknown_self = R"([{"a":1,"b":1,"confused":true,"directions":[]}])";

Parallelism judge(std::string json, std::int64_t n, std::int64_t m, bool one_array = false,
                  const std::vector<Touched>& touched = {}) {
  if (one_array) json.replace(json.find("\"input\":3"), 9, "\"input\":2");
  const Description nest = parse_description(json);
  return parallelism(nest, shape_of(nest, {n, m, std::nullopt, std::nullopt}, {}), touched);
}

TEST(Parallel, ARowMajorStoreIsProvedByNumbers) {
  const Parallelism p = judge(nest_json(offset(columns, one), offset(columns, one), unknown_self), 100, 50);
  EXPECT_EQ(p.loops, (std::vector{Verdict::parallel, Verdict::parallel}));
}

TEST(Parallel, AStoreToOneElementIsCarriedByBoth) {
  const Parallelism p = judge(nest_json(offset(columns, one), offset(none, none), unknown_self), 100, 50);
  EXPECT_EQ(p.loops, (std::vector{Verdict::carried, Verdict::carried}));
  EXPECT_NE(p.findings.front().hint.find("reduction"), std::string::npos);
}

TEST(Parallel, ASumOverTheInnerLoopLeavesTheOuterOne) {
  const Parallelism p = judge(nest_json(offset(columns, one), offset(one, none), unknown_self), 100, 50);
  EXPECT_EQ(p.loops, (std::vector{Verdict::parallel, Verdict::carried}));
}

TEST(Parallel, TheRowBeforeIsReadInPlace) {
  const std::string both = R"([{"a":0,"b":1,"confused":true,"directions":[]}])";
  const Parallelism p = judge(
      nest_json(
          times(
              4,
              R"(["sext",64,["+",32,["iv",32,0,["const",32,0],["arg",32,1]],["iv",32,1,["const",32,0],["const",32,1]]]])"),
          offset(columns, one, 4, 50), both),
      100, 50, true);
  EXPECT_EQ(p.loops, (std::vector{Verdict::carried, Verdict::parallel}));  // base of 50 elements: one row on
}

TEST(Parallel, TransposingInPlaceIsSeen) {
  const std::string both = R"([{"a":0,"b":1,"confused":true,"directions":[]}])";
  const Parallelism p = judge(nest_json(offset(columns, one), offset(one, rows), both), 64, 64, true);
  EXPECT_EQ(p.loops, (std::vector{Verdict::carried, Verdict::carried}));
}

TEST(Parallel, RowsThatOverlapAreSeen) {  // rows of 50 elements that begin every 49
  const std::string step = R"(["const",32,49])";
  const Parallelism p = judge(nest_json(offset(columns, one), offset(step, one), unknown_self), 100, 50);
  EXPECT_EQ(p.loops, (std::vector{Verdict::carried, Verdict::carried}));
}

TEST(Parallel, PointersThatMayOverlapAreUnprovenUntilARunSawThemApart) {
  const std::string both = R"([{"a":0,"b":1,"confused":true,"directions":[]}])";
  const std::string json = nest_json(offset(columns, one), offset(columns, one), both);
  EXPECT_EQ(judge(json, 10, 10).loops.front(), Verdict::unproven);
  const Parallelism p = judge(json, 10, 10, false, {{}, {}, {1000, 1400, false}, {1400, 1800, true}});
  EXPECT_EQ(p.loops.front(), Verdict::parallel);
  EXPECT_FALSE(p.notes.empty());
  EXPECT_EQ(judge(json, 10, 10, false, {{}, {}, {1000, 1404, false}, {1400, 1800, true}}).loops.front(),
            Verdict::unproven);
}

// Row i is written from column i + 1 on, its mirror column above: what a full square of iterations would
// meet, the triangle does not.
TEST(Parallel, ATriangleIsNotTakenForASquare) {
  const std::string both = R"([{"a":0,"b":1,"confused":true,"directions":[]}])";
  const std::string next = R"(["iv",32,0,["const",32,1],["const",32,1]])",
                    i = R"(["iv",32,0,["const",32,0],["const",32,1]])";
  const std::string j = R"(["+",32,)" + next + R"(,["iv",32,1,["const",32,0],["const",32,1]]])";
  const auto at = [](const std::string& row, const std::string& column) {
    return times(4, R"(["sext",64,["+",32,["*",32,["const",32,28],)" + row + "]," + column + "]]");
  };
  std::string json = nest_json(at(j, i), at(i, j), both);
  // The inner loop runs from i + 1 to the end.
  const std::string full = R"("trips":["smax",32,["const",32,0],["arg",32,1]])",
                    rest =
                        R"("trips":["smax",32,["const",32,0],["+",32,["arg",32,1],["*",32,["const",32,-1],)" +
                        next + "]]]";
  json.replace(json.find(full), full.size(), rest);
  const Parallelism p = judge(json, 27, 28, true);
  EXPECT_EQ(p.loops.front(), Verdict::parallel);
}

TEST(Parallel, AnIndexThatOverflowsIsNoLinearFunction) {
  const Parallelism p =
      judge(nest_json(offset(columns, one), offset(columns, one), unknown_self), 1'000'000, 1'000'000);
  EXPECT_EQ(p.loops.front(), Verdict::unproven);
  EXPECT_NE(p.findings.front().text.find("32 bits"), std::string::npos);
}

TEST(Parallel, EnormousSizesAreNotProved) {  // and overflow nothing
  const Parallelism p = judge(
      nest_json(offset(columns, one),
                R"(["*",64,["const",64,8589934592],["sext",64,["iv",32,0,["const",32,0],["const",32,1]]]])",
                unknown_self),
      2'000'000'000, 2'000'000'000);
  EXPECT_NE(p.loops.front(), Verdict::parallel);
}

TEST(Parallel, WhereDataDecideNothingIsProved) {
  const Parallelism p = judge(
      nest_json(offset(columns, one), R"(["*",64,["const",64,4],["load",64,0]])", unknown_self), 100, 50);
  EXPECT_EQ(p.loops.front(), Verdict::unproven);
}

}  // namespace
}  // namespace simtlab::models::loops
