// A program that has locked itself is told from one that only takes long, and from a fault of ours.
#include <gtest/gtest.h>

#include "base/error.h"
#include "simulator.h"

namespace simtlab::timing {
namespace {

// What ends the kernel `k` after 40000 cycles.
Error ended(const std::string& body, unsigned blocks = 1, unsigned threads = 32) {
  device::Device d = device_of("v100");
  d.sm.count = 2;
  Options options;
  options.max_cycles = 40000;
  Simulator s(d, ".visible .entry k(.param .u64 x) { .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;\nld.param.u64 %rd1, [x];\n" + body + "\nret; }",
              options);
  try {
    s.run("k", {blocks, 1, 1}, {threads, 1, 1}, s.allocate(4096));
  } catch (const Error& e) {
    return e;
  }
  return {ExitCode::ok, "none", "it ended"};
}

TEST(Watch, ALockThatNobodyReleases) {
  const Error e = ended("AGAIN: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra AGAIN;\n", 3, 1);
  EXPECT_EQ(e.id(), "livelock");
  EXPECT_EQ(e.code(), ExitCode::program_failed);
  EXPECT_NE(e.format().find("all 2 warps"), std::string::npos) << e.format();
  EXPECT_NE(e.format().find("test.ptx:6"), std::string::npos) << e.format();
}

TEST(Watch, AFlagThatNobodySets) {
  EXPECT_EQ(ended("AGAIN: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra AGAIN;\n").id(), "livelock");
}

TEST(Watch, WarpsAtABarrierWaitForOneThatPolls) {
  const Error e = ended(
      "mov.u32 %r2, %tid.x; setp.ge.u32 %p2, %r2, 32; @%p2 bra MEET;\n"
      "AGAIN: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra AGAIN;\nMEET: bar.sync 0;\n",
      1, 96);
  EXPECT_EQ(e.id(), "livelock");
  EXPECT_NE(e.format().find("and 1 more for a barrier"), std::string::npos) << e.format();
}

TEST(Watch, ALongComputationIsOnlyLong) { EXPECT_EQ(ended("AGAIN: add.u32 %r1, %r1, 1; bra AGAIN;\n").id(), "limit-cycles"); }

TEST(Watch, WhoWritesGetsSomewhere) {
  EXPECT_EQ(ended("AGAIN: ld.volatile.global.u32 %r1, [%rd1]; add.u32 %r1, %r1, 1; st.global.u32 [%rd1+4], %r1; bra AGAIN;\n").id(), "limit-cycles");
}

TEST(Watch, CountersAreNoLocks) {
  EXPECT_EQ(ended("AGAIN: atom.global.add.u32 %r1, [%rd1], 1; setp.lt.u32 %p1, %r1, 100000; @%p1 bra AGAIN;\n").id(), "limit-cycles");
}

TEST(Watch, OneWarpThatWorksIsEnough) {
  const Error e = ended(
      "mov.u32 %r2, %tid.x; setp.ge.u32 %p2, %r2, 32; @%p2 bra WORK;\n"
      "AGAIN: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra AGAIN;\nret;\nWORK: add.u32 %r3, %r3, 1; bra WORK;\n",
      1, 64);
  EXPECT_EQ(e.id(), "limit-cycles");
}

}  // namespace
}  // namespace simtlab::timing
