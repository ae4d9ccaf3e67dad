#include "report/format.h"

#include <gtest/gtest.h>

#include <cmath>

namespace simtlab::report {
namespace {

TEST(Format, TimesCarryTheUnitThatKeepsThreeDigits) {
  EXPECT_EQ(format_time(0), "0 ns");
  EXPECT_EQ(format_time(812), "812 ns");
  EXPECT_EQ(format_time(999.4), "999 ns");
  EXPECT_EQ(format_time(12345), "12.3 us");
  EXPECT_EQ(format_time(1e6), "1.00 ms");
  EXPECT_EQ(format_time(2.5e9), "2.50 s");
}

TEST(Format, ARoundedValueNeverShowsAThousand) {
  EXPECT_EQ(format_time(999999), "1.00 ms");
  EXPECT_EQ(format_count(999.96e3), "1.00 M");
  EXPECT_EQ(format_count(99.96), "100");
}

TEST(Format, BytesAreBinaryAndRatesDecimal) {
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_rate(3.35e12), "3.35 TB/s");
}

TEST(Format, ExactCountsGroupThousands) {
  EXPECT_EQ(format_exact(0), "0");
  EXPECT_EQ(format_exact(999), "999");
  EXPECT_EQ(format_exact(1234567), "1,234,567");
  EXPECT_EQ(format_exact(~std::uint64_t{0}), "18,446,744,073,709,551,615");
}

TEST(Format, ATinyShareIsNotShownAsZero) {
  EXPECT_EQ(format_share(0), "0.0 %");
  EXPECT_EQ(format_share(1e-6), "<0.1 %");
  EXPECT_EQ(format_share(1), "100.0 %");
  // What is not all does not read as if it were.
  EXPECT_EQ(format_share(0.99951), ">99.9 %");
  EXPECT_EQ(format_share(0.9994), "99.9 %");
}

TEST(Format, BarsFallBackToAsciiAndStayInTheirWidth) {
  const Style ascii{}, unicode{.unicode = true};
  EXPECT_EQ(bar(0.5, 10, ascii), "#####.....");
  EXPECT_EQ(bar(7, 4, ascii), "####");
  EXPECT_EQ(bar(-1, 4, ascii), "....");
  EXPECT_EQ(bar(std::nan(""), 4, ascii), "....");
  EXPECT_EQ(bar(0.5, 2, unicode), "█·");
}

TEST(Format, NamesCannotCarryTerminalEscapes) {
  EXPECT_EQ(printable("a\x1b[31mb\n\x80"), "a?[31mb??");
  EXPECT_EQ(shortened("abcdefghij", 8), "abcde...");
  EXPECT_EQ(shortened("abcdefgh", 8), "abcdefgh");
}

TEST(Format, ColourOnlyWhenAskedFor) {
  EXPECT_EQ(painted("x", Paint::bold, Style{}), "x");
  EXPECT_EQ(painted("x", Paint::bold, Style{.colour = true}), "\x1b[1mx\x1b[0m");
}

TEST(Format, WrappingBreaksAtBlanksAndIndents) {
  EXPECT_EQ(wrapped("aa bb cc", 5, 0), "aa bb\ncc");
  EXPECT_EQ(wrapped("aa bb", 8, 4), "aa\n    bb");
  EXPECT_EQ(wrapped("", 8, 4), "");
}

}  // namespace
}  // namespace simtlab::report
