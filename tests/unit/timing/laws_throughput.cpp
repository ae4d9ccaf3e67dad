// Laws of throughput, on every device file: independent work reaches the peaks, nothing beats them.
#include <gtest/gtest.h>

#include "simulator.h"

namespace simtlab::timing {
namespace {

// Dual issue takes both instructions from one warp: it needs as many independent streams as cover the latency
// at two a cycle.
std::string independent_kernel(const char* type, const char* reg, const char* instruction, const char* one,
                               unsigned streams) {
  const unsigned rounds = 512 / streams;
  std::string text = ".visible .entry k(.param .u32 n) { .reg ." + std::string(type) + " " + reg +
                     "<33>; .reg .b32 %r<2>; .reg .pred %p1;\nld.param.u32 %r1, [n];\n";
  for (unsigned i = 0; i < streams; ++i)
    text += std::string("mov.") + type + " " + reg + std::to_string(i) + ", " + one + ";\n";
  text += "LOOP:\n";
  for (unsigned k = 0; k < rounds * streams; ++k) {
    const std::string r = reg + std::to_string(k % streams);
    text += std::string(instruction) + " " + r + ", " + r + ", " + r + ", " + r + ";\n";
  }
  return text + "sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra LOOP;\nret; }\n";
}

class ThroughputLaw : public testing::TestWithParam<std::string> {};

// Peak by the file: thread results per cycle of the whole GPU.
double share_of_peak(device::Device device, const std::string& kernel, const char* op_class,
                     unsigned repeats) {
  device.sm.count = 2;  // SMs do not share arithmetic
  Simulator simulator(device, kernel);
  const std::uint32_t threads = std::min(device.sm.max_threads_per_block, device.sm.max_threads / 2);
  const auto result = simulator.run("k", {2 * device.sm.count, 1, 1}, {threads, 1, 1}, repeats);
  std::size_t c = 0;
  while (device::op_class_names[c] != op_class) ++c;
  const double results = metric(result, (std::string("instructions.") + op_class).c_str()) * 32;
  return results / metric(result, "gpu.cycles") / device.sm.count / device.throughput[c];
}

TEST_P(ThroughputLaw, IndependentFusedMultiplyAddsReachThePeak) {
  const double share = share_of_peak(
      device_of(GetParam()), independent_kernel("f32", "%f", "fma.rn.f32", "0f3F800000", 32), "fp32", 6);
  RecordProperty("share_of_fp32_peak", std::to_string(share));
  EXPECT_GE(share, 0.97);
  EXPECT_LE(share, 1.0);
}

TEST_P(ThroughputLaw, IndependentDoublesReachThePeak) {
  const double share =
      share_of_peak(device_of(GetParam()),
                    independent_kernel("f64", "%d", "fma.rn.f64", "0d3FF0000000000000", 8), "fp64", 4);
  EXPECT_GE(share, 0.97);
  EXPECT_LE(share, 1.001);  // a block does not wait for what is in the queue of the SM's unit when it ends
}

TEST_P(ThroughputLaw, IndependentIntegerMultipliesReachThePeak) {
  const double share = share_of_peak(device_of(GetParam()),
                                     independent_kernel("b32", "%s", "mad.lo.s32", "3", 8), "int_mul", 6);
  EXPECT_GE(share, 0.97);
  EXPECT_LE(share, 1.0);
}

// Each thread copies 16-byte elements, a grid apart.
const char* copy_kernels = R"(
.visible .entry fill(.param .u64 out, .param .u32 step, .param .u32 n) {
  .reg .b64 %rd<6>; .reg .b32 %r<8>; .reg .pred %p1; .reg .f32 %f<5>;
  ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [step]; ld.param.u32 %r2, [n];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
  mad.lo.u32 %r6, %r3, %r4, %r5;
  mul.wide.u32 %rd2, %r6, 16; add.u64 %rd1, %rd1, %rd2;
  mul.wide.u32 %rd3, %r1, 16;
  mov.f32 %f1, 0f3F800000;
LOOP:
  st.global.v4.f32 [%rd1], {%f1, %f1, %f1, %f1};
  add.u64 %rd1, %rd1, %rd3;
  sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0;
  @%p1 bra LOOP;
  ret;
}
.visible .entry copy(.param .u64 in, .param .u64 out, .param .u32 step, .param .u32 n) {
  .reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .pred %p1; .reg .f32 %f<20>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [step]; ld.param.u32 %r2, [n];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
  mad.lo.u32 %r6, %r3, %r4, %r5;
  mul.wide.u32 %rd3, %r6, 16; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
  mul.wide.u32 %rd4, %r1, 16;
LOOP:
  ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
  add.u64 %rd1, %rd1, %rd4;
  ld.global.v4.f32 {%f5, %f6, %f7, %f8}, [%rd1];
  add.u64 %rd1, %rd1, %rd4;
  st.global.v4.f32 [%rd2], {%f1, %f2, %f3, %f4};
  add.u64 %rd2, %rd2, %rd4;
  st.global.v4.f32 [%rd2], {%f5, %f6, %f7, %f8};
  add.u64 %rd2, %rd2, %rd4;
  sub.u32 %r2, %r2, 2; setp.ne.u32 %p1, %r2, 0;
  @%p1 bra LOOP;
  ret;
}
)";

// A copy of 10 MiB with an L2 that is full of modified lines.
result::KernelResult large_copy(const device::Device& device) {
  Simulator simulator(device, copy_kernels);
  const std::uint32_t threads = 256, blocks = device.sm.count * (device.sm.max_threads / threads);
  const std::uint32_t step = threads * blocks;
  const std::uint64_t grid_bytes = std::uint64_t{step} * 16;
  // First fill L2 with modified lines, so that every line that the copy brings in drives one out.
  const auto fills = static_cast<std::uint32_t>(device.l2.bytes * 5 / 4 / grid_bytes + 1);
  const std::uint32_t copies = 2 * static_cast<std::uint32_t>((std::uint64_t{10} << 20) / grid_bytes / 2 + 1);
  const std::uint64_t scratch = simulator.allocate(fills * grid_bytes);
  const std::uint64_t in = simulator.allocate(copies * grid_bytes),
                      out = simulator.allocate(copies * grid_bytes);
  simulator.run("fill", {blocks, 1, 1}, {threads, 1, 1}, scratch, step, fills);
  const auto result = simulator.run("copy", {blocks, 1, 1}, {threads, 1, 1}, in, out, step, copies);
  EXPECT_GE(metric(result, "dram.read.bytes") + metric(result, "dram.write.bytes"),
            1.9 * static_cast<double>(copies * grid_bytes));
  return result;
}

TEST_P(ThroughputLaw, LargeCopyReachesTheMeasuredBandwidthAndNoMore) {
  const device::Device device = device_of(GetParam());
  const auto result = large_copy(device);
  const double bytes = metric(result, "dram.read.bytes") + metric(result, "dram.write.bytes");
  const double bandwidth = bytes / (metric(result, "gpu.time") * 1e-9);
  const double peak =
      device.dram.bandwidth_measured > 0 ? device.dram.bandwidth_measured : device.dram.bandwidth;
  RecordProperty("share_of_copy_bandwidth", std::to_string(bandwidth / peak));
  EXPECT_GE(bandwidth, 0.85 * peak) << result.bottleneck;
  EXPECT_LE(bandwidth, 1.001 * peak) << "what waits to be written when the kernel ends counts as written";
  EXPECT_LE(metric(result, "dram.utilisation"), 1.0);
}

// The same copy through the GPU's own memory in detail: what is lost has reasons, and they add up.
TEST_P(ThroughputLaw, LargeCopyThroughTheDetailedMemoryAccountsForItsWholeBandwidth) {
  device::Device device = device::load_device(GetParam(), {{"dram.model", "device", {}}}).device;
  device.launch.floor = 0;
  const auto result = large_copy(device);
  const double used = metric(result, "dram.utilisation");
  RecordProperty("utilisation", std::to_string(used));
  EXPECT_LE(used, 1.0);
  EXPECT_GE(used, 0.3) << result.bottleneck;
  double sum = metric(result, "dram.bus.data");
  for (const auto& value : result.metrics.values())
    if (value.name.starts_with("dram.loss.")) sum += value.real;
  EXPECT_NEAR(sum, 1.0, 1e-9);
  EXPECT_NEAR(metric(result, "dram.bus.data"), used, 0.05)
      << "the memory may write for a while after the kernel";
}

// The same number of loads of one float a lane, at consecutive or at scattered lines.
const char* stream_kernel = R"(
.visible .entry stream(.param .u64 in, .param .u32 mask, .param .u32 multiplier, .param .u32 n, .param .u32 step) {
  .reg .b64 %rd<6>; .reg .b32 %r<12>; .reg .pred %p1; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [in]; ld.param.u32 %r1, [mask]; ld.param.u32 %r2, [multiplier]; ld.param.u32 %r3, [n]; ld.param.u32 %r10, [step];
  mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x;
  mad.lo.u32 %r7, %r4, %r5, %r6;
LOOP:
  mul.lo.u32 %r8, %r7, %r2;
  and.b32 %r8, %r8, %r1;
  mul.wide.u32 %rd2, %r8, 4; add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  add.u32 %r7, %r7, %r10;
  sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0;
  @%p1 bra LOOP;
  ret;
}
)";

TEST_P(ThroughputLaw, RandomStreamIsNeverFasterThanSequential) {
  const device::Device device = device_of(GetParam());
  const std::uint32_t threads = 256, blocks = device.sm.count;
  const std::uint32_t elements = 1u << 24;
  std::uint64_t time[2];
  for (const unsigned random : {0u, 1u}) {
    Simulator simulator(device, stream_kernel);
    const std::uint64_t in = simulator.allocate(std::uint64_t{elements} * 4);
    const std::uint32_t multiplier = random ? 2654435761u : 1u;
    time[random] = cycles(simulator.run("stream", {blocks, 1, 1}, {threads, 1, 1}, in, elements - 1,
                                        multiplier, 8u, threads * blocks));
  }
  RecordProperty("random_over_sequential",
                 std::to_string(static_cast<double>(time[1]) / static_cast<double>(time[0])));
  EXPECT_GE(time[1], time[0]);
}

INSTANTIATE_TEST_SUITE_P(EveryDevice, ThroughputLaw, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace simtlab::timing
