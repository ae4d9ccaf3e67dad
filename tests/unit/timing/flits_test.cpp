// The network in flits: what messages of either way take of the ports of an SM.
#include <gtest/gtest.h>

#include "simulator.h"
#include "timing/interconnect.h"

namespace simtlab::timing {
namespace {

TEST(Flits, AMessageTakesWholeOnesAndOneAtLeast) {
  device::Device device = device_of("v100");
  device.interconnect = {
      .sm_bytes_per_cycle = 16, .sm_write_bytes_per_cycle = 8, .latency = 50, .flit_bytes = 32};
  Interconnect network(device, 50);
  EXPECT_EQ(network.flits(0, false), 1u);
  EXPECT_EQ(network.flits(1, false), 1u);
  EXPECT_EQ(network.flits(4, false), 4u);
  EXPECT_EQ(network.send(0, 100, 0, false), 150u) << "a read's address";
  EXPECT_EQ(network.request_port_free(0), 104u) << "a flit of 32 bytes, 8 a cycle";
  EXPECT_EQ(network.send(0, 100, 4, false), 154u);
  EXPECT_EQ(network.request_port_free(0), 120u) << "four flits of data";
  EXPECT_EQ(network.reply(0, 0, 0, {}), 50u);
  EXPECT_EQ(network.reply(0, 0, 4, {}), 52u) << "behind an acknowledgement";
  EXPECT_EQ(network.reply(0, 0, 1, {}), 60u);
  EXPECT_EQ(network.reply_flits(), 6u);
  EXPECT_EQ(network.send(1, 100, 0, false), 150u) << "another SM's port";

  device.interconnect.flit_bytes = 64;
  Interconnect wide(device, 50);
  EXPECT_EQ(wide.flits(1, false), 1u);
  EXPECT_EQ(wide.flits(3, false), 2u);

  device.interconnect.flit_bytes = 0;
  Interconnect bytes(device, 50);
  bytes.send(0, 100, 0, false);
  EXPECT_EQ(bytes.request_port_free(0), 101u) << "a header of eight bytes";
  EXPECT_EQ(bytes.reply(0, 0, 0, {}), 50u);
  EXPECT_EQ(bytes.reply(0, 0, 4, {}), 50u) << "acknowledgements cost nothing";
  EXPECT_EQ(bytes.reply_flits(), 0u);
}

TEST(Flits, AMaskTakesAFlitMore) {
  device::Device device = device_of("v100");
  device.interconnect = {.sm_bytes_per_cycle = 32,
                         .sm_write_bytes_per_cycle = 32,
                         .latency = 50,
                         .flit_bytes = 32,
                         .write_header_flits = 1};
  Interconnect network(device, 50);
  EXPECT_EQ(network.flits(4, false), 4u);
  EXPECT_EQ(network.flits(4, true), 5u);
  EXPECT_EQ(network.flits(0, true), 1u) << "no data, no mask";
  network.send(0, 100, 4, true);
  EXPECT_EQ(network.request_port_free(0), 105u);
  Request request{.bytes = {~0u, ~0u, 0, 0}, .kind = RequestKind::write, .sectors = 3};
  EXPECT_FALSE(masked(request)) << "two whole sectors";
  request.bytes[1] = 0xffff;
  EXPECT_TRUE(masked(request));
  request.sectors = 1;
  EXPECT_FALSE(masked(request)) << "the sector that is written in part is not among them";
  request.kind = RequestKind::atomic;
  EXPECT_TRUE(masked(request));
  request.kind = RequestKind::read;
  EXPECT_FALSE(masked(request));
}

// Each thread stores one word in a line of its own.
const char* scatter_kernels = R"(
.visible .entry scatter(.param .u64 out) {
  .reg .b64 %rd<4>; .reg .b32 %r<6>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r4, 128; add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r4;
  ret;
}
)";

TEST(WhatIf, WideWritesTakeHeadersAndNeighboursAway) {
  device::Device d = device_of("v100");
  d.sm.count = 8;
  d.interconnect.sm_write_bytes_per_cycle = 4;
  const auto run = [&](bool wide) {
    Options o;
    o.what_if.wide_writes = wide;
    Simulator s(d, scatter_kernels, o);
    const std::uint64_t out = s.allocate(std::uint64_t{8192} * 128);
    return static_cast<double>(cycles(s.run("scatter", {32, 1, 1}, {256, 1, 1}, out)));
  };
  EXPECT_NEAR(run(false) / run(true), 4, 0.4) << "two flits in place of one, on a way for two";
}

// Words that are spread over more lines than L2 keeps.
TEST(WhatIf, WideWritesTakeWhatPartsOfSectorsCostInL2AndMemory) {
  const auto run = [](auto change, bool wide) {
    device::Device d = device_of("h100");
    d.l2.bytes = 1 << 20, d.launch = {};
    d.l2_write_bytes_per_cycle = 0, d.dram.masked_writes = true;
    change(d);
    Options o;
    o.what_if.wide_writes = wide;
    Simulator s(d, scatter_kernels, o);
    const std::uint64_t out = s.allocate(std::uint64_t{65536} * 128);
    return static_cast<double>(cycles(s.run("scatter", {256, 1, 1}, {256, 1, 1}, out)));
  };
  const auto slow_slices = [](device::Device& d) { d.l2_write_bytes_per_cycle = 256; };
  const auto whole_sectors = [](device::Device& d) { d.dram.masked_writes = false; };
  EXPECT_GT(run(slow_slices, false), 1.5 * run(slow_slices, true));
  EXPECT_GT(run(whole_sectors, false), 1.2 * run(whole_sectors, true));
  EXPECT_EQ(run(slow_slices, true), run(whole_sectors, true));
}

TEST(WritePort, NeighboursThatShareOneWriteHalfAsFast) {
  const auto run = [](std::uint32_t sharing) {
    device::Device d = device_of("v100");
    d.sm.count = 8;
    d.interconnect.sm_write_bytes_per_cycle = 4;
    d.interconnect.write_header_flits = 0;
    d.interconnect.sms_per_write_port = sharing;
    Simulator s(d, scatter_kernels);
    const std::uint64_t out = s.allocate(std::uint64_t{8192} * 128);
    return static_cast<double>(cycles(s.run("scatter", {32, 1, 1}, {256, 1, 1}, out)));
  };
  EXPECT_NEAR(run(2) / run(1), 2, 0.15);
  EXPECT_NEAR(run(4) / run(2), 2, 0.15);
}

TEST(Flits, StoresOfFewBytesTakeAFlitEachAndSoDoTheirAcknowledgements) {
  device::Device device = device_of("v100");
  device.sm.count = 1;
  device.interconnect.write_header_flits = 0;
  const auto run = [&](double width, std::uint32_t flit) {
    device.interconnect.sm_bytes_per_cycle = device.interconnect.sm_write_bytes_per_cycle = width;
    device.interconnect.flit_bytes = flit;
    Simulator simulator(device, scatter_kernels);
    const std::uint64_t out = simulator.allocate(std::uint64_t{8192} * 128);
    return simulator.run("scatter", {32, 1, 1}, {256, 1, 1}, out);
  };
  const auto narrow = run(8, 32);
  EXPECT_EQ(metric(narrow, "interconnect.write.flits"), 8192.0);
  EXPECT_EQ(metric(narrow, "interconnect.read.flits"), 8192.0);
  EXPECT_GE(metric(narrow, "gpu.cycles"), 8192.0 * 4) << "32 bytes of a flit, 8 a cycle";
  EXPECT_LE(metric(narrow, "interconnect.utilisation"), 1.0);
  const auto large = run(8, 128);
  EXPECT_GE(metric(large, "gpu.cycles"), 3.5 * metric(narrow, "gpu.cycles"))
      << "flits of a whole line, a quarter filled";
  EXPECT_FALSE(run(8, 0).metrics.get("interconnect.write.flits").has_value());
}

// What L2 takes, whatever the SMs could send: lines of one word each.
TEST(Slices, TakeRequestsAndFlitsAtTheirOwnRates) {
  device::Device device = device_of("v100");
  device.interconnect.write_header_flits = 1;
  device.interconnect.sms_per_write_port = 1;
  device.interconnect.sm_write_bytes_per_cycle = 256;
  const double lines = 65536;
  const auto run = [&](double requests, double write_bytes) {
    device.l2_requests_per_cycle = requests;
    device.l2_write_bytes_per_cycle = write_bytes;
    Simulator simulator(device, scatter_kernels);
    const std::uint64_t out = simulator.allocate(static_cast<std::uint64_t>(lines) * 128);
    return static_cast<double>(cycles(simulator.run("scatter", {256, 1, 1}, {256, 1, 1}, out)));
  };
  const double start = run(0, 0);
  EXPECT_NEAR((run(4, 0) - start) * 4 / lines, 1, 0.2);
  EXPECT_NEAR((run(0, 128) - start) * 128 / (lines * 64), 1, 0.2) << "two flits of 32 bytes each";
}

// Twice as many lines as L2 has, one word of each: what leaves L2 was written in part.
TEST(MainMemory, ReadsTheRestOfASectorWhereItTakesNoMasks) {
  device::Device device = device_of("v100");
  device.sm.count = 8;
  device.l2.bytes = 1 << 20;
  const auto run = [&](bool masks) {
    device.dram.masked_writes = masks;
    Simulator simulator(device, scatter_kernels);
    const std::uint64_t out = simulator.allocate(std::uint64_t{32768} * 128);
    return simulator.run("scatter", {128, 1, 1}, {256, 1, 1}, out);
  };
  const auto masked = run(true), filled = run(false);
  EXPECT_EQ(metric(masked, "dram.read.bytes"), 0.0);
  EXPECT_GT(metric(masked, "dram.write.bytes"), 0.0);
  EXPECT_EQ(metric(filled, "dram.read.bytes"), metric(filled, "dram.write.bytes"));
}

}  // namespace
}  // namespace simtlab::timing
