#include "device/occupancy.h"

#include <gtest/gtest.h>

#include "device/catalogue.h"

namespace simtlab::device {
namespace {

constexpr std::uint64_t kib = 1024;

Device device_of(const std::string& name) { return load_device(name).device; }

// CUDA C++ Best Practices Guide, section "Calculating Occupancy": compute capability 7.0, 37 registers per
// thread.
TEST(Occupancy, gives_the_two_examples_of_the_best_practices_guide) {
  const Device v100 = device_of("v100");
  const Occupancy small = occupancy(v100, 128, 37, 0);
  EXPECT_EQ(small.blocks_per_sm, 12U);
  EXPECT_DOUBLE_EQ(small.ratio, 0.75);
  EXPECT_EQ(small.limit, OccupancyLimit::registers);
  const Occupancy large = occupancy(v100, 320, 37, 0);
  EXPECT_EQ(large.blocks_per_sm, 4U);
  EXPECT_DOUBLE_EQ(large.ratio, 0.625);  // the guide prints 63%
}

// The same guide: on compute capability 7.0 up to 32 registers per thread allow full occupancy.
TEST(Occupancy, is_full_up_to_32_registers_on_devices_with_64_warps_and_64K_registers) {
  for (const char* name : {"k40", "titanx-maxwell", "v100", "a100", "h100", "h200"}) {
    EXPECT_DOUBLE_EQ(occupancy(device_of(name), 256, 32, 0).ratio, 1.0) << name;
    EXPECT_LT(occupancy(device_of(name), 256, 33, 0).ratio, 1.0) << name;
  }
}

// The guide's older editions: compute capability 1.0 (8192 registers handed to blocks in units of 256, 24
// warps, 8 blocks), 12 registers: 83% with 5 blocks of 128 threads, 66% with 2 blocks of 256.
TEST(Occupancy, hands_registers_to_blocks_on_compute_capability_1) {
  Device d;
  d.cc_major = 1;
  d.sm.max_threads = 768;
  d.sm.max_warps = 24;
  d.sm.max_blocks = 8;
  d.sm.max_threads_per_block = 512;
  d.sm.registers = 8192;
  d.sm.register_allocation_unit = 256;
  d.sm.max_registers_per_thread = 124;
  d.sm.warp_allocation_granularity = 2;
  d.sm.register_allocation_per_block = true;
  d.sm.shared_bytes = d.sm.shared_bytes_per_block = d.sm.shared_bytes_per_block_optin = 16 * kib;
  d.sm.shared_allocation_unit = 512;
  EXPECT_EQ(occupancy(d, 128, 12, 0).blocks_per_sm, 5U);
  EXPECT_NEAR(occupancy(d, 128, 12, 0).ratio, 0.83, 0.01);
  EXPECT_EQ(occupancy(d, 256, 12, 0).blocks_per_sm, 2U);
  EXPECT_NEAR(occupancy(d, 256, 12, 0).ratio, 0.66, 0.01);
  // 3 warps count as 4, so a block of 96 threads takes 4 * 32 * 12 registers.
  EXPECT_EQ(occupancy(d, 96, 12, 0).registers_per_block, 1536U);
}

// cuda_occupancy.h: Fermi's unit is 64 registers per warp, 128 at eight counts; two register-file parts.
TEST(Occupancy, follows_the_register_units_of_fermi) {
  const Device d = device_of("gtx480");
  EXPECT_EQ(occupancy(d, 192, 20, 0).blocks_per_sm,
            8U);  // 640 a warp: 25 of 16384 a part, 50 warps, capped at 48
  EXPECT_EQ(occupancy(d, 192, 20, 0).limit, OccupancyLimit::warps);
  EXPECT_EQ(occupancy(d, 256, 21, 0).registers_per_block, 8U * 768U);  // 672 rounded to 128s
  EXPECT_EQ(occupancy(d, 256, 23, 0).registers_per_block, 8U * 768U);  // 736 rounded to 64s
  EXPECT_EQ(occupancy(d, 256, 24, 0).registers_per_block, 8U * 768U);
  EXPECT_EQ(occupancy(d, 256, 21, 0).blocks_per_sm, 5U);  // 21 warps a part, 42 warps
  EXPECT_EQ(occupancy(d, 256, 63, 0).warps_per_sm, 16U);  // 33%, as known of Fermi's 63 registers
  EXPECT_EQ(occupancy(d, 256, 64, 0).blocks_per_sm, 0U);  // more than a thread may have
}

TEST(Occupancy, counts_whole_register_parts_of_an_sm) {
  const Device d = device_of("a100");
  // 40 registers: 1280 a warp, 12 warps in each of 4 parts, 48 warps; without parts it would be 51.
  EXPECT_EQ(occupancy(d, 32, 40, 0).by_registers, 48U);
  EXPECT_EQ(occupancy(d, 1024, 40, 0).blocks_per_sm, 1U);
}

TEST(Occupancy, rounds_and_reserves_shared_memory) {
  const Device h100 = device_of("h100");
  EXPECT_EQ(occupancy(h100, 128, 16, 0).shared_per_block, kib);  // reserved by the system
  EXPECT_EQ(occupancy(h100, 128, 16, 1).shared_per_block, kib + 128);
  // 16 KiB + 1 KiB of 228 KiB: 13 blocks.
  EXPECT_EQ(occupancy(h100, 128, 16, 16 * kib).blocks_per_sm, 13U);
  EXPECT_EQ(occupancy(h100, 128, 16, 16 * kib).limit, OccupancyLimit::shared_memory);
  EXPECT_EQ(occupancy(h100, 128, 16, 227 * kib).blocks_per_sm, 1U);

  const Device v100 = device_of("v100");
  EXPECT_EQ(occupancy(v100, 128, 16, 0).shared_per_block, 0U);
  EXPECT_EQ(occupancy(v100, 128, 16, 1).shared_per_block, 256U);
  EXPECT_EQ(occupancy(v100, 128, 16, 48 * kib).blocks_per_sm, 2U);
}

TEST(Occupancy, is_limited_by_blocks_when_they_are_small) {
  const Device a100 = device_of("a100");
  const Occupancy o = occupancy(a100, 32, 16, 0);
  EXPECT_EQ(o.blocks_per_sm, 32U);
  EXPECT_EQ(o.limit, OccupancyLimit::blocks);
  EXPECT_DOUBLE_EQ(o.ratio, 0.5);
  EXPECT_EQ(occupancy(device_of("rtx2060"), 32, 16, 0).blocks_per_sm, 16U);
  EXPECT_EQ(occupancy(device_of("gtx480"), 32, 16, 0).blocks_per_sm, 8U);
}

TEST(Occupancy, a_partial_warp_counts_as_a_whole_one) {
  const Device a100 = device_of("a100");
  EXPECT_EQ(occupancy(a100, 33, 16, 0).warps_per_sm, 64U);
  EXPECT_EQ(occupancy(a100, 1000, 16, 0).warps_per_sm, 64U);
}

TEST(Occupancy, is_zero_for_what_does_not_fit) {
  const Device h100 = device_of("h100");
  EXPECT_EQ(occupancy(h100, 0, 16, 0).blocks_per_sm, 0U);
  EXPECT_EQ(occupancy(h100, 1025, 16, 0).blocks_per_sm, 0U);
  EXPECT_EQ(occupancy(h100, 1025, 16, 0).limit, OccupancyLimit::warps);
  EXPECT_EQ(occupancy(h100, UINT32_MAX, 16, 0).blocks_per_sm, 0U);
  EXPECT_EQ(occupancy(h100, 128, 256, 0).blocks_per_sm, 0U);
  EXPECT_EQ(occupancy(h100, 128, UINT32_MAX, 0).blocks_per_sm, 0U);
  EXPECT_EQ(occupancy(h100, 1024, 65, 0).blocks_per_sm, 0U);  // 32 warps of 72 * 32 registers
  EXPECT_EQ(occupancy(h100, 1024, 65, 0).limit, OccupancyLimit::registers);
  EXPECT_EQ(occupancy(h100, 1024, 64, 0).blocks_per_sm, 1U);
  EXPECT_EQ(occupancy(h100, 128, 16, 227 * kib + 1).blocks_per_sm, 0U);
  EXPECT_EQ(occupancy(h100, 128, 16, 227 * kib + 1).limit, OccupancyLimit::shared_memory);
  EXPECT_EQ(occupancy(h100, 128, 16, UINT64_MAX).blocks_per_sm, 0U);
}

// cuda_occupancy.h checks a block with its warps rounded up to the register-file parts: 29 warps need room
// for 32.
TEST(Occupancy, refuses_a_block_that_fits_only_without_rounding_its_warps) {
  const Device h100 = device_of("h100");
  EXPECT_EQ(occupancy(h100, 29 * 32, 72, 0).blocks_per_sm, 0U);
  EXPECT_EQ(occupancy(h100, 28 * 32, 72, 0).blocks_per_sm, 1U);
}

// Blocks of two launches in turns: each of the four sums ends them.
TEST(Occupancy, sums_what_blocks_of_several_launches_hold) {
  const Device v100 = device_of("v100");
  const auto beside = [&](const Occupancy& a, std::uint32_t a_warps, const Occupancy& b,
                          std::uint32_t b_warps, std::uint64_t shared) {
    Held held;
    for (bool first = true; fits_beside(v100, held, first ? a : b, first ? a_warps : b_warps, shared);
         first = !first)
      held.add(first ? a : b, first ? a_warps : b_warps);
    return held;
  };
  const Occupancy tiny = occupancy(v100, 32, 16, 0), large = occupancy(v100, 512, 16, 0),
                  hungry = occupancy(v100, 256, 128, 0);
  const Occupancy shared = occupancy(v100, 32, 16, 20 * kib);
  EXPECT_EQ(beside(tiny, 1, tiny, 1, 0).blocks, 32U);
  EXPECT_EQ(beside(large, 16, tiny, 1, 0).warps, 3U * 16 + 3);  // a fourth large one would make 67
  EXPECT_EQ(beside(hungry, 8, large, 16, 0).registers, 40960U);
  EXPECT_EQ(beside(shared, 1, tiny, 1, 64 * kib).shared_bytes, 60 * kib);
  EXPECT_EQ(beside(shared, 1, shared, 1, v100.sm.shared_bytes).blocks, 4U);
}

TEST(Occupancy, what_a_block_held_is_free_when_it_has_gone) {
  const Device v100 = device_of("v100");
  const Occupancy half = occupancy(v100, 1024, 32, 40 * kib);
  Held held;
  held.add(half, 32);
  held.add(half, 32);
  EXPECT_FALSE(fits_beside(v100, held, half, 32, v100.sm.shared_bytes));
  held.remove(half, 32);
  EXPECT_TRUE(fits_beside(v100, held, half, 32, v100.sm.shared_bytes));
  EXPECT_FALSE(fits_beside(v100, held, half, 32, 79 * kib));
  held.remove(half, 32);
  EXPECT_EQ(held.blocks + held.warps + held.registers + held.shared_bytes, 0U);
}

// Alone, the sums allow what the calculator allows, or more: it also knows how warps lie in the parts of the
// register file.
TEST(Occupancy, of_one_launch_is_within_the_sums) {
  for (const std::string& name : list_devices()) {
    const Device d = device_of(name);
    for (const std::uint32_t threads : {32U, 96U, 256U, 1000U}) {
      for (const std::uint32_t registers : {16U, 37U, 63U}) {
        const Occupancy o = occupancy(d, threads, registers, 1000);
        const std::uint32_t warps = (threads + 31) / 32;
        Held held;
        for (std::uint32_t i = 0; i < o.blocks_per_sm; ++i) {
          ASSERT_TRUE(fits_beside(d, held, o, warps, d.sm.shared_bytes))
              << name << ' ' << threads << ' ' << registers << ' ' << i;
          held.add(o, warps);
        }
        if (o.limit != OccupancyLimit::registers) {
          EXPECT_FALSE(fits_beside(d, held, o, warps, d.sm.shared_bytes))
              << name << ' ' << threads << ' ' << registers;
        }
      }
    }
  }
}

TEST(Occupancy, never_exceeds_any_limit) {
  for (const std::string& name : list_devices()) {
    const Device d = device_of(name);
    for (std::uint32_t threads = 1; threads <= 1024; threads += 37) {
      for (std::uint32_t registers = 0; registers <= 255; registers += 11) {
        for (std::uint64_t shared = 0; shared <= 240 * kib; shared += 7919) {
          const Occupancy o = occupancy(d, threads, registers, shared);
          ASSERT_LE(o.warps_per_sm, d.sm.max_warps);
          ASSERT_LE(o.blocks_per_sm, d.sm.max_blocks);
          ASSERT_LE(std::uint64_t{o.blocks_per_sm} * o.registers_per_block, d.sm.registers);
          ASSERT_LE(o.blocks_per_sm * o.shared_per_block, d.sm.shared_bytes);
          ASSERT_NE(o.limit, OccupancyLimit::none);
        }
      }
    }
  }
}

}  // namespace
}  // namespace simtlab::device
