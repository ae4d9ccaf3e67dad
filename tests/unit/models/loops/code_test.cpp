#include "models/loops/code.h"

#include <gtest/gtest.h>

#include "models/loops/choose.h"
#include "nest.h"

namespace simtlab::models::loops {
namespace {

using namespace test;

Block chain(std::initializer_list<std::pair<std::uint32_t, std::vector<std::uint32_t>>> values) {
  Block b;
  for (const auto& [id, uses] : values) {
    Instruction i;
    i.id = id;
    i.uses = uses;
    i.words = 1;
    i.op_class = 5;
    i.count = 1;
    b.instructions.push_back(i);
  }
  return b;
}

TEST(Code, TwoAddsAndAMultiplicationOfThemHaveAParallelismOfOneAndAHalf) {  // Resios, equation 6.1
  Description nest = parse_description(nest_json(offset(columns, one), offset(columns, one)));
  nest.blocks[3].instructions = chain({{10, {}}, {11, {}}, {12, {10, 11}}}).instructions;
  const Shape shape = shape_of(nest, {64, 64, std::nullopt, std::nullopt}, {});
  device::Device device;
  device.latency.fill(16);
  device.sm.max_registers_per_thread = 63;
  const Code code = code_of(nest, shape, with_block(nest, shape, {1, 0}, {32, 8, 1}), device);
  EXPECT_DOUBLE_EQ(code.blocks[3].ilp, 1.5);
  EXPECT_DOUBLE_EQ(code.blocks[3].cycles, 32);
  EXPECT_DOUBLE_EQ(code.blocks[3].executions, 1);
}

TEST(Belady, NothingIsSpilledWhileThereIsRoom) {
  const Block b = chain({{1, {}}, {2, {}}, {3, {1, 2}}, {4, {3, 1}}});
  const Spilling s = belady(b, 3);
  EXPECT_EQ(s.spills, 0u);
  EXPECT_EQ(s.reloads, 0u);
  EXPECT_EQ(s.pressure, 2u);
}

TEST(Belady, WhatIsNeededLastMakesRoom) {
  // 1, 2, 3 are alive at once with two registers: 1 is needed last, so it goes to memory and comes back once.
  const Block b = chain({{1, {}}, {2, {}}, {3, {}}, {4, {2, 3}}, {5, {4, 1}}});
  const Spilling s = belady(b, 2);
  EXPECT_EQ(s.spills, 1u);
  EXPECT_EQ(s.reloads, 1u);
}

TEST(BlockSizes, TheLeastOfThreeWins) {
  device::Device device;
  device.sm.count = 7;
  device.sm.schedulers = 2;
  device.sm.max_warps = 48;
  device.sm.max_threads = 1536;
  device.sm.max_blocks = 8;
  device.sm.max_threads_per_block = 1024;
  device.sm.registers = 32768;
  device.sm.max_registers_per_thread = 63;
  device.dram.latency = 500;
  Code code;
  code.registers = 16;
  code.latency = 20;
  code.instructions = 100;
  code.memory = 2;
  const BlockSizes s = block_sizes(code, 1 << 20, device);
  EXPECT_DOUBLE_EQ(s.warps_for_compute, 40);  // c * L of Resios 5.2.1
  EXPECT_DOUBLE_EQ(s.warps_for_memory, 20);   // c * L / (instructions between accesses)
  EXPECT_EQ(s.latency, 160u);                 // 8 blocks of 5 warps are 40
  EXPECT_EQ(s.occupancy, 192u);               // 8 blocks of 6 warps are all 48
  EXPECT_EQ(s.chosen, std::min({s.latency, s.occupancy, s.even}));
}

}  // namespace
}  // namespace simtlab::models::loops
