// The table of the thesis' listings 7.1 and 7.2 (1024-wide images): strides, sectors, lines and passes under
// both mappings.
#include "models/loops/pattern.h"

#include <gtest/gtest.h>

#include "models/loops/shape.h"
#include "nest.h"

namespace simtlab::models::loops {
namespace {

using namespace test;

struct Looked {
  Description nest;
  Shape shape;
  std::vector<Pattern> patterns;
};

Looked look(const std::string& load, const std::string& store, std::vector<int> loops, int bytes = 4,
            std::uint64_t l1_bytes = 128 << 10) {
  Looked out{parse_description(nest_json(load, store, "[]", bytes)), {}, {}};
  out.shape = shape_of(out.nest, {1024, 1024, std::nullopt, std::nullopt}, {});
  device::Device device;
  device.sm.count = 16;
  device.sm.max_warps = 64;
  device.sm.max_blocks = 32;
  device.l1.bytes = l1_bytes;
  out.patterns =
      patterns(out.nest, out.shape, with_block(out.nest, out.shape, std::move(loops), {32, 8, 1}), device);
  return out;
}

void expect(const Pattern& p, std::int64_t stride, double sectors, double lines, double passes) {
  EXPECT_TRUE(p.evaluable);
  ASSERT_TRUE(p.stride);
  EXPECT_EQ(*p.stride, stride);
  EXPECT_EQ(p.sectors, sectors);
  EXPECT_EQ(p.lines, lines);
  EXPECT_EQ(p.passes, passes);
}

TEST(Listing71, LanesOnTheInnerLoopReadInOrder) {
  const Looked l = look(offset(columns, one), offset(one, rows), {1, 0});
  expect(l.patterns[0], 4, 4, 1, 1);
  expect(l.patterns[1], 4096, 32, 32, 32);
}

TEST(Listing71, LanesOnTheOuterLoopWriteInOrder) {
  const Looked l = look(offset(columns, one), offset(one, rows), {0, 1});
  expect(l.patterns[0], 4096, 32, 32, 32);
  expect(l.patterns[1], 4, 4, 1, 1);
}

// Pixels of three bytes; the row is 3072 bytes, and the inner loop goes on by three.
TEST(Listing72, BytesOfPixels) {
  const std::string row = R"(["*",32,["const",32,3],["arg",32,1]])", three = R"(["const",32,3])";
  const Looked x = look(offset(row, three, 1), offset(none, none, 1), {1, 0}, 1);
  ASSERT_TRUE(x.patterns[0].stride);
  EXPECT_EQ(*x.patterns[0].stride, 3);
  EXPECT_GE(x.patterns[0].sectors, 3);  // 94 bytes: three or four sectors, one or two lines, as the row lies
  EXPECT_LE(x.patterns[0].sectors, 4);
  EXPECT_EQ(x.patterns[0].passes, 1);
  expect(x.patterns[1], 0, 1, 1, 1);  // the filter: the same for all lanes
  const Looked y = look(offset(row, three, 1), offset(none, none, 1), {0, 1}, 1);
  expect(y.patterns[0], 3072, 32, 32, 32);
}

TEST(Pattern, WhatDependsOnDataIsTakenForTheWorst) {
  const Looked l = look(R"(["*",64,["const",64,4],["load",64,0]])", offset(columns, one), {1, 0});
  EXPECT_FALSE(l.patterns[0].evaluable);
  EXPECT_EQ(l.patterns[0].lines, 32);
  EXPECT_FALSE(l.patterns[0].stride);
}

TEST(Pattern, RowsThatAreReadByAllWarpsOfABlockAreReused) {
  const Looked l = look(offset(none, one), offset(columns, one), {1, 0});  // in[j]: the same for each i
  EXPECT_EQ(l.patterns[0].block_reuse, 8);
  EXPECT_EQ(l.patterns[1].block_reuse, 1);
}

// in[j] with j in each thread: 8 warps of a block ask 8 times for each word, and a sector has 8 of them.
TEST(Pattern, WarpsAndIterationsReuseTogetherWhatStaysInL1) {
  const std::string in = offset(none, one), out = offset(columns, one);
  const Looked l = look(in, out, {0});
  EXPECT_EQ(l.patterns[0].block_reuse, 8);
  EXPECT_EQ(l.patterns[0].step_reuse, 8);
  EXPECT_EQ(l.patterns[0].near_reuse, 64);
  // A line of each of an SM's two blocks has to stay.
  EXPECT_EQ(look(in, out, {0}, 4, 256).patterns[0].near_reuse, 64);
  EXPECT_EQ(look(in, out, {0}, 4, 255).patterns[0].near_reuse, 1);
}

}  // namespace
}  // namespace simtlab::models::loops
