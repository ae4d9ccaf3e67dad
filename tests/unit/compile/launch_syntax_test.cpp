// Launch brackets with blanks in them.
#include "compile/launch_syntax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace simtlab::compile {
namespace {

std::string joined(std::string text) {
  join_launch_brackets(text);
  return text;
}

TEST(LaunchSyntax, BlanksInsideTheBracketsMoveBehindThem) {
  EXPECT_EQ(joined("k << < g, b >> > (x);"), "k <<<  g, b >>>  (x);");
  EXPECT_EQ(joined("k<<\t<g, b>> >(x);"), "k<<< g, b>>> (x);");
  EXPECT_EQ(joined("k< < <g, b> > >(x);"), "k<<<  g, b>>>  (x);");
}

TEST(LaunchSyntax, LengthAndLinesAreKept) {
  const std::string text = "\nk << < dim3(1,\n 2), b >> > (x);\n";
  const std::string out = joined(text);
  EXPECT_EQ(out.size(), text.size());
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 3);
}

TEST(LaunchSyntax, OrdinaryCodeIsLeftAlone) {
  for (const std::string text :
       {"k<<<g, b>>>(x);", "std::vector<std::vector<std::vector<int> > > v;", "A<B<C<int>> > a;",
        "x = a << b >> c;", "const char* s = \"<< < not a launch >> >\";", "// k << < g >> > (x)\n",
        "/* k << < g */", "char c = '<'; int a = 1'000 << 2;",
        "friend std::ostream& operator<< <T>(std::ostream&, const M<T>&);", "cout << \"a\" << \"b\";"})
    EXPECT_EQ(joined(text), text);
}

TEST(LaunchSyntax, ShiftsAndComparisonsInsideParenthesesAreNoEnd) {
  EXPECT_EQ(joined("k<< <(n >> 3), f(a > b, c)>> >(x);"), "k<<< (n >> 3), f(a > b, c)>>> (x);");
}

TEST(LaunchSyntax, UnfinishedTextEndsQuietly) {
  for (const std::string text : {"k << < g", "\"", "/*", "'", "<", "k <<", ""})
    EXPECT_EQ(joined(text).size(), text.size());
}

}  // namespace
}  // namespace simtlab::compile
