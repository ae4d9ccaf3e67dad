#include "base/text_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace simtlab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(std::string_view text) {
  try {
    checked_lines(text, "f", 100);
  } catch (const Error& e) { return e.format(); }
  ADD_FAILURE() << "accepted";
  return {};
}

TEST(TextFile, splits_lines_with_any_line_end) {
  EXPECT_THAT(checked_lines("a\nb\r\n\nc", "f", 100), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(checked_lines("a\n", "f", 100), ElementsAre("a"));
  EXPECT_TRUE(checked_lines("", "f", 100).empty());
}

TEST(TextFile, takes_every_valid_utf8_length) {
  EXPECT_EQ(checked_lines("\t\xc2\xb5 \xe2\x82\xac \xf0\x9f\x98\x80", "f", 100).size(), 1U);
}

TEST(TextFile, names_the_place_of_broken_utf8_and_control_characters) {
  EXPECT_THAT(error_of("ok\nab\xff"), HasSubstr("f:2:3: error: byte 0xff is no UTF-8"));
  EXPECT_THAT(error_of("\xc0\x80"), HasSubstr("0xc0"));          // over-long
  EXPECT_THAT(error_of("\xe0\x80\x80"), HasSubstr("0xe0"));      // over-long
  EXPECT_THAT(error_of("\xed\xa0\x80"), HasSubstr("0xed"));      // surrogate
  EXPECT_THAT(error_of("\xf4\x90\x80\x80"), HasSubstr("0xf4"));  // beyond the last character
  EXPECT_THAT(error_of("\xe2\x82"), HasSubstr("0xe2"));          // cut off
  EXPECT_THAT(error_of("\x80"), HasSubstr("0x80"));
  EXPECT_THAT(error_of(std::string_view("a\0", 2)), HasSubstr("f:1:2: error: control character 0x00"));
  EXPECT_THAT(error_of("a\rb"), HasSubstr("control character 0x0d"));
}

TEST(TextFile, refuses_a_long_line) {
  EXPECT_NO_THROW(checked_lines(std::string(100, 'a'), "f", 100));
  EXPECT_THAT(error_of(std::string(101, 'a')), HasSubstr("a line of more than 100 bytes"));
}

}  // namespace
}  // namespace simtlab
