// Clusters under the clock: their blocks start together, on SMs of their own; what another block's shared
// memory costs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulator.h"

namespace simtlab::timing {
namespace {

// Thread 0 of each block follows `loads` words that say where the next one is, in the shared memory of the
// block of rank `whose` (its own: rank + 0).
std::string chase(bool remote, unsigned loads) {
  std::string text = R"(
.visible .entry k(.param .u64 out) .reqnctapercluster 2, 1, 1
{
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  .shared .align 4 .b32 s[32];
  mov.u32 %r1, s;
  st.shared.u32 [s], %r1;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  mov.u32 %r2, %cluster_ctarank;
)";
  if (remote) text += "  xor.b32 %r2, %r2, 1;\n";
  text += "  mapa.shared::cluster.u32 %r3, %r1, %r2;\n";
  for (unsigned i = 0; i < loads; ++i)
    text += "  ld.shared::cluster.u32 %r3, [%r3];\n  mapa.shared::cluster.u32 %r3, %r3, %r2;\n";
  return text + R"(
  ld.param.u64 %rd1, [out];
  st.global.u32 [%rd1], %r3;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  ret;
}
)";
}

result::KernelResult run(const device::Device& device, const std::string& text, unsigned blocks = 2) {
  Simulator simulator(device, text);
  return simulator.run("k", {blocks}, {32}, simulator.allocate(4096));
}

double cycles_a_load(const device::Device& device, bool remote) {
  const auto of = [&](unsigned loads) {
    return static_cast<double>(cycles(run(device, chase(remote, loads))));
  };
  return (of(60) - of(20)) / 40;
}

TEST(Clusters, another_blocks_memory_has_a_latency_of_its_own) {
  device::Device device = device_of("h100");
  const double own = cycles_a_load(device, false), other = cycles_a_load(device, true);
  EXPECT_NEAR(other - own, device.shared.cluster_latency - device.shared.latency, 2);
  device.shared.cluster_latency += 100;
  EXPECT_NEAR(cycles_a_load(device, true) - other, 100, 2);
}

TEST(Clusters, what_goes_to_other_blocks_is_counted) {
  const auto own = run(device_of("h100"), chase(false, 5)), other = run(device_of("h100"), chase(true, 5));
  EXPECT_EQ(metric(own, "cluster.requests"), 0);
  EXPECT_EQ(metric(other, "cluster.requests"), 10);
  EXPECT_EQ(metric(other, "cluster.bytes"), 10 * 32 * 4);
}

// Every block waits for the whole cluster: it ends only if all of its blocks are resident together.
TEST(Clusters, blocks_start_together_however_full_the_gpu_is) {
  device::Device device = device_of("h100");
  device.sm.count = 5;
  device.sm.max_blocks = 1;
  const std::string text = chase(true, 1);
  EXPECT_GT(cycles(run(device, text, 24)), 0u);
  device.sm.count = 1;
  EXPECT_THROW(run(device, text, 2), Error);
}

TEST(Clusters, do_not_depend_on_the_number_of_threads) {
  const device::Device device = device_of("h100");
  const auto with = [&](unsigned threads) {
    Options options;
    options.threads = threads;
    Simulator simulator(device, chase(true, 10), options);
    return cycles(simulator.run("k", {16}, {64}, simulator.allocate(4096)));
  };
  EXPECT_EQ(with(1), with(4));
}

}  // namespace
}  // namespace simtlab::timing
