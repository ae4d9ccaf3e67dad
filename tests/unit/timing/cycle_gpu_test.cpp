// Behaviour of whole kernels under the clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "simulator.h"
#include "timing/stall.h"

namespace simtlab::timing {
namespace {

using testing::HasSubstr;

device::Device one_sm(const char* name = "v100") {
  device::Device d = device_of(name);
  d.sm.count = 1;
  return d;
}

std::string kernel(const std::string& parameters, const std::string& body) {
  return ".visible .entry k(" + parameters +
         ") { .reg .b64 %rd<16>; .reg .b32 %r<32>; .reg .f32 %f<32>; .reg .pred %p<8>;\n" + body +
         "\nret; }\n";
}

// The whole grid adds the elements of one buffer to another.
const char* add_kernel = R"(
.visible .entry add(.param .u64 x, .param .u64 y) {
  .reg .b64 %rd<6>; .reg .b32 %r<6>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd3, %r4, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
  ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%rd2], %f3;
  ret;
})";

result::KernelResult run_add(const device::Device& device, unsigned blocks, unsigned threads) {
  Simulator s(device, add_kernel);
  const std::uint64_t bytes = std::uint64_t{blocks} * threads * 4;
  const std::uint64_t x = s.allocate(bytes), y = s.allocate(bytes);
  return s.run("add", {blocks, 1, 1}, {threads, 1, 1}, x, y);
}

TEST(CycleGpu, FunctionIsThatOfTheExecutor) {
  Simulator s(device_of("h100"), add_kernel);
  std::vector<float> x(5000), y(5120, 2);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  x.resize(5120);
  const std::uint64_t dx = s.upload(x), dy = s.upload(y);
  s.run("add", {20, 1, 1}, {256, 1, 1}, dx, dy);
  std::vector<float> out(5120);
  s.memory.read(dy, std::as_writable_bytes(std::span(out)));
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], x[i] + 2);
}

TEST(CycleGpu, EverySlotHasOneReasonOnEveryDevice) {
  for (const std::string& name : all_devices()) {
    const auto r = run_add(device_of(name), 300, 192);
    double sum = 0;
    for (const auto& value : r.metrics.values())
      if (value.name.starts_with("stall.")) sum += value.real;
    EXPECT_NEAR(sum, 1.0, 1e-9) << name;
  }
}

TEST(CycleGpu, EqualLaunchesGiveEqualMetrics) {
  const auto a = run_add(device_of("rtx2060"), 500, 128), b = run_add(device_of("rtx2060"), 500, 128);
  ASSERT_EQ(a.metrics.values().size(), b.metrics.values().size());
  for (std::size_t i = 0; i < a.metrics.values().size(); ++i) {
    EXPECT_EQ(a.metrics.values()[i].name, b.metrics.values()[i].name);
    EXPECT_EQ(a.metrics.values()[i].integer, b.metrics.values()[i].integer);
    EXPECT_EQ(a.metrics.values()[i].real, b.metrics.values()[i].real);
  }
}

TEST(CycleGpu, InstructionCountsDoNotDependOnTiming) {
  device::Device d = device_of("a100");
  const auto reference = run_add(d, 400, 128);
  d.sm.scheduler = device::Scheduler::gto;
  d.l1.latency = 77;
  d.dram.bandwidth_measured /= 7;
  d.dram.read_bandwidth_measured /= 7;
  d.l1_caches_global = false;
  d.sm.count = 9;
  d.throughput[5] /= 4;
  const auto other = run_add(d, 400, 128);
  for (const char* name :
       {"gpu.instructions.warp", "gpu.instructions.thread", "global.load.sectors", "global.store.sectors"})
    EXPECT_EQ(metric(reference, name), metric(other, name)) << name;
  EXPECT_NE(cycles(reference), cycles(other));
}

TEST(CycleGpu, CountsOfAKernelAreExact) {
  const auto r = run_add(device_of("v100"), 10, 64);
  EXPECT_EQ(metric(r, "gpu.instructions.warp"), 20 * 14 + 0.0);
  EXPECT_EQ(metric(r, "gpu.instructions.thread"), 640 * 14 + 0.0);
  EXPECT_EQ(metric(r, "global.load.requests"), 40);
  EXPECT_EQ(metric(r, "global.load.sectors"), 160);
  EXPECT_EQ(metric(r, "global.load.efficiency"), 1);
  EXPECT_EQ(metric(r, "global.store.bytes"), 640 * 4);
  EXPECT_EQ(metric(r, "gpu.flops.fp32"), 640);
  EXPECT_EQ(metric(r, "gpu.blocks"), 10);
  EXPECT_EQ(metric(r, "gpu.warps"), 20);
  EXPECT_EQ(metric(r, "dram.read.bytes"), 160 * 32);
}

TEST(CycleGpu, CacheAccessesAreHitsPendingHitsAndMisses) {
  for (const std::string& name : all_devices()) {
    Simulator s(device_of(name), kernel(".param .u64 x", R"(
      ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
      ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4]; add.f32 %f1, %f1, %f2; ld.global.f32 %f3, [%rd1];)"));
    const std::uint64_t x = s.allocate(1 << 16);
    const auto r = s.run("k", {64, 1, 1}, {256, 1, 1}, x);
    for (const std::string level : {"l1", "l2"}) {
      const auto value = [&](const char* what) { return metric(r, (level + ".read." + what).c_str()); };
      EXPECT_EQ(value("accesses"), value("hits") + value("hits_pending") + value("misses"))
          << name << ' ' << level;
    }
    const double fetched = device_of(name).l2_miss_bytes;  // in whole pieces
    EXPECT_GE(metric(r, "dram.read.bytes"), metric(r, "l2.read.misses") * 32) << name;
    EXPECT_LE(metric(r, "dram.read.bytes"), metric(r, "l2.read.misses") * 32 + fetched) << name;
    EXPECT_EQ(metric(r, "l1.read.hits") > 0, device_of(name).l1_caches_global) << name;
  }
}

TEST(CycleGpu, SecondLaunchFindsItsDataInL2UntilACopyOverwritesIt) {
  Simulator s(device_of("v100"), add_kernel);
  const std::uint64_t x = s.allocate(1 << 16), y = s.allocate(1 << 16);
  s.run("add", {64, 1, 1}, {256, 1, 1}, x, y);
  EXPECT_EQ(metric(s.run("add", {64, 1, 1}, {256, 1, 1}, x, y), "dram.read.bytes"), 0);
  s.gpu.invalidate(x, 1 << 16);
  EXPECT_EQ(metric(s.run("add", {64, 1, 1}, {256, 1, 1}, x, y), "dram.read.bytes"), 1 << 16);
}

TEST(CycleGpu, WithColdCachesEachLaunchReadsItsDataAnew) {
  Options options;
  options.cold_caches = true;
  Simulator s(device_of("v100"), add_kernel, options);
  const std::uint64_t x = s.allocate(1 << 16), y = s.allocate(1 << 16);
  s.run("add", {64, 1, 1}, {256, 1, 1}, x, y);
  EXPECT_EQ(metric(s.run("add", {64, 1, 1}, {256, 1, 1}, x, y), "dram.read.bytes"), 2 << 16);
}

TEST(CycleGpu, OccupancyIsLimitedByTheResourceThatRunsOut) {
  const auto r = run_add(device_of("v100"), 3000, 32);
  EXPECT_EQ(r.limiter, "blocks");
  EXPECT_EQ(metric(r, "occupancy.theoretical"), 0.5);
  EXPECT_GT(metric(r, "occupancy.achieved"), 0.25);
  EXPECT_LE(metric(r, "occupancy.achieved"), 0.5);
}

TEST(CycleGpu, ABlockThatDoesNotFitIsRefused) {
  Options options;
  options.registers_override = 255;
  device::Device d = device_of("gtx480");
  Simulator s(d, add_kernel, options);
  try {
    s.run("add", {1, 1, 1}, {1024, 1, 1}, std::uint64_t{0}, std::uint64_t{0});
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.id(), "launch-resources");
    EXPECT_EQ(e.code(), ExitCode::bad_input);
    EXPECT_THAT(e.what(), HasSubstr("add"));
  }
}

// It counts for hours.
const char* endless =
    ".visible .entry k() { .reg .b32 %r<2>; .reg .pred %p<2>; mov.u32 %r1, 0; LOOP: add.u32 %r1, %r1, 1; "
    "setp.ne.u32 %p1, %r1, 0; @%p1 bra LOOP; ret; }";

TEST(CycleGpu, TheCycleLimitEndsAKernelAndKeepsItsStatistics) {
  Options options;
  options.max_cycles = 10000;
  Simulator s(one_sm(), endless, options);
  const auto launch = s.prepare("k", {1, 1, 1}, {32, 1, 1});
  try {
    s.gpu.run(*launch);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.id(), "limit-cycles");
    EXPECT_EQ(e.code(), ExitCode::failure);
  }
  const result::KernelResult partial = s.gpu.partial().at(0).result;
  EXPECT_GE(cycles(partial), 10000u);
  EXPECT_GT(metric(partial, "stall.branch_resolving"), 0.05);
}

TEST(CycleGpu, AnInterruptEndsAKernel) {
  volatile bool stop = true;
  Options options;
  options.interrupt = &stop;
  Simulator s(one_sm(), endless, options);
  EXPECT_THROW(s.run("k", {1, 1, 1}, {32, 1, 1}), Error);
}

TEST(CycleGpu, ABarrierThatCannotCompleteIsADeadlockReportAndTheGpuIsUsableAfterwards) {
  Simulator s(
      one_sm(),
      R"(.visible .entry k() { .reg .b32 %r<2>; .reg .pred %p1; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32;
    @%p1 bar.sync 1, 96; bar.sync 0; ret; } .visible .entry ok() { bar.sync 0; ret; })");
  EXPECT_THROW(s.run("k", {1, 1, 1}, {64, 1, 1}), exec::Fault);
  EXPECT_EQ(metric(s.run("ok", {1, 1, 1}, {64, 1, 1}), "barrier.executed"), 2);
}

TEST(CycleGpu, ADeviceFileWithoutAValueIsRefusedByName) {
  device::Device d = device_of("v100");
  d.throughput[5] = 0;
  try {
    CycleGpu gpu(d, {});
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.id(), "device-value");
    EXPECT_THAT(e.what(), HasSubstr("fp32"));
  }
}

// ---- parts of an SM

double per_repeat(const device::Device& device, const std::string& before, const std::string& repeated,
                  unsigned threads, const std::string& shared = "") {
  double time[2];
  for (const int i : {0, 1}) {
    std::string body = before;
    for (int k = 0; k < (i + 1) * 50; ++k) body += repeated + "\n";
    std::string text =
        ".visible .entry k() { .reg .b64 %rd<16>; .reg .b32 %r<32>; .reg .f32 %f<32>; .reg .pred %p<8>;\n" +
        shared + body + "\nret; }\n";
    Simulator s(device, text);
    time[i] = static_cast<double>(cycles(s.run("k", {1, 1, 1}, {threads, 1, 1})));
  }
  return (time[1] - time[0]) / 50;
}

TEST(Sm, ABarrierTakesItsLatencyOnceAllHaveArrived) {
  const device::Device d = one_sm();
  // The SM counts arrivals one after another at the rate of the file, whatever scheduler they come from.
  const double arrival = 32 / d.throughput[static_cast<std::size_t>(ptx::OpClass::barrier)];
  for (const unsigned warps : {1u, 2u, 3u, 4u, 8u, 32u})
    EXPECT_EQ(per_repeat(d, "", "bar.sync 0;", warps * 32), d.sm.barrier_latency + warps * arrival) << warps;
}

// Boards count a wavefront for it, and its result comes as late as any.
TEST(Sm, AnAccessToSharedMemoryByNoLaneTakesItsTurn) {
  const device::Device d = one_sm();
  const std::string shared = ".shared .b32 cells[1024];\n",
                    before = "mov.u32 %r2, cells; setp.ne.u32 %p1, %r2, %r2;\n";
  EXPECT_NEAR(per_repeat(d, before, "@%p1 ld.shared.u32 %r1, [%r2];", 1024, shared), 32, 1);
  EXPECT_NEAR(per_repeat(d, before, "@%p1 st.shared.u32 [%r2], %r1;", 1024, shared), 32, 1);
  EXPECT_NEAR(per_repeat(d, before, "@%p1 ld.shared.u32 %r1, [%r1];", 32, shared), d.shared.latency, 2);
}

TEST(Sm, ABranchTakesItsLatency) {
  const device::Device d = one_sm();
  double time[2];
  for (const unsigned n : {1u, 2u}) {
    Simulator s(d, kernel("", "mov.u32 %r1, " + std::to_string(n * 100) +
                                  ";\nLOOP: sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra LOOP;"));
    time[n - 1] = static_cast<double>(cycles(s.run("k", {1, 1, 1}, {32, 1, 1})));
  }
  EXPECT_EQ((time[1] - time[0]) / 100, d.sm.branch_latency + 2 * d.latency[0]);
}

const char* shared_buffer = ".shared .align 16 .b8 buffer[16384];\n";
std::string shared_chase(unsigned stride) {
  return "mov.u32 %r1, %laneid; mul.lo.u32 %r1, %r1, " + std::to_string(stride) +
         ";mov.u32 %r2, buffer; add.u32 %r1, %r1, %r2;\n";
}

TEST(Sm, SharedLoadsTakeTheirLatencyAndOneCycleMoreForEachConflict) {
  const device::Device d = one_sm();
  const std::string load = "ld.shared.u32 %r3, [%r1]; add.u32 %r1, %r1, %r3;";
  const double free = per_repeat(d, shared_chase(4), load, 32, shared_buffer);
  EXPECT_EQ(free, d.shared.latency + d.latency[0]);
  EXPECT_EQ(per_repeat(d, shared_chase(8), load, 32, shared_buffer), free + 1);
  EXPECT_EQ(per_repeat(d, shared_chase(128), load, 32, shared_buffer), free + 31);
}

TEST(Sm, BankConflictsAreCounted) {
  Simulator s(one_sm(), ".visible .entry k() { .reg .b32 %r<8>;\n" + std::string(shared_buffer) +
                            shared_chase(16) + "ld.shared.u32 %r3, [%r1]; ret; }");
  const auto r = s.run("k", {1, 1, 1}, {32, 1, 1});
  EXPECT_EQ(metric(r, "shared.wavefronts"), 4);
  EXPECT_EQ(metric(r, "shared.bank_conflicts"), 3);
  EXPECT_EQ(metric(r, "shared.bytes"), 128);
}

TEST(Sm, WarpsThatWaitForDataAreOnTheLongScoreboard) {
  Simulator s(one_sm(),
              kernel(".param .u64 x",
                     "ld.param.u64 %rd1, [x]; ld.global.cg.u64 %rd2, [%rd1]; add.u64 %rd2, %rd2, 1;"));
  const auto r = s.run("k", {1, 1, 1}, {128, 1, 1}, s.allocate(4096));
  EXPECT_GT(metric(r, "stall.long_scoreboard"), 0.8);
}

TEST(Sm, MissesOfOneLineMergeIntoOneRequest) {
  Simulator s(one_sm(), kernel(".param .u64 x",
                               "ld.param.u64 %rd1, [x]; ld.global.u64 %rd2, [%rd1]; add.u64 %rd2, %rd2, 1;"));
  const auto r = s.run("k", {1, 1, 1}, {256, 1, 1}, s.allocate(4096));
  EXPECT_EQ(metric(r, "l1.read.accesses"), 8);
  EXPECT_EQ(metric(r, "l1.read.misses"), 1);
  EXPECT_EQ(metric(r, "l1.read.hits_pending"), 7);
  EXPECT_EQ(metric(r, "l2.read.accesses"), 1);
}

std::string red_kernel(unsigned stride) {
  std::string body = "ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, " +
                     std::to_string(stride) + "; add.u64 %rd1, %rd1, %rd2;\n";
  for (int i = 0; i < 64; ++i) body += "red.global.add.u32 [%rd1], 1;\n";
  return kernel(".param .u64 x", body);
}

TEST(Sm, AtomicsOnOneAddressAreSlowerThanOnMany) {
  std::uint64_t time[2];
  for (const unsigned i : {0u, 1u}) {
    Simulator s(device_of("v100"), red_kernel(i * 4));
    const std::uint64_t x = s.upload(std::vector<std::uint32_t>(1024, 0));
    const auto r = s.run("k", {8, 1, 1}, {256, 1, 1}, x);
    time[i] = cycles(r);
    EXPECT_EQ(metric(r, "atomic.operations"), 8 * 256 * 64);
    std::vector<std::uint32_t> out(1);
    s.memory.read(x, std::as_writable_bytes(std::span(out)));
    EXPECT_EQ(out[0], i == 0 ? 8u * 256 * 64 : 8u * 64);
  }
  EXPECT_GT(time[0], 2 * time[1]);
}

TEST(Sm, AnAtomicThatReturnsTakesTheLatencyOfTheFile) {
  device::Device d = one_sm();
  double time[2];
  for (const unsigned n : {1u, 2u}) {
    std::string body = "ld.param.u64 %rd1, [x]; atom.global.add.u64 %rd2, [%rd1], 0;\n";
    for (unsigned i = 0; i < n * 50; ++i) body += "atom.global.add.u64 %rd2, [%rd1], %rd2;\n";
    Simulator s(d, kernel(".param .u64 x", body));
    time[n - 1] = static_cast<double>(cycles(s.run("k", {1, 1, 1}, {1, 1, 1}, s.allocate(4096))));
  }
  const double expected = d.latency[static_cast<std::size_t>(ptx::OpClass::atomic)];
  EXPECT_NEAR((time[1] - time[0]) / 50, expected, expected * 0.01);
}

// Each warp copies 128 bytes to shared memory while it computes, then reads them.
TEST(Sm, AsynchronousCopiesAreWaitedForWhereTheProgramSaysSo) {
  const auto text = [](const char* wait) {
    return std::string(".visible .entry k(.param .u64 x) { .reg .b64 %rd<8>; .reg .b32 %r<8>;\n") +
           shared_buffer +
           "ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, "
           "%rd2;\n"
           "shl.b32 %r2, %r1, 2; mov.u32 %r3, buffer; add.u32 %r2, %r2, %r3;\n"
           "cp.async.ca.shared.global [%r2], [%rd1], 4; cp.async.commit_group;\n" +
           wait + " mov.u32 %r4, %clock; ld.shared.u32 %r5, [%r2]; st.global.u32 [%rd1], %r4; ret; }\n";
  };
  const device::Device d = one_sm("a100");
  std::uint32_t clock[2];
  for (const int i : {0, 1}) {
    Simulator s(d, text(i == 0 ? "cp.async.wait_group 1;" : "cp.async.wait_group 0;"));
    const std::uint64_t x = s.allocate(4096);
    s.run("k", {1, 1, 1}, {32, 1, 1}, x);
    std::vector<std::uint32_t> out(1);
    s.memory.read(x, std::as_writable_bytes(std::span(out)));
    clock[i] = out[0];
  }
  EXPECT_LT(clock[0], 100u);
  EXPECT_GT(clock[1], static_cast<std::uint32_t>(d.dram.latency));
}

TEST(Sm, AFenceWaitsUntilStoresHaveReachedL2) {
  const device::Device d = one_sm();
  Simulator s(d, kernel(".param .u64 x", "ld.param.u64 %rd1, [x]; st.global.u64 [%rd1], %rd1; membar.gl; ") +
                     ".visible .entry without(.param .u64 x) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [x]; "
                     "membar.gl; ret; }");
  const auto with = s.run("k", {1, 1, 1}, {32, 1, 1}, s.allocate(4096));
  const auto without = s.run("without", {1, 1, 1}, {32, 1, 1}, s.allocate(4096));
  EXPECT_GE(cycles(with), static_cast<std::uint64_t>(d.l2.latency));
  EXPECT_GE(cycles(with), cycles(without));
  EXPECT_GT(metric(with, "stall.membar"), 0.2 / 4);
}

TEST(Sm, AWarpIsNotOverBeforeItsStoresAre) {
  const device::Device d = one_sm();
  Simulator s(d, kernel(".param .u64 x", "ld.param.u64 %rd1, [x]; st.global.u64 [%rd1], %rd1;"));
  const auto r = s.run("k", {1, 1, 1}, {32, 1, 1}, s.allocate(4096));
  EXPECT_GE(cycles(r), static_cast<std::uint64_t>(d.l2.latency));
  EXPECT_GT(metric(r, "stall.drain"), 0.02) << "until its stores have left";
}

TEST(Sm, LocalMemoryStaysInL1) {
  Simulator s(one_sm(),
              R"(.visible .entry k() { .local .align 4 .b8 frame[64]; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    mov.u64 %rd1, frame; mov.u32 %r1, %tid.x; st.local.u32 [%rd1], %r1; st.local.u32 [%rd1+4], %r1;
    ld.local.u32 %r2, [%rd1]; ld.local.u32 %r3, [%rd1+4]; add.u32 %r2, %r2, %r3; ret; })");
  const auto r = s.run("k", {1, 1, 1}, {128, 1, 1});
  EXPECT_EQ(metric(r, "local.store.sectors"), 4 * 2 * 4);
  EXPECT_EQ(metric(r, "local.load.sectors"), 4 * 2 * 4);
  EXPECT_EQ(metric(r, "l1.read.misses"), 0);
  EXPECT_EQ(metric(r, "l2.write.accesses"), 0);
}

TEST(Sm, ConstantsMissOnceAndHitAfterwards) {
  Simulator s(one_sm(), ".const .align 4 .u32 table[16] = {1,2,3};\n" +
                            kernel("",
                                   "mov.u64 %rd1, table; ld.const.u32 %r1, [%rd1]; add.u32 %r2, %r1, %r1; "
                                   "ld.const.u32 %r3, [%rd1+4]; add.u32 %r2, %r2, %r3;"));
  const auto r = s.run("k", {1, 1, 1}, {32, 1, 1});
  EXPECT_EQ(metric(r, "constant.misses"), 1);
  EXPECT_GT(metric(r, "stall.imc_miss"), 0.1);
}

TEST(Sm, AnL1ThatSharesItsStorageShrinksWithTheSharedMemoryOfTheBlocks) {
  const device::Device d = one_sm();  // 128 KiB for both
  const auto hits = [&](const char* shared) {
    std::string body = "ld.param.u64 %rd1, [x]; mov.u32 %r1, 2;\nLOOP:\n";
    // 80 KiB
    for (int i = 0; i < 640; ++i) body += "ld.global.u32 %r2, [%rd1+" + std::to_string(i * 128) + "];\n";
    body += "add.u32 %r3, %r2, 1; sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra LOOP;";
    std::string text = kernel(".param .u64 x", body);
    text.insert(text.find('{') + 1, shared);
    Simulator s(d, text);
    return metric(s.run("k", {1, 1, 1}, {32, 1, 1}, s.allocate(1 << 17)), "l1.read.hits");
  };
  EXPECT_EQ(hits(""), 640);
  EXPECT_LT(hits(".shared .b8 buffer[49152]; .reg .b32 %a; mov.u32 %a, buffer;"), 400);
}

TEST(CycleGpu, TheBottleneckIsNamedWithItsEvidence) {
  std::string body =
      "mov.f32 %f1, 0f3F800000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1; mov.f32 %f5, %f1;\n";
  for (int i = 0; i < 2000; ++i) body += "fma.rn.f32 %f" + std::to_string(i % 5 + 1) + ", %f1, %f2, %f3;\n";
  Simulator compute(one_sm(), kernel("", body));
  EXPECT_THAT(compute.run("k", {4, 1, 1}, {512, 1, 1}).bottleneck, HasSubstr("arithmetic pipeline"));
  Simulator latency(one_sm(),
                    kernel(".param .u64 x",
                           "ld.param.u64 %rd1, [x]; ld.global.cg.u64 %rd2, [%rd1]; add.u64 %rd2, %rd2, 1;"));
  EXPECT_THAT(latency.run("k", {1, 1, 1}, {128, 1, 1}, latency.allocate(4096)).bottleneck,
              HasSubstr("long_scoreboard"));
  const auto tiny = run_add(device_of("h100"), 1, 32);
  EXPECT_THAT(tiny.bottleneck, HasSubstr("latency of memory"));  // its loads take most of its time,
  EXPECT_THAT(tiny.bottleneck, HasSubstr("little work to hide it: schedulers have no warp"));
  Simulator empty(device_of("h100"), kernel("", "mov.f32 %f1, 0f3F800000;"));
  EXPECT_THAT(empty.run("k", {1, 1, 1}, {32, 1, 1}).bottleneck, HasSubstr("Too little work"));
}

}  // namespace
}  // namespace simtlab::timing
