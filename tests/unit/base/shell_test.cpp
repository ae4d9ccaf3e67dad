#include "base/shell.h"

#include <gtest/gtest.h>

namespace simtlab {
namespace {

using Words = std::vector<std::string>;

TEST(Shell, OrdinaryWordsStandAsTheyAre) {
  EXPECT_EQ(shell_words({"simtlab", "run", "a b.cu", "it's", ""}), "simtlab run 'a b.cu' 'it'\\''s' ''");
  EXPECT_EQ(shell_quoted("gr\xc3\xbcn.cu"), "'gr\xc3\xbcn.cu'");
}

TEST(Shell, WhatCannotBePrintedIsEscaped) {
  EXPECT_EQ(shell_quoted("caf\xe9.ptx"), "$'caf\\xe9.ptx'");
  EXPECT_EQ(shell_quoted("a\nb"), "$'a\\x0ab'");
  EXPECT_EQ(shell_quoted("\x1b'\\"), "$'\\x1b\\'\\\\'");
  EXPECT_EQ(shell_quoted("\xc2\x9b"), "$'\\xc2\\x9b'");
}

TEST(Shell, EveryWordComesBack) {
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  Words words = {"",
                 "plain",
                 "a b",
                 "it's",
                 "$'x'",
                 "\\",
                 "$(x)",
                 all,
                 all + "f",
                 "\xe9"
                 "0"};
  for (int c = 1; c < 256; ++c) words.push_back(std::string(1, static_cast<char>(c)) + "a0");
  EXPECT_EQ(unquoted(shell_words(words)), words);
  EXPECT_EQ(unquoted(script_words(words)), words);
  EXPECT_EQ(unquoted(""), Words{});
}

TEST(Shell, PathsInJsonComeBack) {
  for (const std::string path :
       {"a/b c.ptx", "caf\xe9.ptx", "$'x'", "$'", "'", "a\nb", "gr\xc3\xbcn", "", "\xff'\\"})
    EXPECT_EQ(path_of(path_text(path)), path);
  EXPECT_EQ(path_text("a/b c"), "a/b c");
}

}  // namespace
}  // namespace simtlab
