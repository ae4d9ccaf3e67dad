#include "base/error.h"

#include <gtest/gtest.h>

namespace simtlab {
namespace {

TEST(Error, PrintsPositionTextCaretAndHintLikeACompiler) {
  const Error error(
      ExitCode::bad_input, "ptx-syntax",
      Diagnostic{"expected ';'", {"k.ptx", 12, 5}, "\tadd.s32 %r1", "end the statement with ';'"});
  EXPECT_EQ(error.format(),
            "k.ptx:12:5: error: expected ';' [ptx-syntax]\n"
            "   add.s32 %r1\n"
            "      ^\n"
            "  hint: end the statement with ';'\n");
  EXPECT_STREQ(error.what(), "k.ptx:12:5: expected ';'");
}

TEST(Error, LeavesOutWhatIsUnknown) {
  const Error error(ExitCode::failure, "io", "cannot write");
  EXPECT_EQ(error.format(), "error: cannot write [io]\n");
}

TEST(Error, ShowsAWindowOfAHugeLineAndHidesUnprintableBytes) {
  std::string line(100000, 'x');
  line[50000] = '\x01';
  const Error error(ExitCode::bad_input, "ptx-syntax",
                    Diagnostic{"unexpected byte", {"k.ptx", 1, 50001}, line, ""});
  const std::string text = error.format();
  EXPECT_LT(text.size(), 400u);
  EXPECT_EQ(text.find('\x01'), std::string::npos);
  const auto caret = text.find("^\n");
  ASSERT_NE(caret, std::string::npos);
  const auto line_start = text.rfind('\n', caret) + 1;
  const auto previous_start = text.rfind('\n', line_start - 2) + 1;
  EXPECT_EQ(text[previous_start + (caret - line_start)], '?');
}

TEST(Error, PrintsEveryFinding) {
  const Error error(ExitCode::unsupported, "ptx-unsupported",
                    std::vector<Diagnostic>{{"a", {"k.ptx", 1, 1}, "", ""}, {"b", {"k.ptx", 2, 1}, "", ""}});
  EXPECT_EQ(error.format(), "k.ptx:1:1: error: a [ptx-unsupported]\nk.ptx:2:1: error: b [ptx-unsupported]\n");
}

TEST(NearestName, SuggestsOnlyWhatIsNear) {
  const std::vector<std::string> known = {"sm.count", "sm.schedulers", "l1.bytes"};
  EXPECT_EQ(nearest_name("sm.cout", known), "sm.count");
  EXPECT_EQ(nearest_name("bandwidth", known), "");
}

TEST(Assert, ThrowsASentence) {
  EXPECT_THROW(SIMTLAB_ASSERT(1 + 1 == 3, "arithmetic holds"), std::logic_error);
  EXPECT_NO_THROW(SIMTLAB_ASSERT(1 + 1 == 2, "arithmetic holds"));
}

}  // namespace
}  // namespace simtlab
