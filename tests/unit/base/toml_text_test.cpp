#include "base/toml_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace simtlab {
namespace {

using testing::HasSubstr;

constexpr TomlText::Form form{"some-file", "some-syntax", "see the page", 1000};

template <typename F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) { return e.format(); }
  return "none";
}

TEST(TomlText, shows_the_line_that_it_is_about) {
  const std::string text = "a = 1\nb = 2\r\n" + std::string(900, 'x') + "\n";
  const TomlText toml(text, "f.toml", form);
  EXPECT_EQ(toml.line(1), "a = 1");
  EXPECT_EQ(toml.line(2).substr(0, 5), "b = 2");
  EXPECT_LT(toml.line(3).size(), 500u);
  EXPECT_EQ(toml.line(0), "");
  EXPECT_EQ(toml.line(9), "");
  const std::string error = error_of([&] { toml.fail(1, 5, "one is too few", "take two"); });
  EXPECT_THAT(error, HasSubstr("f.toml:1:5: error: one is too few [some-file]"));
  EXPECT_THAT(error, HasSubstr("a = 1"));
  EXPECT_THAT(error, HasSubstr("take two"));
  EXPECT_THAT(error_of([&] { toml.fail_syntax(2, 1, "no value"); }), HasSubstr("[some-syntax]"));
}

TEST(TomlText, keys_that_are_not_known) {
  const TomlText toml("shapes = 1\n", "f.toml", form);
  EXPECT_THAT(error_of([&] {
                toml.fail_key(1, 1, "shapes", {"shape", "seed"}, "box");
              }),
              HasSubstr("did you mean 'shape'?"));
  EXPECT_THAT(error_of([&] {
                toml.fail_key(1, 1, "q", {"shape", "seed"}, "box");
              }),
              HasSubstr("known: shape, seed"));
}

TEST(TomlText, what_would_exhaust_a_parser_that_descends_is_refused) {
  const auto refused = [](const std::string& text) {
    return error_of([&] { TomlText(text, "f.toml", form); });
  };
  EXPECT_THAT(refused("x = 1\ny = " + std::string(17, '[')),
              HasSubstr("f.toml:2:1: error: arrays or tables are nested too deeply"));
  std::string key = "a";
  for (int i = 0; i < 200; ++i) key += ".a";
  EXPECT_THAT(refused(key + " = 1\n"), HasSubstr("nested too deeply"));
  EXPECT_THAT(refused("[" + key + "]\n"), HasSubstr("nested too deeply"));
  EXPECT_EQ(refused("x = [[1, 2], [3, 4]]\na.b.c = 1\nversion = \"1.2.3\"\n"), "none");
  EXPECT_THAT(refused(std::string(2000, 'x')), HasSubstr("text-encoding"));
  EXPECT_THAT(refused("x = \"\xff\""), HasSubstr("text-encoding"));
}

}  // namespace
}  // namespace simtlab
