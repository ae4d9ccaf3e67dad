#include "studies/common/terminal_text.h"

#include <gtest/gtest.h>

namespace simtlab::studies {
namespace {

TEST(TerminalText, OrdinaryTextAndColoursPass) {
  for (const char* text : {"", "a\tb\r\nc\n", "\x1b[1mbold\x1b[0m \x1b[31;1m",
                           "gr\xc3\xbc\xc3\x9f"
                           "e \xe2\x96\x88",
                           "\x1b[m"})
    EXPECT_EQ(terminal_text(text), text);
}

TEST(TerminalText, NothingElsePasses) {
  EXPECT_EQ(terminal_text("\x1b]0;t\x07"), "?]0;t?");
  EXPECT_EQ(terminal_text("\x1b[2J\x1b[31\x1b["), "?[2J?[31?[");
  EXPECT_EQ(terminal_text("a\rb\x08\x7f"), "a?b??");
  EXPECT_EQ(terminal_text("\xc2\x9b"
                          "2J\x9b"
                          "2J\xff"),
            "?2J?2J?");
  EXPECT_EQ(terminal_text("\xe2\x80\xae\xe2\x80\xa8"), "??");
}

}  // namespace
}  // namespace simtlab::studies
