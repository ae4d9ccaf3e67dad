// Sources that clang would not take as they are.
#include "compile/rewritten.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace simtlab::compile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string named(std::string text) {
  name_alignments(text);
  return text;
}

TEST(Rewritten, AlignmentsBehindAMemoryAreNamed) {
  EXPECT_EQ(named("__shared__ alignas(16) float s[N];"), "__shared__ _Algnas(16) float s[N];");
  EXPECT_EQ(named("extern __shared__\n alignas (T) char s[];"), "extern __shared__\n _Algnas (T) char s[];");
  EXPECT_EQ(named("__constant__ alignas(f(1)) alignas(8) int c;"),
            "__constant__ _Algnas(f(1)) _Algnas(8) int c;");
  EXPECT_EQ(named("__device__ alignas(8) int d;"), "__device__ _Algnas(8) int d;");
  std::string back = "error: in '_Algnas'";
  name_as_written(back);
  EXPECT_EQ(back, "error: in 'alignas'");
}

TEST(Rewritten, OtherAlignmentsStay) {
  for (const std::string text : {"struct alignas(16) P {};", "alignas(16) __shared__ float s[4];",
                                 "__shared__ float s[4]; alignas(8) int x;", "// __shared__ alignas(16)\n",
                                 "alignas(4) int x;", "f(__shared__, x) alignas(4)", "my_alignas(3)",
                                 "__shared__ alignas_16 x;", "alignas", "\"__shared__ alignas(16)\""})
    EXPECT_EQ(named(text), text);
  for (const std::string text : {"__shared__ alignas", "__shared__ alignas(", "__shared__ alignas((16"})
    EXPECT_EQ(named(text).size(), text.size());
}

class RewrittenFiles : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_ / "inc"); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("simtlab-rewritten-" + std::to_string(getpid()));
};

TEST_F(RewrittenFiles, ThoseThatTheSourceIncludesAreRewrittenToo) {
  std::ofstream(folder_ / "main.cu")
      << "#include \"part.cu\"\n#  include \"deep.cuh\"\n#include \"missing.h\"\nint main() {}\n";
  std::ofstream(folder_ / "part.cu") << "void f() { k << < 1, 1 >> > (); }\n#include \"main.cu\"\n";
  std::ofstream(folder_ / "inc/deep.cuh") << "void g() { k<< <1, 1>> >(); }\n";
  const Rewritten out = rewrite(folder_ / "main.cu", wish_of({"-I", (folder_ / "inc").string(), "-DX"}));
  ASSERT_EQ(out.files.size(), 2u);
  for (const RewrittenFile& f : out.files) EXPECT_NE(f.text.find("<<<"), std::string::npos) << f.original;
}

TEST_F(RewrittenFiles, NumbersOfCopiesComeFromAnyOfThemAndFromOptions) {
  std::ofstream(folder_ / "main.cu") << "#include \"sizes.h\"\n#pragma unroll TILE\nfor (;;) x();\n"
                                        "#pragma unroll WIDTH\nfor (;;) x();\n";
  std::ofstream(folder_ / "sizes.h") << "#define TILE 100000\n";
  RewriteWish wish = wish_of({"-D", "WIDTH=-1", "-D", "OTHER"});
  const Rewritten out = rewrite(folder_ / "main.cu", wish);
  ASSERT_EQ(out.files.size(), 1u);
  EXPECT_THAT(out.warnings,
              ElementsAre(HasSubstr("main.cu:2: warning: "), HasSubstr("main.cu:4: warning: ")));
  wish.cuda = false;
  EXPECT_EQ(rewrite(folder_ / "main.cu", wish).files.size(), 1u);
  EXPECT_EQ(rewrite(folder_ / "sizes.h", wish).files.size(), 0u);
}

}  // namespace
}  // namespace simtlab::compile
