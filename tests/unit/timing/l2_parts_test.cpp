// Laws of an L2 in two parts and of translation: what a pointer chase sees.
#include "timing/l2_parts.h"

#include <gtest/gtest.h>

#include "simulator.h"
#include "timing/translation.h"

namespace simtlab::timing {
namespace {

// chase: follows `links` pointers. touch: writes every pointer of a ring onto itself.
const char* const rings = R"(
.visible .entry chase(.param .u64 start, .param .u32 links) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [start]; ld.param.u32 %r1, [links];
LOOP:
  ld.global.cg.u64 %rd1, [%rd1];
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra LOOP;
  ret;
}
.visible .entry touch(.param .u64 base, .param .u32 stride) {
  .reg .b64 %rd<5>; .reg .b32 %r<5>;
  ld.param.u64 %rd1, [base]; ld.param.u32 %r1, [stride];
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd2, %r2, %r1;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.cg.u64 %rd4, [%rd3];
  st.global.u64 [%rd3], %rd4;
  ret;
}
)";

class Ring {
 public:
  Ring(const device::Device& device, std::uint32_t count, std::uint32_t stride)
      : simulator_(device, rings),
        count_(count),
        stride_(stride),
        base_(simulator_.allocate(std::uint64_t{count} * stride)) {
    std::vector<std::uint64_t> buffer(std::uint64_t{count} * stride / 8, 0);
    for (std::uint64_t i = 0; i < count; ++i) buffer[i * stride / 8] = base_ + (i + 1) % count * stride;
    simulator_.memory.write(base_, std::as_bytes(std::span(buffer)));
  }
  // Of a load, in the steady state: two and one walks differ by one.
  double latency() {
    walk(1);
    const double once = walk(1);
    return (walk(2) - once) / count_;
  }
  double walk(std::uint32_t times) {
    return static_cast<double>(cycles(simulator_.run("chase", {1, 1, 1}, {1, 1, 1}, base_, times * count_)));
  }
  void touch() { simulator_.run("touch", {count_, 1, 1}, {1, 1, 1}, base_, stride_); }

 private:
  Simulator simulator_;
  std::uint32_t count_, stride_;
  std::uint64_t base_;
};

constexpr double far = 150;

// Two parts of 512 KiB: 4096 lines each.
device::Device two_parts() {
  device::Device d = device_of("v100");
  d.l2.bytes = 1 << 20;
  d.l2.ways = 16;
  d.l2_partitions = 2;
  d.l2_far_latency = far;
  return d;
}

TEST(L2Parts, WhatFitsTheNearPartHasTheNearLatency) {
  const device::Device d = two_parts();
  EXPECT_NEAR(Ring(d, 3000, 128).latency(), d.l2.latency, 0.02 * d.l2.latency);
}

TEST(L2Parts, WhatFitsL2ButNotTheNearPartIsHalfFarHitsHalfMemory) {
  const device::Device d = two_parts();
  const double expected = (d.l2.latency + far + d.dram.latency - far / 2) / 2;
  EXPECT_NEAR(Ring(d, 7000, 128).latency(), expected, 0.03 * expected);
}

TEST(L2Parts, WhatFitsNothingHasTheLatencyOfMemoryOnAverage) {
  const device::Device d = two_parts();
  EXPECT_NEAR(Ring(d, 20000, 128).latency(), d.dram.latency, 0.02 * d.dram.latency);
}

// dram.latency was measured by chases: what a lone read waits for (refreshes, the next clock, the second
// access of a miss of 64 bytes) is in it, whether memory is simulated command by command or not.
TEST(MainMemory, ALoneReadTakesTheLatencyOfTheFile) {
  for (const char* name : {"v100", "a100", "h100", "rtx2060", "titanxp", "gtx580"}) {
    device::Device d = device::load_device(name, {{"dram.model", "device", {}}}).device;
    d.l2.bytes /= d.l2.bytes > (16u << 20) ? 64 : 16;  // the ring is larger
    EXPECT_NEAR(Ring(d, 12000, 65 * 128).latency(), d.dram.latency, 0.015 * d.dram.latency) << name;
  }
}

TEST(L2Parts, WritesDropTheCopies) {
  const device::Device d = two_parts();
  Ring ring(d, 3000, 128);
  const double near = ring.latency() * 3000;
  ring.touch();
  // One walk finds half of the lines far away, the next finds copies again.
  EXPECT_NEAR(ring.walk(1) - near, 3000 * far / 2, 3000 * far * 0.06);
  EXPECT_NEAR(ring.latency(), d.l2.latency, 0.02 * d.l2.latency);
}

TEST(L2Parts, OnePartIsAsWithoutParts) {
  device::Device d = two_parts();
  d.l2_partitions = 1;
  EXPECT_NEAR(Ring(d, 7000, 128).latency(), d.l2.latency, 0.02 * d.l2.latency);
}

TEST(L2Parts, TheOppositeSliceIsOfTheAskersPartAndHomesStayApart) {
  device::Device d = two_parts();
  d.l2_slices = 8;
  d.l2_partitions = 4;
  const L2Parts parts(d);
  for (std::uint32_t home = 0; home < 8; ++home)
    for (std::uint32_t part = 0; part < 4; ++part) {
      EXPECT_EQ(parts.part_of_slice(parts.opposite(home, part)), part);
      EXPECT_EQ(parts.opposite(home, parts.part_of_slice(home)), home);
    }
  EXPECT_NE(parts.copy(0, 5), parts.copy(2, 5));
  EXPECT_NE(parts.copy(0, 5), 5u);
}

TEST(L2Parts, PairsOfSmsGoRoundOverTheParts) {
  device::Device d = two_parts();
  const L2Parts two(d);
  d.l2_slices = 8;
  d.l2_partitions = 4;
  const L2Parts four(d);
  for (std::uint32_t sm = 0; sm < 16; ++sm) {
    EXPECT_EQ(two.part_of_sm(sm), sm / 2 % 2);
    EXPECT_EQ(four.part_of_sm(sm), sm / 2 % 4);
  }
}

device::Device with_tlb() {
  device::Device d = device_of("v100");
  d.tlb = {.enabled = true, .page_bytes = 4096, .entries = 64, .miss_latency = 50};
  return d;
}

TEST(Translation, PagesThatAreAtHandCostNothing) {
  const device::Device d = with_tlb();
  EXPECT_NEAR(Ring(d, 48, 4096 + 128).latency(), d.l2.latency, 0.02 * d.l2.latency);
}

TEST(Translation, MorePagesThanEntriesCostEveryLoadAMiss) {
  const device::Device d = with_tlb();
  EXPECT_NEAR(Ring(d, 128, 4096 + 128).latency(), d.l2.latency + 50, 0.02 * d.l2.latency);
}

TEST(Translation, LongChasesTakeWhatTheFileSaysWithAndWithoutIt) {
  device::Device d = with_tlb();
  d.l2.bytes = 1 << 20;
  d.l2.ways = 16;
  const double with = Ring(d, 20000, 4096 + 128).latency();
  d.tlb.enabled = false;
  EXPECT_NEAR(with, d.dram.latency, 0.02 * d.dram.latency);
  EXPECT_NEAR(Ring(d, 20000, 4096 + 128).latency(), d.dram.latency, 0.02 * d.dram.latency);
}

TEST(Translation, RequestsOfAPageUnderWayWaitForIt) {
  Translation t(with_tlb());
  EXPECT_EQ(t.wait(0, 100), 50u);
  EXPECT_EQ(t.wait(1, 110), 40u);
  EXPECT_EQ(t.wait(1, 150), 0u);
  EXPECT_EQ(t.wait(32, 160), 50u) << "the next page";
}

}  // namespace
}  // namespace simtlab::timing
