#include "compile/launch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace simtlab::compile {
namespace {

LaunchSpec parse(const std::string& text) { return parse_launch_file(text, "dir/launch.toml"); }

std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::bad_input);
    return e.format();
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

TEST(LaunchFile, SaysKernelShapeArgumentsAndExpectations) {
  const LaunchSpec s = parse(R"(
kernel = "saxpy"
global = 1024
block = [128, 2]
shared = 64
[[arg]]
type = "f32"
value = 2
[[arg]]
name = "x"
type = "f32"
shape = [64, 16]
init = "iota"
[[arg]]
name = "y"
type = "s64"
shape = 3
values = [1, -2]
[[arg]]
local = 4096
[[expect]]
arg = "y"
values = [1]
tolerance = 1e-6
[[expect]]
arg = 1
file = "x.bin"
)");
  EXPECT_EQ(s.kernel, "saxpy");
  EXPECT_FALSE(s.grid.has_value());
  EXPECT_EQ(s.global.value()[0], 1024u);
  EXPECT_EQ(s.block.value(), (std::array<std::uint32_t, 3>{128, 2, 1}));
  EXPECT_EQ(s.shared_bytes, 64u);
  ASSERT_EQ(s.args.size(), 4u);
  EXPECT_EQ(s.args[0].kind, LaunchArg::Kind::scalar);
  EXPECT_EQ(s.args[0].value.as_double(), 2);
  EXPECT_EQ(s.args[1].elements(), 1024u);
  EXPECT_EQ(s.args[1].bytes(), 4096u);
  EXPECT_EQ(s.args[1].contents.kind, Contents::Kind::iota);
  EXPECT_EQ(s.args[2].contents.values.at(1).integer, -2);
  EXPECT_EQ(s.args[3].local_bytes, 4096u);
  ASSERT_EQ(s.expect.size(), 2u);
  EXPECT_EQ(s.expect[0].arg, 2u);
  EXPECT_EQ(s.expect[0].tolerance, 1e-6);
  EXPECT_EQ(s.expect[1].contents.file, "dir/x.bin");  // relative to the launch file
}

TEST(LaunchFile, MistakesAreShownWithTheirLine) {
  EXPECT_THAT(
      error_of("kernel = \"k\"\ngird = 4\n"),
      testing::AllOf(testing::HasSubstr("dir/launch.toml:2:1"), testing::HasSubstr("did you mean 'grid'?")));
  EXPECT_THAT(error_of("block = [0]\n"), testing::HasSubstr("a dimension of 'block' is 0"));
  EXPECT_THAT(error_of("grid = 1\nglobal = 2\n"), testing::HasSubstr("keep one of them"));
  EXPECT_THAT(error_of("[[arg]]\ntype = \"f16\"\nvalue = 1\n"), testing::HasSubstr("one of u8, s8"));
  EXPECT_THAT(error_of("[[arg]]\ntype = \"u8\"\nvalue = 256\n"), testing::HasSubstr("256 does not fit u8"));
  EXPECT_THAT(error_of("[[arg]]\ntype = \"u8\"\nvalue = 1.5\n"), testing::HasSubstr("not a whole number"));
  EXPECT_THAT(error_of("[[arg]]\ntype = \"u8\"\nvalue = 1\nshape = 3\n"),
              testing::HasSubstr("exactly one of"));
  EXPECT_THAT(error_of("[[arg]]\ntype = \"u8\"\nshape = 2\nvalues = [1, 2, 3]\n"),
              testing::HasSubstr("3 values for a buffer of 2"));
  EXPECT_THAT(error_of("[[arg]]\ntype = \"u8\"\nshape = 2\ninit = \"ones\"\n"),
              testing::HasSubstr("zero, none, iota or random"));
  EXPECT_THAT(error_of("[[arg]]\ntype = \"f64\"\nshape = [1000000, 1000000]\n"),
              testing::HasSubstr("larger than"));
  EXPECT_THAT(error_of("[[arg]]\ntype = \"u8\"\nshape = 2\n[[expect]]\narg = 1\nvalue = 0\n"),
              testing::HasSubstr("no argument 1"));
  EXPECT_THAT(
      error_of("[[arg]]\ntype = \"u8\"\nshape = 2\nname = \"out\"\n[[expect]]\narg = \"ouf\"\nvalue = 0\n"),
      testing::HasSubstr("did you mean 'out'?"));
  EXPECT_THAT(error_of("kernel = \n"), testing::HasSubstr("launch.toml:1"));
}

TEST(LaunchFile, DeepNestingIsRefusedAndNotDescended) {
  EXPECT_THAT(error_of("grid = " + std::string(100000, '[')), testing::HasSubstr("nested too deeply"));
}

TEST(LaunchOptions, TheFormsOfTheManualAreRead) {
  LaunchOptions o;
  o.kernel = "transpose";
  o.global = "64x64";
  o.block = "16x16";
  o.args = {"buffer:64x64:f32:iota",
            "buffer:64x64:f32",
            "u32:64",
            "f32:1.5",
            "local:4096",
            "s32:-5",
            "u64:0xffffffffffffffff",
            "buffer:4:u8:random=7",
            "buffer:4:u8:file=a:b.bin"};
  const LaunchSpec s = launch_from_options(o);
  EXPECT_EQ(s.kernel, "transpose");
  EXPECT_EQ(s.global.value(), (std::array<std::uint32_t, 3>{64, 64, 1}));
  ASSERT_EQ(s.args.size(), 9u);
  EXPECT_EQ(s.args[0].contents.kind, Contents::Kind::iota);
  EXPECT_EQ(s.args[1].contents.kind, Contents::Kind::zero);
  EXPECT_EQ(s.args[2].value.integer, 64);
  EXPECT_EQ(s.args[3].value.real, 1.5);
  EXPECT_EQ(s.args[4].local_bytes, 4096u);
  EXPECT_EQ(s.args[5].value.integer, -5);
  EXPECT_EQ(static_cast<std::uint64_t>(s.args[6].value.integer), ~0ull);
  EXPECT_EQ(s.args[7].contents.seed.value(), 7u);
  EXPECT_EQ(s.args[8].contents.file, "a:b.bin");
}

// One buffer 'x' of f32 and an expectation with `lines`.
std::string expecting(const std::string& lines) {
  return "grid = 1\nblock = 1\n[[arg]]\nname = \"x\"\ntype = \"f32\"\nshape = 4\n[[expect]]\narg = \"x\"\n" +
         lines;
}

TEST(LaunchFile, AnExpectationThatComparesNothingIsAnError) {
  EXPECT_THAT(error_of(expecting("values = []\n")),
              testing::AllOf(testing::HasSubstr("launch.toml:9:10: error: no values"),
                             testing::HasSubstr("[launch-file]")));
  EXPECT_THAT(error_of(expecting("value = 1\ntolerance = inf\n")),
              testing::HasSubstr("launch.toml:10:13: error: 'tolerance' must be finite"));
  EXPECT_THAT(error_of(expecting("value = 1\ntolerance = nan\n")),
              testing::HasSubstr("'tolerance' must not be negative"));
}

TEST(LaunchFile, ASecondArgumentOfTheSameNameIsAnError) {
  const std::string one = "[[arg]]\nname = \"x\"\ntype = \"u32\"\nvalue = 1\n";
  EXPECT_THAT(error_of(one + one),
              testing::HasSubstr("launch.toml:6:8: error: argument 0 has the name 'x', too"));
}

TEST(LaunchFile, FloatsThatDoNotFitAreErrorsLikeIntegers) {
  EXPECT_THAT(error_of(expecting("value = 1e39\n")),
              testing::HasSubstr("launch.toml:9:9: error: 1e+39 does not fit f32"));
  EXPECT_THAT(error_of(expecting("values = [1, -1e39]\n")),
              testing::HasSubstr("does not fit f32: it would become -inf"));
  EXPECT_THAT(error_of(expecting("value = 1e-60\n")), testing::HasSubstr("it would become 0"));
  for (const char* fine : {"inf", "-inf", "nan", "0.0", "-0.0", "1e-40", "3.4e38"})
    EXPECT_NO_THROW(parse(expecting(std::string("value = ") + fine + "\n"))) << fine;
}

TEST(LaunchFile, AnEmptyKernelNameIsAnError) {
  EXPECT_THAT(error_of("kernel = \"\"\n"), testing::HasSubstr("launch.toml:1:10: error: 'kernel' is empty"));
}

TEST(LaunchFile, ForeignTextInMessagesIsShortAndPrintable) {
  const std::string text =
      error_of("[[arg]]\ntype = \"\\u001b[31m" + std::string(100000, 'x') + "\"\nvalue = 1\n");
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_LT(text.size(), 1000U);
}

TEST(LaunchOptions, OptionsWinOverTheLaunchFile) {
  LaunchOptions o;
  o.grid = "8";
  const LaunchSpec s = launch_from_options(o, parse("kernel = \"k\"\nglobal = 64\nblock = 32\n"));
  EXPECT_EQ(s.kernel, "k");
  EXPECT_EQ(s.grid.value()[0], 8u);
  EXPECT_FALSE(s.global.has_value());
  EXPECT_EQ(s.block.value()[0], 32u);
}

TEST(LaunchOptions, WrongFormsAreUsageErrorsThatShowTheRightOnes) {
  for (const char* bad : {"buffer:64",
                          "buffer:0:f32",
                          "buffer:4:f99",
                          "buffer:4:f32:ones",
                          "f32:",
                          "f32:abc",
                          "f32:1e39",
                          "f32:-1e39",
                          "f32:1e-60",
                          "f64:1e999",
                          "u8:300",
                          "u8:-1",
                          "s8:0x80",
                          "u64:-1",
                          "local:x",
                          "local",
                          "",
                          "nonsense:1",
                          "f32:1:2",
                          "buffer:99999999999999999999:f32",
                          "buffer:4:u8:random=x",
                          "buffer:4:u8:file="}) {
    LaunchOptions o;
    o.args = {bad};
    try {
      launch_from_options(o);
      ADD_FAILURE() << "accepted: " << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::usage) << bad;
      EXPECT_THAT(e.format(), testing::HasSubstr("buffer:64x64:f32")) << bad;
    }
  }
  for (const char* bad : {"", "0", "1x2x3x4", "a", "-1", "4294967296", "1x"}) {
    LaunchOptions o;
    o.grid = bad;
    EXPECT_THROW(launch_from_options(o), Error) << bad;
  }
}

}  // namespace
}  // namespace simtlab::compile
