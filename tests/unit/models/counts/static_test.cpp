// Kernels that are followed without being executed.
#include <gtest/gtest.h>

#include <string>

#include "device/catalogue.h"
#include "models/counts/lane_values.h"
#include "models/counts/static_profile.h"
#include "ptx/module.h"

namespace simtlab::models::counts {
namespace {

std::string static_kernel(const std::string& body) {
  return R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .f32 %f<16>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r9, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
)" + body +
         "done:\n  ret;\n}\n";
}

StaticProfile follow_kernel(const std::string& body, double trips = 10, exec::Dim3 block = {64, 1, 1}) {
  const auto module = ptx::load_module("test.ptx", static_kernel(body));
  const device::Device device = device::load_device("v100", {}).device;
  return static_profile({*module,
                         module->functions.front(),
                         {100, 1, 1},
                         block,
                         device::occupancy(device, static_cast<std::uint32_t>(block.count()), 20, 0),
                         trips,
                         false},
                        device);
}

double executed(const StaticProfile& s, ptx::OpClass c) {
  return s.profile.class_insts[static_cast<std::size_t>(c)];
}

TEST(StaticProfile, LoopsOfKnownEndRunToItOthersAsOftenAsAsked) {
  const auto loop = [](const char* end) {
    return std::string(
               "  mov.u32 %r5, 0;\nagain:\n  add.f32 %f1, %f1, %f1;\n  add.s32 %r5, %r5, 3;\n  setp.lt.s32 "
               "%p1, %r5, ") +
           end + ";\n  @%p1 bra again;\n";
  };
  const StaticProfile known = follow_kernel(loop("300"));
  EXPECT_EQ(executed(known, ptx::OpClass::fp32), 100);
  EXPECT_EQ(known.assumed_loops, 0u);
  const StaticProfile unknown = follow_kernel(loop("%r9"), 25);
  EXPECT_EQ(executed(unknown, ptx::OpClass::fp32), 25);
  EXPECT_EQ(unknown.assumed_loops, 1u);
}

TEST(StaticProfile, NestedLoopsOfUnknownEndMultiply) {
  const StaticProfile s = follow_kernel(
      "  mov.u32 %r5, 0;\nouter:\n  mov.u32 %r6, 0;\ninner:\n  add.f32 %f1, %f1, %f1;\n  add.s32 %r6, %r6, "
      "1;\n  setp.lt.s32 %p1, %r6, %r9;\n  @%p1 bra inner;\n"
      "  add.s32 %r5, %r5, 1;\n  setp.lt.s32 %p2, %r5, %r9;\n  @%p2 bra outer;\n",
      6);
  EXPECT_EQ(executed(s, ptx::OpClass::fp32), 36);
}

TEST(StaticProfile, GuardsOfTheEdgeAreNotTaken) {
  const StaticProfile s =
      follow_kernel("  setp.ge.s32 %p1, %r4, %r9;\n  @%p1 bra done;\n  add.f32 %f1, %f1, %f1;\n");
  EXPECT_EQ(executed(s, ptx::OpClass::fp32), 1);
  EXPECT_EQ(s.assumed_branches, 1u);
}

TEST(StaticProfile, SeesHowLanesLie) {
  const auto load = [](int stride) {
    return follow_kernel(
               "  mul.wide.s32 %rd2, %r4, " + std::to_string(stride) +
               ";\n  add.s64 %rd3, %rd1, %rd2;\n  ld.global.f32 %f1, [%rd3+64];\n  add.f32 %f2, %f1, %f1;\n")
        .profile;
  };
  EXPECT_EQ(load(4).sectors_per_access, 4);
  EXPECT_EQ(load(4).coalesced_insts, 1);
  EXPECT_EQ(load(128).lines_per_access, 32);
  EXPECT_EQ(load(128).uncoalesced_insts, 1);
  EXPECT_EQ(load(0).sectors_per_access, 1);
}

// A row of unknown length between lanes: nobody knows how they lie, so they lie apart.
TEST(StaticProfile, UnknownDistancesAreTakenToLieApart) {
  const StaticProfile s = follow_kernel(
      "  mul.lo.s32 %r5, %r4, %r9;\n  mul.wide.s32 %rd2, %r5, 4;\n  add.s64 %rd3, %rd1, %rd2;\n  "
      "ld.global.f32 %f1, [%rd3];\n");
  EXPECT_EQ(s.unknown_accesses, 1u);
  EXPECT_EQ(s.profile.lines_per_access, 32);
  // The same for all lanes: a broadcast, whatever the length.
  const StaticProfile same = follow_kernel(
      "  mul.lo.s32 %r5, %r1, %r9;\n  mul.wide.s32 %rd2, %r5, 4;\n  add.s64 %rd3, %rd1, %rd2;\n  "
      "ld.global.f32 %f1, [%rd3];\n");
  EXPECT_EQ(same.unknown_accesses, 0u);
  EXPECT_EQ(same.profile.sectors_per_access, 1);
}

TEST(StaticProfile, ThreadsOfABlockInTwoDimensions) {
  const StaticProfile s = follow_kernel(
      "  mov.u32 %r5, %tid.y;\n  mul.lo.s32 %r6, %r5, 1024;\n  add.s32 %r7, %r6, %r3;\n  mul.wide.s32 %rd2, "
      "%r7, 4;\n  add.s64 %rd3, %rd1, %rd2;\n  ld.global.f32 %f1, [%rd3];\n",
      10, {16, 4, 1});
  EXPECT_EQ(s.profile.lines_per_access, 2);  // two rows of sixteen
  EXPECT_EQ(s.profile.sectors_per_access, 4);
}

TEST(StaticProfile, GivenParametersEndLoops) {
  const auto module = ptx::load_module(
      "test.ptx", static_kernel("  mov.u32 %r5, 0;\n  neg.s32 %r6, %r9;\nagain:\n  add.f32 %f1, %f1, %f1;\n"
                                "  add.s32 %r5, %r5, -1;\n  setp.eq.s32 %p1, %r5, %r6;\n  @%p1 bra done;\n"
                                "  bra again;\n"));
  const device::Device device = device::load_device("v100", {}).device;
  StaticLaunch launch{*module, module->functions.front(), {100, 1, 1}, {64, 1, 1}, {}};
  launch.parameters = {std::nullopt, 37};
  const StaticProfile s = static_profile(launch, device);
  EXPECT_EQ(executed(s, ptx::OpClass::fp32), 37);
  EXPECT_EQ(s.assumed_loops + s.assumed_branches, 0u);
  launch.longest = 50;
  EXPECT_FALSE(static_profile(launch, device).complete);
}

TEST(StaticProfile, LanesThatDifferGoBothWaysAndMeet) {
  // Odd lanes do one sum, even ones two; all do the last.
  const std::string both =
      "  and.b32 %r5, %r3, 1;\n  setp.eq.s32 %p1, %r5, 0;\n  @%p1 bra even;\n  add.f32 %f1, %f1, %f1;\n"
      "  bra meet;\neven:\n  add.f32 %f1, %f1, %f1;\n  add.f32 %f1, %f1, %f1;\nmeet:\n"
      "  add.f32 %f1, %f1, %f1;\n";
  const StaticProfile s = follow_kernel(both);
  EXPECT_EQ(executed(s, ptx::OpClass::fp32), 4);
  EXPECT_EQ(s.assumed_branches, 0u);
  // A loop that lane i runs i + 1 times: the warp runs it as often as its last lane.
  const std::string own =
      "  mov.u32 %r5, 0;\n  and.b32 %r6, %r3, 31;\nagain:\n  add.f32 %f1, %f1, %f1;\n  add.s32 %r5, %r5, 1;\n"
      "  setp.le.s32 %p1, %r5, %r6;\n  @%p1 bra again;\n  add.f32 %f2, %f2, %f2;\n";
  EXPECT_EQ(executed(follow_kernel(own), ptx::OpClass::fp32), 33);
  // Lanes that left do nothing any more; the way ends with the last.
  const std::string left =
      "  and.b32 %r5, %r3, 31;\n  setp.gt.s32 %p1, %r5, 3;\n  @%p1 exit;\n  setp.gt.s32 %p2, %r5, 1;\n"
      "  @%p2 bra done;\n  add.f32 %f1, %f1, %f1;\n";
  EXPECT_EQ(executed(follow_kernel(left), ptx::OpClass::fp32), 1);
}

TEST(StaticProfile, EndsWithoutAnEnd) {
  const StaticProfile s = follow_kernel("forever:\n  add.f32 %f1, %f1, %f1;\n  bra forever;\n");
  EXPECT_FALSE(s.complete);
}

TEST(LaneValues, WrapAndCompareAsTheMachineDoes) {
  ptx::Inst add;
  add.op = ptx::Op::add, add.type = ptx::Type::u32, add.dst_count = 1;
  add.dst[0].bytes = 4;
  const LaneValue values[] = {LaneValue::constant(0xffffffff), LaneValue::constant(2)};
  EXPECT_EQ(evaluate(add, values, 2).lane[7], 1);
  ptx::Inst setp;
  setp.op = ptx::Op::setp, setp.mods.compare = ptx::Compare::lt;
  setp.type = ptx::Type::s32;
  EXPECT_EQ(compare(setp, LaneValue::constant(0xffffffff), LaneValue::constant(0)).lane[0], 1);
  setp.type = ptx::Type::u32;
  EXPECT_EQ(compare(setp, LaneValue::constant(-1), LaneValue::constant(0)).lane[0], 0);
}

}  // namespace
}  // namespace simtlab::models::counts
