// The reader of measured curves: what it takes, and what it says of what it refuses.
#include "probe/analysis/curve.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace simtlab::probe {
namespace {

std::string rows(int n) {
  std::string out = "size_bytes,cycles\n";
  for (int i = 1; i <= n; ++i) out += fmt::format("{},{}\n", i * 1024, 30);
  return out;
}

// "id line:column"
std::string refused(const std::string& text) {
  try {
    static_cast<void>(parse_curve(text, "c.csv"));
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::bad_input);
    EXPECT_FALSE(e.diagnostics().front().hint.empty());
    EXPECT_EQ(e.diagnostics().front().pos.file, "c.csv");
    return fmt::format("{} {}:{}", e.id(), e.diagnostics().front().pos.line,
                       e.diagnostics().front().pos.column);
  }
  return "taken";
}

TEST(CurveFile, ColumnsMayComeInAnyOrderWithCommentsAndBlanks) {
  std::string text = "\xef\xbb\xbf# a board\r\n\r\n cycles , weight,size_bytes\r\n";
  for (int i = 1; i <= 8; ++i) text += fmt::format("28.5, {}, {}\r\n", i, i * 1000);
  const Curve curve = parse_curve(text, "c.csv");
  ASSERT_EQ(curve.size(), 8u);
  EXPECT_EQ(curve[1], (CurvePoint{2000, 28.5, 2}));
  EXPECT_EQ(parse_curve(rows(9), "c.csv")[8], (CurvePoint{9 * 1024, 30, 1}));
}

TEST(CurveFile, WhatIsWrongIsNamedWithItsPlace) {
  const std::string good = rows(9);
  EXPECT_EQ(refused(good + "10240,nan\n"), "curve-value 11:7");
  EXPECT_EQ(refused(good + "10240,inf\n"), "curve-value 11:7");
  EXPECT_EQ(refused(good + "10240,-5\n"), "curve-value 11:7");
  EXPECT_EQ(refused(good + "10240,0\n"), "curve-value 11:7");
  EXPECT_EQ(refused(good + "10240,1e999\n"), "curve-value 11:7");
  EXPECT_EQ(refused(good + "10240,30 cycles\n"), "curve-value 11:7");
  EXPECT_EQ(refused(good + "10240,\n"), "curve-value 11:7");
  EXPECT_EQ(refused(good + "-1,30\n"), "curve-value 11:1");
  EXPECT_EQ(refused(good + "10 KiB,30\n"), "curve-value 11:1");
  EXPECT_EQ(refused(good + "9216,31\n"), "curve-order 11:1");
  EXPECT_EQ(refused(good + " 100,31\n"), "curve-order 11:2");
  EXPECT_EQ(refused(good + "10240\n"), "curve-syntax 11:1");
  EXPECT_EQ(refused(good + "10240,30,1\n"), "curve-syntax 11:1");
  EXPECT_EQ(refused("size_bytes,latency\n1,2\n"), "curve-syntax 1:12");
  EXPECT_EQ(refused("cycles,cycles\n"), "curve-syntax 1:8");
  EXPECT_EQ(refused("cycles\n1\n"), "curve-syntax 1:1");
  EXPECT_EQ(refused("1024,30\n2048,30\n"), "curve-syntax 1:1");
  EXPECT_EQ(refused(""), "curve-syntax 0:0");
  EXPECT_EQ(refused(rows(1)), "curve-points 0:0");
  EXPECT_EQ(refused(rows(7)), "curve-points 0:0");
  EXPECT_EQ(refused(rows(8)), "taken");
  EXPECT_EQ(refused("size_bytes,cycles\n1,\x01\n"), "text-encoding 2:3");
}

TEST(CurveFile, MorePointsThanCanBeUsedAreRefused) {
  EXPECT_EQ(refused(rows(static_cast<int>(most_points))), "taken");
  EXPECT_EQ(refused(rows(static_cast<int>(most_points) + 1)), "curve-points 50002:1");
}

}  // namespace
}  // namespace simtlab::probe
