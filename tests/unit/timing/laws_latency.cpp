// Laws of latency, on every device file: a chain of dependent instructions takes what the file says.
#include <gtest/gtest.h>

#include <cmath>

#include "simulator.h"

namespace simtlab::timing {
namespace {

struct Chain {
  const char* op_class;
  const char* setup;  // before the chain
  const char* step;   // one dependent link
};

constexpr Chain chains[] = {
    {"fp32", "mov.f32 %f1, 0f3F800000;", "fma.rn.f32 %f1, %f1, %f1, %f1;"},
    {"int_alu", "mov.u32 %r1, 1;", "add.s32 %r1, %r1, %r1;"},
    {"int_mul", "mov.u32 %r1, 3;", "mad.lo.s32 %r1, %r1, %r1, %r1;"},
    {"fp64", "mov.f64 %d1, 0d3FF0000000000000;", "fma.rn.f64 %d1, %d1, %d1, %d1;"},
    {"sfu", "mov.f32 %f1, 0f3F800000;", "ex2.approx.f32 %f1, %f1;"},
    {"bit", "mov.u32 %r1, 3;", "popc.b32 %r1, %r1;"},
    {"fp32_div", "mov.f32 %f1, 0f3F800000;", "div.rn.f32 %f1, %f1, %f1;"},
    {"fp32_sqrt", "mov.f32 %f1, 0f3F800000;", "sqrt.rn.f32 %f1, %f1;"},
    {"fp64_div", "mov.f64 %d1, 0d3FF0000000000000;", "div.rn.f64 %d1, %d1, %d1;"},
    {"fp64_sqrt", "mov.f64 %d1, 0d3FF0000000000000;", "sqrt.rn.f64 %d1, %d1;"},
    {"int_div", "mov.u32 %r1, 1;", "div.u32 %r1, %r1, %r1;"},
    {"shuffle", "mov.u32 %r1, 1;", "shfl.sync.idx.b32 %r1, %r1, 0, 31, 0xffffffff;"},
};

std::string chain_kernel(const Chain& chain, unsigned length) {
  std::string text =
      ".visible .entry k() { .reg .f32 %f<4>; .reg .f64 %d<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred "
      "%p<2>;\n";
  text += chain.setup;
  for (unsigned i = 0; i < length; ++i) text += std::string(chain.step) + "\n";
  return text + "ret; }\n";
}

std::uint64_t chain_cycles(const device::Device& device, const Chain& chain, unsigned length) {
  Simulator simulator(device, chain_kernel(chain, length));
  return cycles(simulator.run("k", {1, 1, 1}, {32, 1, 1}));
}

class LatencyLaw : public testing::TestWithParam<std::string> {};

TEST_P(LatencyLaw, DependentChainTakesTheLatencyOfTheFile) {
  const device::Device device = device_of(GetParam());
  for (const Chain& chain : chains) {
    std::size_t c = 0;
    while (device::op_class_names[c] != chain.op_class) ++c;
    // A pipeline that is busy for longer than the latency paces its own dependent instructions, too.
    const bool of_sm = std::string_view(chain.op_class) == "fp64" && device.sm.fp64_queue > 0;
    const double interval = 32.0 * (of_sm ? 1 : device.sm.schedulers) / device.throughput[c];
    const double turns = device.sm.issue_turns;  // a scheduler issues the next one in its turn
    const double expected = std::ceil(std::max(device.latency[c], interval) / turns) * turns;
    const double measured =
        static_cast<double>(chain_cycles(device, chain, 96) - chain_cycles(device, chain, 32)) / 64;
    EXPECT_NEAR(measured, expected, std::max(0.02, expected * 0.001)) << chain.op_class;
  }
}

// Kernels `short` and `long`: chains of loads, the second `links` longer.
constexpr unsigned links = 512;
std::string chase(const char* load) {
  std::string text;
  for (const unsigned rounds : {1u, 2u}) {
    text += std::string(".visible .entry ") + (rounds == 1 ? "short" : "long") +
            "(.param .u64 start) { .reg .b64 %rd<2>;\n";
    text += "ld.param.u64 %rd1, [start];\n";
    for (unsigned i = 0; i < rounds * links; ++i) text += std::string(load) + " %rd1, [%rd1];\n";
    text += "ret; }\n";
  }
  return text;
}

// Walks a ring of `count` pointers that lie `stride` bytes apart.
class Chase {
 public:
  Chase(const device::Device& device, std::uint64_t count, std::uint64_t stride, const char* load)
      : simulator_(device, chase(load)), bytes_(count * stride), base_(simulator_.allocate(bytes_)) {
    std::vector<std::uint64_t> buffer(bytes_ / 8, 0);
    for (std::uint64_t i = 0; i < count; ++i) buffer[i * stride / 8] = base_ + (i + 1) % count * stride;
    simulator_.memory.write(base_, std::as_bytes(std::span(buffer)));
  }
  double cycles_of(const char* kernel) {
    return static_cast<double>(cycles(simulator_.run(kernel, {1, 1, 1}, {1, 1, 1}, base_)));
  }
  void forget() { simulator_.gpu.invalidate(base_, bytes_); }

 private:
  Simulator simulator_;
  std::uint64_t bytes_, base_;
};

double warm_latency(const device::Device& device, std::uint64_t count, std::uint64_t stride,
                    const char* load) {
  Chase chase(device, count, stride, load);
  chase.cycles_of("long");  // fills L2
  const double once = chase.cycles_of("short");
  return (chase.cycles_of("long") - once) / links;
}

TEST_P(LatencyLaw, PointerChaseGivesTheLatencyOfL1) {
  const device::Device device = device_of(GetParam());
  const double expected = device.l1_caches_global ? device.l1.latency : device.l2.latency;
  EXPECT_NEAR(warm_latency(device, 16, 128, "ld.global.ca.u64"), expected, expected * 0.01);
}

// Each step takes the low word of what it has loaded.
double latency_of_width(const device::Device& device, const char* load) {
  const auto text = [&](unsigned length) {
    std::string out =
        ".visible .entry k(.param .u64 p) { .reg .b64 %rd<3>; .reg .b32 %a, %b, %c, %d;\n"
        "ld.param.u64 %rd1, [p];\n";
    for (unsigned i = 0; i < length; ++i)
      out += std::string(load) + "\ncvt.u64.u32 %rd2, %a;\nadd.u64 %rd1, %rd1, %rd2;\n";
    return out + "st.global.u64 [%rd1], %rd2; ret; }\n";
  };
  const auto cycles_of = [&](unsigned length) {
    Simulator simulator(device, text(length));
    const std::uint64_t memory = simulator.allocate(4096);
    return static_cast<double>(cycles(simulator.run("k", {1, 1, 1}, {1, 1, 1}, memory)));
  };
  return (cycles_of(40) - cycles_of(8)) / 32;
}

TEST_P(LatencyLaw, WiderLoadsComeLaterByTheirRegisters) {
  const device::Device device = device_of(GetParam());
  const double one = latency_of_width(device, "ld.global.ca.u32 %a, [%rd1];"),
               two = latency_of_width(device, "ld.global.ca.v2.u32 {%a, %b}, [%rd1];"),
               four = latency_of_width(device, "ld.global.ca.v4.u32 {%a, %b, %c, %d}, [%rd1];");
  EXPECT_NEAR(two - one, device.l1_register_latency, 0.3);
  EXPECT_NEAR(four - two, 2 * device.l1_register_latency, 0.6);
}

TEST_P(LatencyLaw, PointerChaseThatBypassesL1GivesTheLatencyOfL2) {
  const device::Device device = device_of(GetParam());
  EXPECT_NEAR(warm_latency(device, 512, 128, "ld.global.cg.u64"), device.l2.latency,
              device.l2.latency * 0.01);
}

TEST_P(LatencyLaw, PointerChaseBeyondL1GivesTheLatencyOfL2) {
  device::Device device = device_of(GetParam());
  // An L1 that the chain exceeds: with least-recently-used replacement a ring of twice its size never hits
  // there.
  device.l1.bytes = 16 << 10;
  device.l1.ways = 4;
  device.l1_unified_bytes = 0;
  EXPECT_NEAR(warm_latency(device, 256, 128, "ld.global.ca.u64"), device.l2.latency,
              device.l2.latency * 0.01);
}

TEST_P(LatencyLaw, PointerChaseGivesTheLatencyOfDram) {
  const device::Device device = device_of(GetParam());
  Chase chase(device, 2 * links, 4096, "ld.global.cg.u64");
  const double once = chase.cycles_of("short");
  chase.forget();
  EXPECT_NEAR((chase.cycles_of("long") - once) / links, device.dram.latency, device.dram.latency * 0.01);
}

// The GPU's own memory in detail. Refreshes, banks with another row open and waits for clock edges add
// something.
TEST_P(LatencyLaw, PointerChaseThroughTheDetailedMemoryGivesTheSameLatency) {
  device::Device device = device::load_device(GetParam(), {{"dram.model", "device", {}}}).device;
  device.launch.floor = 0;
  Chase chase(device, 2 * links, 4096, "ld.global.cg.u64");
  const double once = chase.cycles_of("short");
  chase.forget();
  EXPECT_NEAR((chase.cycles_of("long") - once) / links, device_of(GetParam()).dram.latency,
              device.dram.latency * 0.13);
}

INSTANTIATE_TEST_SUITE_P(EveryDevice, LatencyLaw, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace simtlab::timing
