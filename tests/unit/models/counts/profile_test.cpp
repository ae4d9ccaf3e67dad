// Counts of kernels whose instructions, accesses and dependences are known by construction.
#include "models/counts/profile.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cache/study.h"
#include "device/catalogue.h"
#include "exec/arguments.h"
#include "exec/executor.h"
#include "models/counts/counted.h"
#include "stream/executed.h"
#include "timing/timing.h"

namespace simtlab::models::counts {
namespace {

// kernel k(p): addresses of 32-bit words at p + threads of the grid * 4 are in %rd3, the thread in %r4.
std::string kernel(const std::string& body, const std::string& more = "") {
  return R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .f32 %f<16>;
  .reg .b64 %rd<8>;
)" + more +
         R"(
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.s32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
)" + body +
         "  ret;\n}\n";
}

struct Wish {
  std::uint32_t blocks = 2, threads = 64;
  std::uint64_t enough = 0;  // instructions of the sample; 0: all
  bool executes_rest = true;
};

Profile profile(const std::string& text, const Wish& run, const std::string& gpu = "v100") {
  exec::GlobalMemory memory(std::uint64_t{1} << 30, 0);
  const device::Device device = device::load_device(gpu, {}).device;
  const exec::LoadedModule module(ptx::load_module("test.ptx", text), memory);
  const std::uint64_t buffer =
      memory.allocate(std::uint64_t{run.blocks} * run.threads * 128 + 4096, "cudaMalloc").value();
  exec::LaunchParams p;
  p.module = &module;
  p.function = 0;
  p.grid = {run.blocks, 1, 1};
  p.block = {run.threads, 1, 1};
  p.sm_count = device.sm.count;
  p.max_warps_per_sm = device.sm.max_warps;
  const std::vector<std::byte> packed = exec::pack_arguments(buffer);
  p.params = packed;
  const exec::Launch launch(p, memory);
  const stream::ExecutedLaunch source(launch);
  const CountedLaunch counted(source, device);
  cache::Options options;
  options.jitter = 0;
  options.l2_in_flight = true;
  cache::Study study(device, options);
  const device::Occupancy fit = timing::fit(device, source, 20);
  study.run({.source = &counted,
             .occupancy = fit,
             .buffers = {},
             .enough_instructions = run.enough,
             .least_blocks = run.enough == 0 ? 0 : std::uint64_t{fit.blocks_per_sm} * device.sm.count});
  const std::uint64_t begun = study.marks().back().blocks, rest = run.blocks - begun;
  std::uint64_t executed = 0;
  if (rest != 0 && run.executes_rest)
    executed = exec::run_functional(launch, {.first_block = begun, .block_count = rest}).warp_instructions;
  return profile_of({.launch = counted,
                     .study = study,
                     .device = device,
                     .occupancy = fit,
                     .rest_blocks = rest,
                     .rest_instructions = executed,
                     .lowering = false});
}

double insts(const Profile& p, ptx::OpClass c) { return p.class_insts[static_cast<std::size_t>(c)]; }

std::string repeat(const std::string& text, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += text;
  return out;
}

TEST(Profile, CountsInstructionsOfAWarpByClass) {
  const Profile p =
      profile(kernel("  mov.f32 %f1, 0f3F800000;\n" + repeat("  fma.rn.f32 %f1, %f1, %f1, %f1;\n", 10) +
                     "  st.global.f32 [%rd3], %f1;\n"),
              {});
  EXPECT_EQ(p.blocks, 2u);
  EXPECT_EQ(p.warps_per_block, 2u);
  EXPECT_EQ(p.sampled_blocks, 2u);
  EXPECT_EQ(p.error, 0);
  EXPECT_EQ(insts(p, ptx::OpClass::fp32), 10);
  EXPECT_EQ(insts(p, ptx::OpClass::store), 1);
  EXPECT_EQ(insts(p, ptx::OpClass::constant), 1);
  EXPECT_EQ(p.fma_insts, 10);
  EXPECT_EQ(p.ptx_insts, 20);  // seven in front, a constant, ten, a store, ret
  EXPECT_EQ(p.flops, 2 * 10 * 128);
  EXPECT_EQ(p.active_lanes, 32);
  EXPECT_EQ(p.global_insts, 1);
  EXPECT_EQ(p.warp_spread, 1);
}

// 100 dependent operations of four cycles each take 400; 100 in four chains a quarter.
TEST(Profile, DependencesSetTheTimeOfAWarp) {
  const Profile chain = profile(kernel(repeat("  fma.rn.f32 %f1, %f1, %f1, %f1;\n", 100)), {});
  std::string four;
  for (int i = 0; i < 25; ++i)
    for (const char* f : {"%f1", "%f2", "%f3", "%f4"})
      four += std::string("  fma.rn.f32 ") + f + ", " + f + ", " + f + ", " + f + ";\n";
  const Profile chains = profile(kernel(four), {});
  const Profile none = profile(kernel(""), {});
  EXPECT_NEAR(chain.warp_latency - none.warp_latency, 400, 4);
  EXPECT_NEAR(chains.warp_latency - none.warp_latency, 100, 4);
  EXPECT_LT(chain.ilp, 1.2);
  EXPECT_GT(chains.ilp, 3);
}

TEST(Profile, TellsCoalescedFromScatteredAccesses) {
  const Profile row = profile(kernel("  ld.global.f32 %f1, [%rd3];\n  add.f32 %f2, %f1, %f1;\n"), {});
  EXPECT_EQ(row.coalesced_insts, 1);
  EXPECT_EQ(row.uncoalesced_insts, 0);
  EXPECT_EQ(row.lines_per_access, 1);
  EXPECT_EQ(row.sectors_per_access, 4);
  const Profile column = profile(kernel("  mul.wide.s32 %rd2, %r4, 128;\n  add.s64 %rd3, %rd1, %rd2;\n  "
                                        "ld.global.f32 %f1, [%rd3];\n  add.f32 %f2, %f1, %f1;\n"),
                                 {});
  EXPECT_EQ(column.coalesced_insts, 0);
  EXPECT_EQ(column.uncoalesced_insts, 1);
  EXPECT_EQ(column.lines_per_access, 32);
  EXPECT_EQ(column.sectors_per_uncoalesced, 32);
  EXPECT_EQ(column.bytes_per_access, 128);
  EXPECT_GT(column.warp_memory_wait, row.warp_memory_wait);
}

TEST(Profile, LoadsThatDoNotWaitForEachOtherOverlap) {
  const std::string load =
      "  ld.global.f32 %f1, [%rd3];\n  ld.global.f32 %f2, [%rd3+4096];\n  add.f32 %f3, %f1, %f2;\n";
  const Profile two = profile(kernel(load), {});
  EXPECT_EQ(two.mlp, 2);
  const Profile after =
      profile(kernel("  ld.global.u32 %r5, [%rd3];\n  mul.wide.s32 %rd4, %r5, 4;\n  add.s64 %rd5, %rd3, "
                     "%rd4;\n  ld.global.f32 %f2, [%rd5+4096];\n  add.f32 %f3, %f2, %f2;\n"),
              {});
  EXPECT_EQ(after.mlp, 1);
  EXPECT_GT(after.warp_memory_wait, 1.6 * two.warp_memory_wait);
}

TEST(Profile, SeesBankConflicts) {
  const std::string shared = "  .shared .b32 s[2048];\n";
  const auto at = [&](int stride) {
    return profile(kernel("  mov.u32 %r5, s;\n  mul.lo.s32 %r6, %r3, " + std::to_string(4 * stride) +
                              ";\n  add.s32 %r7, %r5, %r6;\n  st.shared.u32 [%r7], %r3;\n",
                          shared),
                   {});
  };
  EXPECT_EQ(at(1).shared_passes, 1);
  EXPECT_EQ(at(8).shared_passes, 8);
  EXPECT_EQ(at(8).shared_passes_ideal, 1);
  EXPECT_EQ(at(8).shared_insts, 1);
}

// Blocks that do more the later they come: what is executed besides the sample makes the sum right; else the
// doubt is said.
TEST(Profile, ASampleStandsForTheGrid) {
  const std::string loop = R"(  shr.u32 %r8, %r1, 6;
  mov.u32 %r9, 0;
again:
  add.s32 %r9, %r9, 1;
  ld.global.u32 %r10, [%rd3];
  setp.lt.s32 %p1, %r9, %r8;
  @%p1 bra again;
)";
  const Wish run{.blocks = 20000, .threads = 64, .enough = 100000};
  const Profile whole = profile(kernel(loop), {.blocks = run.blocks, .threads = run.threads});
  const Profile sample = profile(kernel(loop), run);
  EXPECT_LT(sample.sampled_blocks, 6000u);
  EXPECT_EQ(sample.error, 0);
  EXPECT_NEAR(sample.ptx_insts, whole.ptx_insts, 1e-9 * whole.ptx_insts);
  const Profile guess =
      profile(kernel(loop),
              {.blocks = run.blocks, .threads = run.threads, .enough = run.enough, .executes_rest = false});
  EXPECT_GT(guess.error, 0);
  EXPECT_LT(guess.ptx_insts, whole.ptx_insts);
}

TEST(Profile, TrafficOfTheRestGoesLikeTheLaterBlocksOfTheSample) {
  const std::string stream = "  ld.global.f32 %f1, [%rd3];\n  add.f32 %f2, %f1, %f1;\n";
  const Profile whole = profile(kernel(stream), {.blocks = 40000});
  const Profile sample = profile(kernel(stream), {.blocks = 40000, .enough = 50000});
  EXPECT_LT(sample.sampled_blocks, 20000u);
  EXPECT_DOUBLE_EQ(sample.l1_bytes, whole.l1_bytes);
  EXPECT_NEAR(sample.l2_bytes, whole.l2_bytes, 0.01 * whole.l2_bytes);
  EXPECT_NEAR(sample.dram_bytes, whole.dram_bytes, 0.01 * whole.dram_bytes);
}

TEST(Profile, TheLongestWarpStandsOut) {
  // Warp 0 of block 0 loops 100 times, the others once.
  const std::string loop = R"(  setp.lt.u32 %p1, %r4, 32;
  selp.u32 %r8, 100, 1, %p1;
  mov.u32 %r9, 0;
again:
  add.s32 %r9, %r9, 1;
  setp.lt.s32 %p2, %r9, %r8;
  @%p2 bra again;
)";
  const Profile p = profile(kernel(loop), {.blocks = 10});
  EXPECT_GT(p.warp_spread, 8);
}

}  // namespace
}  // namespace simtlab::models::counts
