// Blocks left out of large grids: the estimate's interval holds the true value, memory is right, short grids
// are simulated whole.
#include "timing/sampling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "exec/executor.h"
#include "simulator.h"
#include "stream/executed.h"

namespace simtlab::timing {
namespace {

result::Metrics so_far(std::uint64_t cycles, std::uint64_t instructions, std::uint64_t blocks) {
  result::Metrics m;
  m.set("gpu.cycles", cycles);
  m.set("gpu.instructions.warp", instructions);
  m.set("gpu.blocks", blocks);
  m.set("gpu.ipc.warp", static_cast<double>(instructions) / static_cast<double>(cycles));
  return m;
}

TEST(Sampler, a_steady_pace_is_found_and_continued) {
  Sampler s(0.02, 10, 100);
  std::uint64_t cycles = 0, blocks = 0;
  unsigned batches = 0;
  while (!s.steady()) {
    ASSERT_LT(++batches, 20u);
    cycles += batches < 3 ? 500 : 200;  // cold caches at first
    blocks += 10;
    ASSERT_TRUE(s.note(blocks, cycles));
    s.keep(so_far(cycles, blocks * 7, blocks));
  }
  const result::Metrics whole = s.extrapolate(so_far(cycles + 150, blocks * 7, blocks), 1000, 7000);
  EXPECT_NEAR(*whole.get("gpu.cycles"), static_cast<double>(cycles) + 150 + 20.0 * 1000, 1);
  EXPECT_EQ(*whole.get("gpu.instructions.warp"), static_cast<double>(blocks * 7 + 7000));
  EXPECT_EQ(*whole.get("gpu.blocks"), static_cast<double>(blocks + 1000));
  EXPECT_EQ(*whole.get("sampling.blocks"), static_cast<double>(blocks));
  EXPECT_NEAR(*whole.get("gpu.ipc.warp"), *whole.get("gpu.instructions.warp") / *whole.get("gpu.cycles"),
              1e-9);
  EXPECT_LT(*whole.get("gpu.cycles.error"), 0.02);
}

TEST(Sampler, a_pace_that_drifts_or_varies_is_not_steady) {
  Sampler drifting(0.02, 1, 1), wild(0.02, 1, 1);
  std::uint64_t a = 0, b = 0;
  for (std::uint64_t i = 1; i <= 60; ++i) {
    ASSERT_TRUE(drifting.note(i, a += 1000 + 40 * i));
    drifting.keep(so_far(a, i, i));
    EXPECT_FALSE(drifting.steady()) << i;
    ASSERT_TRUE(wild.note(i, b += i % 2 ? 100 : 1000));
    wild.keep(so_far(b, i, i));
    EXPECT_FALSE(wild.steady()) << i;
  }
}

TEST(Sampler, a_batch_has_a_wave_of_blocks_and_a_span_of_time) {
  Sampler s(0.02, 8, 50);
  EXPECT_FALSE(s.note(7, 1000));
  EXPECT_FALSE(s.note(8, 49));
  EXPECT_TRUE(s.note(8, 50));
}

// Blocks of 128 threads: threads add up `work` words that lie a stride apart.
constexpr const char* sums = R"(
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 words, .param .u32 work, .param .u32 uneven) {
  .reg .b64 %rd<9>; .reg .b32 %r<16>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [words]; ld.param.u32 %r2, [work]; ld.param.u32 %r12, [uneven];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.u32 %r6, %r3, %r4, %r5;
  mov.u32 %r7, 0; mov.u32 %r8, 0; mul.lo.u32 %r13, %r3, 2654435761; shr.u32 %r13, %r13, 28; mad.lo.u32 %r2, %r12, %r13, %r2;
L: mad.lo.u32 %r9, %r8, 8209, %r6; rem.u32 %r9, %r9, %r1; mul.wide.u32 %rd3, %r9, 4; add.u64 %rd4, %rd1, %rd3;
  ld.global.u32 %r10, [%rd4]; add.u32 %r7, %r7, %r10; add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, %r2; @%p1 bra L;
  mul.wide.u32 %rd5, %r6, 4; add.u64 %rd6, %rd2, %rd5; st.global.u32 [%rd6], %r7;
  ret;
})";

struct Done {
  result::KernelResult result;
  std::vector<std::uint32_t> memory;
  CycleGpu::LeftOut left_out;
};

Done run(double sample, std::uint32_t blocks, std::uint32_t words, std::uint32_t work, std::uint32_t uneven) {
  device::Device device = device_of("v100");
  device.sm.count = 4;  // so that few blocks fill it
  Simulator s(device, sums, {.sample_error = sample});
  std::vector<std::uint32_t> values(words);
  for (std::uint32_t i = 0; i < words; ++i) values[i] = i;
  const std::uint64_t in = s.upload(values), out = s.allocate(std::uint64_t{blocks} * 512);
  const auto launch = s.prepare("k", {blocks, 1, 1}, {128, 1, 1}, in, out, words, work, uneven);
  Done done;
  done.result = s.gpu.run(stream::ExecutedLaunch(*launch));
  done.left_out = s.gpu.left_out();
  if (done.left_out.count != 0)
    s.gpu.complete(done.result, exec::run_functional(*launch, {.first_block = done.left_out.first,
                                                               .block_count = done.left_out.count})
                                    .warp_instructions);
  done.memory.resize(std::size_t{blocks} * 128);
  s.memory.read(out, std::as_writable_bytes(std::span(done.memory)));
  return done;
}

TEST(Sampling, the_true_value_lies_in_the_interval) {
  const struct {
    std::uint32_t blocks, words, work, uneven;
  } kernels[] = {
      {6000, 1 << 20, 24, 0},  // from DRAM
      {6000, 1 << 12, 24, 0},  // from L1
      {6000, 1 << 16, 16, 2},  // from L2, blocks of different length
  };
  for (const auto& k : kernels) {
    const Done whole = run(0, k.blocks, k.words, k.work, k.uneven),
               sampled = run(0.03, k.blocks, k.words, k.work, k.uneven);
    ASSERT_GT(sampled.left_out.count, k.blocks / 4) << k.words;
    EXPECT_EQ(sampled.left_out.first + sampled.left_out.count, k.blocks);
    EXPECT_EQ(sampled.memory, whole.memory);
    const double truth = metric(whole.result, "gpu.cycles"), estimate = metric(sampled.result, "gpu.cycles");
    const double error = metric(sampled.result, "gpu.cycles.error");
    // It holds in 19 of 20 cases; three in a row need a little room.
    EXPECT_LE(std::abs(estimate - truth), 1.2 * error * estimate)
        << k.words << ": " << estimate << " for " << truth << ", error " << error;
    EXPECT_LT(error, 0.1);
    EXPECT_EQ(metric(sampled.result, "gpu.instructions.warp"), metric(whole.result, "gpu.instructions.warp"));
    EXPECT_NEAR(metric(sampled.result, "l1.read.accesses") / metric(whole.result, "l1.read.accesses"), 1,
                0.05);
    EXPECT_NEAR(metric(sampled.result, "gpu.ipc") / metric(whole.result, "gpu.ipc"), 1, 0.1);
  }
}

TEST(Sampling, small_grids_are_simulated_whole) {
  const Done whole = run(0, 200, 1 << 16, 24, 0), sampled = run(0.03, 200, 1 << 16, 24, 0);
  EXPECT_EQ(sampled.left_out.count, 0u);
  EXPECT_EQ(metric(sampled.result, "gpu.cycles"), metric(whole.result, "gpu.cycles"));
}

}  // namespace
}  // namespace simtlab::timing
