#include "base/shown.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace simtlab {
namespace {

TEST(Shown, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(shown("saxpy<float>"), "saxpy<float>");
  EXPECT_EQ(shown("gr\xc3\xb6\xc3\x9f"
                  "e"),
            "gr\xc3\xb6\xc3\x9f"
            "e");
  EXPECT_EQ(shown(""), "");
}

TEST(Shown, ReplacesWhatATerminalWouldObey) {
  EXPECT_EQ(shown("\x1b[31mEVIL\x07\x7f"), "?[31mEVIL??");
  EXPECT_EQ(shown("a\xc2\x9b"
                  "31m"),
            "a?31m");
  EXPECT_EQ(shown("a\nb\tc"), "a?b?c");
  EXPECT_EQ(shown("\xc2"), "?");
  EXPECT_EQ(shown("a\x9b"
                  "31m\xff"),
            "a?31m?");
  // Turns the text round
  EXPECT_EQ(shown("user\xe2\x80\xaegpj.exe\xe2\x81\xa6\xe2\x80\xa8\xd8\x9c"), "user?gpj.exe???");
}

TEST(Shown, CutsBetweenCharacters) {
  EXPECT_EQ(shown(std::string(5'000'000, 'x')).size(), 203U);
  EXPECT_EQ(shown("ab\xc3\xb6", 3), "ab...");
  EXPECT_EQ(shown(std::string(10, '\x80'), 5).size(), 5U);
}

TEST(Shown, KeepsTheLinesOfAMessage) {
  EXPECT_EQ(shown_lines("a\x1b\nlonger line\n\tb", 4), "a?\nlong...\n\tb");
}

TEST(Shown, ErrorsNeverCarryControlCharactersOrMegabytesToATerminal) {
  const std::string evil = "\x1b[31m" + std::string(5'000'000, 'x') + "\x07";
  const Error error(ExitCode::bad_input, "x", Diagnostic{"no kernel '" + evil + "'", {evil, 1, 1}, {}, evil});
  for (const std::string& text : {error.format(), std::string(error.what())}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\x07'), std::string::npos);
    EXPECT_LT(text.size(), 10'000U);
  }
}

}  // namespace
}  // namespace simtlab
