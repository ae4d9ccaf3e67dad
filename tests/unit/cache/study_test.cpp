// Closed forms: counts that follow from the access pattern alone.
#include "cache/study.h"

#include <gtest/gtest.h>

#include <numeric>

#include "cache/order.h"
#include "device/policy_names.h"
#include "kernels.h"
#include "validate_kernels.h"

namespace simtlab::cache {
namespace {

Options exact() {
  Options o;
  o.zero_latency = true;
  return o;
}

// Every counter of a read is one of its outcomes, every miss has one cause; SMs, instructions and buffers add
// up to the whole.
void check_sums(const result::KernelResult& r) {
  for (const std::string level : {"l1", "l2"}) {
    const auto of = [&](const char* name) { return metric(r, (level + ".read." + name).c_str()); };
    EXPECT_EQ(of("accesses"), of("hits") + of("hits_pending") + of("misses")) << level;
    EXPECT_EQ(of("misses"), of("misses.cold") + of("misses.partial") + of("misses.capacity") +
                                of("misses.conflict") + of("misses.invalidated"))
        << level;
  }
  for (const char* table : {"sms", "instructions", "buffers"}) {
    double accesses = 0, misses = 0;
    for (std::size_t i = 0; i < result::find(r.tables, table)->rows.size(); ++i)
      accesses += cell(r, table, i, "l1.read.accesses"), misses += cell(r, table, i, "l1.read.misses");
    EXPECT_EQ(accesses, metric(r, "l1.read.accesses")) << table;
    EXPECT_EQ(misses, metric(r, "l1.read.misses")) << table;
  }
}

TEST(CacheStudy, TranspositionReadsTwoLinesAWarpAndMissesThemAll) {
  StudyKernels k;
  for (const char* order : {"lrr", "gto", "oldest", "two_level"}) {
    Options o;
    o.order = order;
    const auto r = k.transpose(device_with("gtx480"), o, 10);
    EXPECT_EQ(metric(r, "l1.read.accesses"), 100 * 8 * 2);
    EXPECT_EQ(metric(r, "l1.read.miss_rate"), 1);
    // 6 blocks: 90 start at once, 10 go to whoever ends first
    EXPECT_EQ(metric(r, "l1.read.accesses.median"), 96);
    check_sums(r);
  }
}

TEST(CacheStudy, MultiplicationMissesEveryLineOnceAGroup) {
  StudyKernels k;
  const auto device = device_with("gtx480", {{"sm.count", "1"},
                                             {"sm.max_blocks", "1"},
                                             {"l1.bytes", "48 KiB"},
                                             {"l1.ways", "384"},
                                             {"l1.set_index", "modulo"},
                                             {"sm.shared_bytes", "48 KiB"}});
  const auto r = k.matmul(device, exact(), 16, 4);
  const double n = 64;
  EXPECT_EQ(metric(r, "l1.read.accesses"), 16 * 8 * 3 * n);  // three lines a warp and step
  // One group after another through a cache that holds both matrices: each line once on the whole.
  EXPECT_EQ(metric(r, "l1.read.misses"), 2 * n * n * 4 / 128);
  EXPECT_EQ(metric(r, "l1.read.misses.cold"), metric(r, "l1.read.misses"));
  check_sums(r);
}

TEST(CacheStudy, GroupsSixteenWideHaveSixAndAQuarterPerCentColdMissesAndThirtyTwoHalf) {
  StudyKernels k;
  const auto device = device_with("gtx480", {{"l1.set_index", "modulo"}, {"l1.ways", "128"}});
  // 9 groups, each on an SM of its own
  const auto sixteen = k.matmul(device, exact(), 16, 3), wide = k.matmul(device, exact(), 32, 3);
  EXPECT_DOUBLE_EQ(metric(sixteen, "l1.read.miss_rate"), 0.0625);
  EXPECT_DOUBLE_EQ(metric(wide, "l1.read.miss_rate"), 0.03125);
}

TEST(CacheStudy, StencilReadsFortySixLinesARow) {
  StudyKernels k;
  const auto r = k.stencil(device_with("gtx480"), exact());
  EXPECT_EQ(metric(r, "l1.read.accesses"), 46.0 * 126 * 30);
  EXPECT_EQ(metric(r, "access.threads"), 126.0 * 126 * 30 * 8);
  check_sums(r);
}

TEST(CacheStudy, ThreadOrdersSeeEveryAccessOfEveryThread) {
  StudyKernels k;
  for (const char* order : {"sequential", "round_robin", "random"}) {
    Options o;
    o.order = order;
    const auto r = k.matmul(device_with("gtx480"), o, 16, 2);
    EXPECT_EQ(metric(r, "l1.read.accesses"), 32.0 * 32 * 32 * 2) << order;
    EXPECT_EQ(metric(r, "access.threads"), 32.0 * 32 * (32 * 2 + 1));
    check_sums(r);
  }
}

// Every order that the build knows is chosen by its name, hands out every access of every thread, and orders
// either warps or threads.
TEST(CacheStudy, EveryOrderIsReached) {
  ASSERT_GE(order_policies().size(), 7u);
  StudyKernels k;
  for (const auto& [name, policy] : order_policies()) {
    EXPECT_NE(policy->warps == nullptr, policy->threads == nullptr) << name;
    EXPECT_FALSE(policy->doc.empty()) << name;
    const Options o = parse_options("order=" + std::string(name));
    EXPECT_EQ(o.order, name);
    EXPECT_EQ(orders_threads(o.order), policy->threads != nullptr);
    const auto r = k.matmul(device_with("gtx480"), o, 16, 2);
    EXPECT_EQ(metric(r, "access.threads"), 32.0 * 32 * (32 * 2 + 1)) << name;
    check_sums(r);
  }
}

// Without an order, warps take turns as the device's scheduler has them: on every device that is shipped,
// with every scheduler that there is.
TEST(CacheStudy, WithoutAnOrderItIsThatOfTheDevice) {
  StudyKernels k;
  const std::vector<std::string> devices = device::list_devices();
  ASSERT_GE(devices.size(), 9u);
  for (const std::string& name : devices) {
    const auto device = device_with(name);
    const std::string scheduler(device::name_of(device.sm.scheduler));
    Options o;
    const auto own = k.matmul(device, o, 16, 2);
    EXPECT_EQ(own.order, scheduler) << name;
    o.order = scheduler;
    EXPECT_EQ(k.matmul(device, o, 16, 2).metrics, own.metrics) << name;
  }
  for (const std::string_view scheduler : device::scheduler_names()) {
    const auto r = k.matmul(device_with("gtx480", {{"sm.scheduler", std::string(scheduler)}}), {}, 16, 2);
    EXPECT_EQ(r.order, scheduler);
    Options o;
    o.order = "lrr";
    EXPECT_EQ(k.matmul(device_with("gtx480", {{"sm.scheduler", std::string(scheduler)}}), o, 16, 2).order,
              "lrr");
  }
}

TEST(CacheStudy, SequentialThreadsOfOneRowReuseItsLines) {
  StudyKernels k;
  Options o;
  o.order = "sequential";
  // One thread reads its row of A element by element and its column of B line by line: 32 + 1 lines, of which
  // a cache of 128 keeps all.
  const auto r = k.matmul(
      device_with("gtx480", {{"sm.count", "1"}, {"l1.set_index", "modulo"}, {"l1.ways", "128"}}), o, 16, 2);
  EXPECT_EQ(metric(r, "l1.read.misses"), 2.0 * 32 * 32 * 4 / 128);
}

TEST(CacheStudy, EndsWhereTheHostHasNoMemoryLeftForMoreLines) {
  StudyKernels k;
  const auto device = device_with("gtx480");
  k.max_bytes = 64 << 20;
  EXPECT_NO_THROW(k.transpose(device, {}, 32));
  k.max_bytes = 1 << 20;
  for (const char* order : {"lrr", "sequential"}) {
    Options o;
    o.order = order;
    try {
      k.transpose(device, o, 32);
      FAIL() << order;
    } catch (const Error& e) {
      EXPECT_EQ(e.id(), "limit-memory");
      EXPECT_NE(e.format().find("--max-memory"), std::string::npos);
    }
  }
}

TEST(CacheStudy, RepeatsWithTheSeedAndDiffersWithAnother) {
  StudyKernels k;
  Options o;
  o.order = "random";
  const auto device = device_with("gtx480");
  const auto a = k.matmul(device, o, 16, 6), b = k.matmul(device, o, 16, 6);
  EXPECT_EQ(a.metrics, b.metrics);
  EXPECT_EQ(a.tables, b.tables);
  o.seed = 5;
  EXPECT_NE(k.matmul(device, o, 16, 6).metrics, a.metrics);
}

constexpr const char* shared_line = R"(
.entry both(.param .u64 p) {
  .reg .b64 %rd<4>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p];
  ld.global.u32 %r1, [%rd1];
  bar.sync 0;
  ld.global.u32 %r2, [%rd1+4096];
  st.global.u32 [%rd1+8192], %r1;
  st.global.u32 [%rd1+8196], %r2;
  exit;
})";

TEST(CacheStudy, APendingLineIsAHitOfItsOwnKind) {
  Kernels k(shared_line);
  const std::uint64_t p = k.allocate(1 << 16);
  const auto device = device_with("gtx480", {{"sm.count", "1"}});
  const auto r = k.run(device, {}, "both", {1, 1, 1}, {128, 1, 1}, p);
  EXPECT_EQ(metric(r, "l1.read.accesses"), 8);
  EXPECT_EQ(metric(r, "l1.read.misses"), 2);
  EXPECT_EQ(metric(r, "l1.read.hits_pending"), 6);
  const auto at_once = k.run(device, exact(), "both", {1, 1, 1}, {128, 1, 1}, p);
  EXPECT_EQ(metric(at_once, "l1.read.hits_pending"), 0);
  EXPECT_EQ(metric(at_once, "l1.read.hits"), 6);
}

TEST(CacheStudy, ThreadsDoNotPassABarrier) {
  Kernels k(shared_line);
  const std::uint64_t p = k.allocate(1 << 16);
  // One line in the cache: if a thread could pass the barrier, the lines would push each other out and miss
  // again.
  const auto device = device_with(
      "gtx480", {{"sm.count", "1"}, {"l1.bytes", "128 B"}, {"l1.ways", "1"}, {"l1.set_index", "modulo"}});
  for (const char* order : {"sequential", "round_robin", "random"}) {
    Options o;
    o.order = order;
    EXPECT_EQ(metric(k.run(device, o, "both", {1, 1, 1}, {128, 1, 1}, p), "l1.read.misses"), 2) << order;
  }
}

TEST(CacheStudy, BuffersAreNamedAndStridesFound) {
  StudyKernels k;
  k.name_buffers = true;
  const auto r = k.transpose(device_with("v100"), {}, 10);
  const result::Table* buffers = result::find(r.tables, "buffers");
  ASSERT_EQ(buffers->rows.size(), 2u);
  EXPECT_EQ(std::get<std::string>(buffers->rows[0][0]), "idata");
  const result::Table* instructions = result::find(r.tables, "instructions");
  ASSERT_EQ(instructions->rows.size(), 2u);
  // Two rows of sixteen threads in a warp: neighbours lie 640 bytes apart, except where a row ends.
  const result::Table* advice = result::find(r.tables, "advice");
  ASSERT_FALSE(advice->rows.empty());
  EXPECT_NE(
      std::get<std::string>(advice->rows[0][1]).find("odata is written with stride 640 B between threads"),
      std::string::npos);
}

// Each thread loads from a row of its own, in a loop that the compiler unrolled twice: one line of the
// source.
constexpr const char* unrolled = R"(
.file 1 "rows.cu"
.entry rows(.param .u64 in, .param .u64 out) {
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 1024;
  add.u64 %rd4, %rd1, %rd3;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd2, %rd2, %rd3;
  mov.u32 %r2, 0;
  mov.u32 %r5, 0;
$loop:
  .loc 1 7 3
  ld.global.u32 %r3, [%rd4];
  ld.global.u32 %r4, [%rd4+4];
  add.u32 %r5, %r5, %r3;
  add.u32 %r5, %r5, %r4;
  add.u64 %rd4, %rd4, 8;
  add.u32 %r2, %r2, 2;
  setp.lt.u32 %p, %r2, 64;
  @%p bra $loop;
  .loc 1 9 3
  st.global.u32 [%rd2], %r5;
  exit;
})";

TEST(CacheStudy, CopiesOfAnUnrolledLoadAreOneAdvice) {
  Kernels k(unrolled);
  const std::uint64_t in = k.allocate(128 * 1024), out = k.allocate(4096);
  k.buffers = {{in, in + 128 * 1024, "in"}, {out, out + 4096, "out"}};
  const auto r =
      k.run(device_with("gtx480", {{"sm.count", "1"}}), {}, "rows", {1, 1, 1}, {128, 1, 1}, in, out);
  ASSERT_EQ(result::find(r.tables, "instructions")->rows.size(), 3u);
  unsigned about_in = 0;
  for (const auto& row : result::find(r.tables, "advice")->rows) {
    const auto& text = std::get<std::string>(row[1]);
    if (text.find("in is read with stride 1024 B between threads, 32 sectors a request") !=
            std::string::npos &&
        text.find("rows.cu:7") != std::string::npos) {
      ++about_in;
      EXPECT_NEAR(result::number(row[0]), 64. / 65, 0.02);  // of all sectors, both copies together
    }
  }
  EXPECT_EQ(about_in, 1u);
}

// What an order of single threads does is no fault of the kernel.
TEST(CacheStudy, AnOrderOfThreadsIsNotBlamedOnTheKernel) {
  Kernels k(unrolled);
  const std::uint64_t in = k.allocate(128 * 1024), out = k.allocate(4096);
  for (const auto& [name, policy] : order_policies()) {
    Options o;
    o.order = name;
    const auto r =
        k.run(device_with("gtx480", {{"sm.count", "1"}}), o, "rows", {1, 1, 1}, {128, 1, 1}, in, out);
    const auto& rows = result::find(r.tables, "advice")->rows;
    ASSERT_FALSE(rows.empty());
    const bool says_so =
        std::get<std::string>(rows[0][1]).find("single threads take turns") != std::string::npos;
    EXPECT_EQ(says_so, policy->threads != nullptr) << name;
    if (says_so) { EXPECT_EQ(rows.size(), 1u) << name; }
  }
}

TEST(CacheStudy, ANextLineComesWithAMiss) {
  StudyKernels k;
  Options o = exact();
  const auto device = device_with("gtx480", {{"sm.count", "1"}});
  const auto without = k.stencil(device, o);
  o.prefetch = "next-line";
  const auto with = k.stencil(device, o);
  EXPECT_EQ(metric(without, "l1.prefetches"), 0);
  EXPECT_GT(metric(with, "l1.prefetches"), 0);
  EXPECT_LT(metric(with, "l1.read.misses"), metric(without, "l1.read.misses"));
}

TEST(CacheStudy, RestrictedToSmsAndGroupsItRunsOnlyThose) {
  StudyKernels k;
  Options o;
  o.sms = {0, 2};
  // Blocks 0, 15, 30 ... of SM 0: seven, and so on
  const auto some = k.transpose(device_with("gtx480"), o, 10);
  EXPECT_EQ(metric(some, "l1.read.accesses"), 3 * 7 * 16);
  o.sms = {};
  o.groups = {10, 19};
  EXPECT_EQ(metric(k.transpose(device_with("gtx480"), o, 10), "l1.read.accesses"), 10 * 16);
}

TEST(CacheStudy, PicturesAreBoundedAndEven) {
  StudyKernels k;
  k.name_buffers = true;
  Options o;
  o.pictures = 500;
  const auto r = k.matmul(device_with("gtx480"), o, 16, 4);
  const result::Table* points = result::find(r.tables, "points");
  EXPECT_GT(points->rows.size(), 200u);
  EXPECT_LE(points->rows.size(), 500u);
}

TEST(CacheOptions, GoThroughTextAndBack) {
  Options o;
  EXPECT_EQ(to_text(o), "");
  EXPECT_FALSE(orders_threads(o.order));  // the device's is of warps
  o.order = "two_level", o.zero_latency = true, o.l2 = false, o.prefetch = "next-line",
  o.allocate = Allocate::on_fill, o.wait = Wait::use;
  o.sms = {1, 2}, o.groups = {5, 5}, o.sample = 0.25, o.pictures = 7, o.seed = 9;
  o.warp_size = 16, o.fetch_group = 4;
  EXPECT_EQ(parse_options(to_text(o)), o);
  for (const char* bad :
       {"order=fast", "sms=3-1", "sms=", "sample=2", "sample=nan", "x=1", "order", "seed=-1", "pictures=1e9"})
    EXPECT_THROW(parse_options(bad), Error) << bad;
}

}  // namespace
}  // namespace simtlab::cache
