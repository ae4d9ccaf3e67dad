#include "models/loops/c_text.h"

#include <gtest/gtest.h>

namespace simtlab::models::loops {
namespace {

TEST(CText, AForInPieces) {
  const std::string source =
      "int x;\n  for (int i = f(\";\", ';'); i < n /* ; */; i += 2)\n    if (a[i]) { b[i] = \"}\"[0]; } else "
      "c[i] = 1;\nint y;\n";
  const CText text(source);
  ForStatement f;
  ASSERT_TRUE(read_for(text, text.offset(2, 3), f));
  EXPECT_EQ(f.init, "int i = f(\";\", ';')");
  EXPECT_EQ(f.condition, "i < n /* ; */");
  EXPECT_EQ(f.advance, "i += 2");
  EXPECT_EQ(source.substr(f.body, 9), "if (a[i])");
  EXPECT_EQ(source.substr(f.end - 9, 9), "c[i] = 1;");
  EXPECT_FALSE(read_for(text, text.offset(1, 1), f));
  EXPECT_FALSE(read_for(text, source.size(), f));
}

TEST(CText, StatementsEndWhereTheyEnd) {
  const auto end = [](std::string_view s) { return CText(s).statement(0); };
  EXPECT_EQ(end("a = b; c"), 6u);
  EXPECT_EQ(end("{ a; { b; } } c"), 13u);
  EXPECT_EQ(end("while (x) { y; } z"), 16u);
  EXPECT_EQ(end("do { y; } while (x); z"), 20u);
  EXPECT_EQ(end("if (x) y; else if (z) { w; } else v; u"), 36u);
  EXPECT_EQ(end("for (;;"), 7u);  // cut off: never beyond the end
  EXPECT_EQ(end("\"open"), 5u);
  EXPECT_EQ(end("/* open"), 7u);
}

TEST(CText, WhatAFileDeclares) {
  const std::string source =
      "// first\n#include <a.h>\n#define X(a) \\\n  a\ntypedef struct { int a; } T;\nenum { N = 3 };\nstatic "
      "float g[N] = {1, 2};\nstatic T add(T a, T b) {\n  return a;\n}\nint main(void)\n{ return 0; }\n";
  const std::vector<TopLevel> items = top_level(CText(source));
  using enum TopLevel::Kind;
  std::vector<TopLevel::Kind> kinds;
  for (const TopLevel& t : items) kinds.push_back(t.kind);
  EXPECT_EQ(kinds, (std::vector{preprocessor, preprocessor, type, type, other, function, function}));
  EXPECT_EQ(items[5].name, "add");
  EXPECT_EQ(items[6].name, "main");
}

TEST(CText, ContinueOfTheLoopItself) {
  const std::string_view body =
      "{ if (a) continue; for (;;) { continue; } while (x) continue; s = \"continue\"; if (b) continue; }";
  EXPECT_EQ(continues(CText(body), 0, body.size()),
            (std::vector<std::size_t>{body.find("continue"), body.rfind("continue")}));
}

TEST(CText, Identifiers) {
  EXPECT_EQ(identifiers("a1 + 0x1f*b[_c]"), (std::vector<std::string>{"a1", "b", "_c"}));
}

}  // namespace
}  // namespace simtlab::models::loops
