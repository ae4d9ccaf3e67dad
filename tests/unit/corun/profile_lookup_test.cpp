// Which profile is of a launch: its program's, its kernel's, of its shape or the nearest; never another
// program's.
#include "corun/profile_lookup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace simtlab::corun {
namespace {

LaunchShape blocks(std::uint32_t n, std::uint32_t threads = 256, std::uint64_t shared = 0) {
  return {{n, 1, 1}, {threads, 1, 1}, shared};
}

KernelProfile of(const std::string& application, const std::string& kernel, double time,
                 std::optional<LaunchShape> shape = std::nullopt) {
  KernelProfile k;
  k.application = application;
  k.name = kernel;
  k.profile.time_ns = time;
  if (shape) {
    k.profile.grid = shape->grid, k.profile.block = shape->block;
    k.profile.shared_bytes = static_cast<double>(shape->shared_bytes);
  }
  return k;
}

struct Lookup : testing::Test {
  Profiles profiles;
  // The time of what is found; 0: nothing. `match` is how.
  double time(const ProgramIdentity& program, const std::string& kernel,
              const LaunchShape& shape = blocks(1)) {
    const Found found = find_profile(profiles, program, kernel, shape);
    match = found.match;
    other_build = found.other_build;
    EXPECT_EQ(found.profile.has_value(), found.match != Match::none);
    if (found.profile) { EXPECT_EQ(found.profile->nearest, found.match == Match::nearest); }
    return found.profile ? found.profile->time_ns.value_or(0) : 0;
  }
  Match match = Match::none;
  bool other_build = false;
};

TEST_F(Lookup, TwoProgramsWithOneKernelNameHaveTheirOwn) {
  profiles.add(of("k1", "_Z6kernelPfi", 100));
  profiles.add(of("light", "_Z6kernelPfi", 7));
  EXPECT_EQ(time({"k1", ""}, "_Z6kernelPfi"), 100);
  EXPECT_EQ(time({"light", ""}, "_Z6kernelPfi"), 7);
  EXPECT_EQ(time({"heavy", ""}, "_Z6kernelPfi"), 0) << "a third program has none";
  EXPECT_EQ(time({"light.nvcc", ""}, "_Z6kernelPfi"), 0);
}

TEST_F(Lookup, WhatAFileHoldsDecidesBeforeItsName) {
  KernelProfile k = of("app", "k", 5);
  k.content = "aaaa";
  profiles.add(k);
  k = of("script", "k", 9);
  k.program = "python3", k.content = "bbbb";
  profiles.add(k);
  EXPECT_EQ(time({"app", "aaaa"}, "k"), 5);
  EXPECT_EQ(time({"renamed", "aaaa"}, "k"), 5) << "the same file under another name";
  EXPECT_EQ(time({"app", "cccc"}, "k"), 0) << "another file of that name";
  EXPECT_TRUE(other_build);
  EXPECT_EQ(time({"app", ""}, "k"), 5) << "of a process whose file nobody may read the name is all";
  EXPECT_EQ(time({"python3", "bbbb"}, "k"), 9) << "the program, whatever the application is called";
  EXPECT_EQ(time({"script", ""}, "k"), 0);
  EXPECT_FALSE(other_build);
}

TEST_F(Lookup, ShapesAreFoundExactlyThenNearest) {
  profiles.add(of("app", "add <<<1, 256, 0>>>", 2, blocks(1)));
  profiles.add(of("app", "add <<<64, 256, 0>>>", 40, blocks(64)));
  profiles.add(of("app", "add <<<64, 256, 4096>>>", 44, blocks(64, 256, 4096)));
  EXPECT_EQ(time({"app", ""}, "add", blocks(1)), 2);
  EXPECT_EQ(match, Match::exact);
  EXPECT_EQ(time({"app", ""}, "add", blocks(64)), 40);
  EXPECT_EQ(time({"app", ""}, "add", blocks(64, 256, 4096)), 44);
  EXPECT_EQ(match, Match::exact);
  EXPECT_EQ(time({"app", ""}, "add", blocks(50)), 40);
  EXPECT_EQ(match, Match::nearest);
  EXPECT_EQ(time({"app", ""}, "add", blocks(2)), 2);
  EXPECT_EQ(time({"app", ""}, "add", blocks(32, 512)), 40) << "as many threads";
  EXPECT_EQ(match, Match::nearest);
  profiles.add(of("app", "add", 11));
  EXPECT_EQ(time({"app", ""}, "add", blocks(50)), 11)
      << "one without a shape is of all of which there is no other";
  EXPECT_EQ(match, Match::any_shape);
  EXPECT_EQ(time({"app", ""}, "add", blocks(64)), 40);
}

TEST_F(Lookup, KernelsAreKnownByTheirMangledTheirDemangledOrTheirBareName) {
  profiles.add(of("app", "scale", 1));
  profiles.add(of("app", "shift(float*, int)", 2));
  EXPECT_EQ(time({"app", ""}, "_Z5scalePfi"), 1);
  EXPECT_EQ(time({"app", ""}, "_Z5shiftPfi"), 2);
  EXPECT_EQ(time({"app", ""}, "_Z5shiftPdi"), 0) << "of other parameters";
  EXPECT_EQ(time({"app", ""}, "_Z5scaleIfEvPT_i"), 1) << "a template's";
  profiles.add(of("app", "_Z5scalePfi", 3));
  EXPECT_EQ(time({"app", ""}, "_Z5scalePfi"), 3) << "the most precise one";
  profiles.add(of("app", "(graph)", 4, blocks(1, 1)));
  EXPECT_EQ(time({"app", ""}, "(graph)", LaunchShape{}), 4);
}

TEST(LaunchShapes, AreWrittenInKeysAndTakenFromSteps) {
  EXPECT_EQ(text_of({{64, 1, 1}, {32, 8, 1}, 1024}), "<<<64, 32x8, 1024>>>");
  EXPECT_EQ(text_of({{4, 4, 2}, {1, 1, 1}, 0}), "<<<4x4x2, 1, 0>>>");
  EXPECT_EQ(kernel_of("add <<<64, 256, 0>>>"), "add");
  EXPECT_EQ(kernel_of("add"), "add");
  EXPECT_EQ(kernel_of("f <<<x"), "f <<<x");
  EXPECT_EQ(key_of("app", "add", LaunchShape{{64, 1, 1}, {256, 1, 1}, 0}), "app/add <<<64, 256, 0>>>");
  EXPECT_EQ(key_of("app", "(graph)", std::nullopt), "app/(graph)");
}

}  // namespace
}  // namespace simtlab::corun
