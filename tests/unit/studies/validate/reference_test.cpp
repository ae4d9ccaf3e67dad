#include "studies/validate/reference.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace simtlab::studies::validate {
namespace {

TEST(Table, ReadsRowsAfterCommentsAndNames) {
  const Table t("t.csv",
                "# where from\ndevices,board,set,kib,cycles\na;b,x,,2,30\na,x,l2.bytes=1 MiB,1,20.5\n");
  ASSERT_EQ(t.size(), 2u);
  EXPECT_EQ(t.text(0, "board"), "x");
  EXPECT_DOUBLE_EQ(t.number(1, "cycles"), 20.5);
  EXPECT_EQ(devices_of(t), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(devices_of(t, "board"), std::vector<std::string>{"x"});
}

TEST(Table, SaysWhatIsWrongWhere) {
  const auto fails = [](const char* text, const char* says) {
    try {
      const Table t("t.csv", text);
      for (std::size_t i = 0; i < t.size(); ++i) (void)t.number(i, "kib");
      FAIL() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.id(), "measured-syntax");
      EXPECT_NE(e.format().find(says), std::string::npos) << e.format();
    }
  };
  fails("", "no line of column names");
  fails("devices,kib\na\n", "t.csv:2");
  fails("devices,kib\na,1x\n", "'1x' in column 'kib'");
  fails("devices,kib\na,-1\n", "'-1'");
  fails("devices,kib\na,0\n", "above 0");
  fails("devices,size\na,1\n", "no column 'kib'");
}

TEST(Curves, AreByBoardAndRise) {
  const Table t("t.csv",
                "devices,board,set,kib,cycles\nd,x,,2,30\nd,y,s=1,4,50\nd;e,x,,1,20\nother,x,,1,20\n");
  const std::vector<Curve> curves = curves_of(t, "d", "cycles");
  ASSERT_EQ(curves.size(), 2u);
  ASSERT_EQ(curves[0].points.size(), 2u);
  EXPECT_EQ(curves[0].points[0].bytes, 1024);
  EXPECT_EQ(curves[0].points[1].value, 30);
  EXPECT_EQ(curves[1].set, "s=1");
}

}  // namespace
}  // namespace simtlab::studies::validate
