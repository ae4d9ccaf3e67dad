// Instruction caches: where code lies, what a cache keeps, and what kernels whose loops do or do not fit them
// pay.
#include "timing/front_end.h"

#include <gtest/gtest.h>

#include "simulator.h"

namespace simtlab::timing {
namespace {

device::Device with_caches(const std::string& name) {
  device::Device device = device_of(name);
  device.instruction.caches = true;
  return device;
}

TEST(CodeLayout, ControlWordsLieBeforeTheInstructionsTheyBelongTo) {
  device::Device::Instruction p;
  p.bytes = 8;
  p.group = 3;
  const CodeLayout maxwell(p);
  EXPECT_EQ(maxwell.address(0), 8u);
  EXPECT_EQ(maxwell.address(2), 24u);
  EXPECT_EQ(maxwell.address(3), 40u) << "behind the second control word";
  EXPECT_EQ(maxwell.address(300), 3208u);
  p.group = 0;
  p.bytes = 16;
  const CodeLayout volta(p);
  EXPECT_EQ(volta.address(0), 0u);
  EXPECT_EQ(volta.address(9), 144u);
  EXPECT_EQ(volta.line(127), 0u);
  EXPECT_EQ(volta.line(128), 1u);
}

TEST(InstructionCache, KeepsWhatWasUsedLastAndKnowsWhatIsUnderWay) {
  InstructionCache cache;
  cache.set_size(4, 2);  // sets of even and odd lines
  EXPECT_FALSE(cache.look(2, 0).hit);
  cache.put(2, 50, 0, true);
  cache.put(4, 70, 0, false);
  EXPECT_EQ(cache.look(2, 10).at, 50u) << "under way";
  EXPECT_FALSE(cache.look(2, 10).first);
  EXPECT_EQ(cache.look(2, 60).at, 60u);
  EXPECT_TRUE(cache.look(4, 60).first) << "prefetched, and nobody has asked for it yet";
  EXPECT_FALSE(cache.look(4, 60).first);
  cache.look(2, 80);
  cache.put(6, 90, 80, true);
  EXPECT_TRUE(cache.holds(2));
  EXPECT_FALSE(cache.holds(4)) << "used before 2 was";
  EXPECT_EQ(cache.look(6, 85).at, 90u);
  cache.restart();
  EXPECT_EQ(cache.look(6, 5).at, 5u) << "has come before time began anew";
  EXPECT_TRUE(cache.holds(2));
  cache.set_size(4, 2);
  EXPECT_FALSE(cache.holds(2));
}

TEST(InstructionCache, IsSavedWithTheOrderOfItsUses) {
  InstructionCache cache, other;
  cache.set_size(4, 2);
  cache.put(2, 0, 0, true);
  cache.put(4, 0, 0, false);
  cache.look(2, 0);
  stream::trace::Buffer saved;
  cache.save(saved);
  other.set_size(4, 2);
  stream::trace::Bytes in(saved);
  other.restore(in);
  EXPECT_TRUE(other.look(4, 0).first);
  cache.look(4, 0);
  for (InstructionCache* c : {&cache, &other}) {
    c->put(6, 0, 0, true);
    EXPECT_FALSE(c->holds(2));
    EXPECT_TRUE(c->holds(4));
  }
  InstructionCache larger;
  larger.set_size(8, 2);
  in = stream::trace::Bytes(saved);
  EXPECT_THROW(larger.restore(in), stream::trace::Malformed);
  for (std::size_t length = 0; length < saved.size(); ++length) {
    in = stream::trace::Bytes(std::span(saved).first(length));
    EXPECT_THROW(other.restore(in), stream::trace::Malformed) << length;
  }
}

TEST(FrontEnd, FetchesEachLineOnceAndTheNextOnesAhead) {
  device::Device device = with_caches("v100");
  device.instruction.l0_prefetch = 1;
  device.instruction.l1_bytes_per_cycle = 32;
  FrontEnd front_end(device);
  front_end.begin();
  FetchCounters c;
  const auto l2 = static_cast<Cycle>(device.l2.latency);
  EXPECT_EQ(front_end.fetch(0, 1000, 0, c), l2) << "cold: from L2";
  EXPECT_EQ(c.l0_misses, 1u);
  EXPECT_EQ(c.prefetches, 1u) << "line 1001";
  EXPECT_EQ(c.l1_misses, 2u) << "L1 brings nothing along by itself";
  const Cycle later = 4 * l2;
  EXPECT_EQ(front_end.fetch(0, 1000, later, c), later);
  EXPECT_EQ(front_end.fetch(0, 1001, later, c), later);
  EXPECT_EQ(c.l0_misses, 1u);
  EXPECT_EQ(c.prefetches, 2u) << "its first use brings the next";
  EXPECT_EQ(front_end.fetch(3, 1000, later, c),
            later + 1 * 4 + static_cast<Cycle>(device.instruction.l1_latency))
      << "another L0, behind a prefetch at L1's port";
  EXPECT_EQ(c.l0_accesses, 4u);
  front_end.restart();
  EXPECT_EQ(front_end.fetch(0, 1000, 5, c), 5u) << "kept for the next launch";
}

TEST(FrontEnd, WaysThatHaveNoWidthHoldNobodyUp) {
  device::Device device = with_caches("v100");
  device.instruction.l0_prefetch = 7;
  device.instruction.l1_bytes_per_cycle = device.instruction.l2_bytes_per_cycle = 0;
  FrontEnd front_end(device);
  front_end.begin();
  FetchCounters c;
  const auto l2 = static_cast<Cycle>(device.l2.latency);
  for (std::uint32_t line = 100; line < 108; ++line)
    EXPECT_EQ(front_end.fetch(0, line, 0, c), l2) << "all eight lines at once";
  EXPECT_EQ(front_end.fetch(1, 107, l2, c), l2 + static_cast<Cycle>(device.instruction.l1_latency));
}

TEST(FrontEnd, ConstantsOfOperandsComeFromL1OfTheInstructions) {
  device::Device device = with_caches("v100");
  device.instruction.constant_bytes = 2 * FrontEnd::constant_line_bytes;
  FrontEnd front_end(device);
  front_end.begin();
  FetchCounters c;
  const auto l1 = static_cast<Cycle>(device.instruction.l1_latency),
             l2 = static_cast<Cycle>(device.l2.latency);
  const std::uint32_t parameter = 7 | FrontEnd::parameters, number = 9;
  EXPECT_EQ(front_end.operand(0, parameter, 100, c), 100 + l1) << "the launch has put it there";
  EXPECT_EQ(front_end.operand(0, parameter, 110, c), 100 + l1) << "on its way";
  EXPECT_EQ(front_end.operand(0, parameter, 500, c), 500u);
  EXPECT_EQ(front_end.operand(1, parameter, 500, c), 500 + l1) << "another scheduler's";
  EXPECT_EQ(c.operand_misses, 2u);
  EXPECT_EQ(front_end.operand(0, number, 1000, c), 1000 + l2) << "of a bank of the module, the first time";
  EXPECT_EQ(front_end.operand(1, number, 2000, c), 2000 + l1);
  front_end.operand(0, number + 1, 3000, c);
  EXPECT_EQ(front_end.operand(0, number, 4000, c), 4000u);
  EXPECT_EQ(front_end.operand(0, parameter, 4000, c), 4000 + l1) << "two lines have room: the oldest left";
  front_end.restart();
  front_end.begin();
  EXPECT_EQ(front_end.operand(0, number, 0, c), l1) << "a launch empties the scheduler's, not L1";
  device.instruction.constant_bytes = 0;
  FrontEnd without(device);
  without.begin();
  EXPECT_EQ(without.operand(0, parameter, 3, c), 3u);
}

std::string loop_of(unsigned instructions) {
  std::string text =
      ".visible .entry k(.param .u32 n) { .reg .f32 %f<33>; .reg .b32 %r<2>; .reg .pred %p1;\nld.param.u32 "
      "%r1, [n];\n";
  for (unsigned i = 0; i < 32; ++i) text += "mov.f32 %f" + std::to_string(i) + ", 0f3F800000;\n";
  text += "LOOP:\n";
  for (unsigned k = 0; k < instructions; ++k) {
    const std::string r = "%f" + std::to_string(k % 32);
    text += "fma.rn.f32 " + r + ", " + r + ", " + r + ", " + r + ";\n";
  }
  return text + "sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra LOOP;\nret; }\n";
}

result::KernelResult run_loop(const device::Device& device, unsigned instructions, std::uint32_t rounds,
                              std::uint32_t threads) {
  Simulator simulator(device, loop_of(instructions));
  return simulator.run("k", {1, 1, 1}, {threads, 1, 1}, rounds);
}

double cycles_an_instruction(const result::KernelResult& more, const result::KernelResult& less,
                             double instructions) {
  return (metric(more, "gpu.cycles") - metric(less, "gpu.cycles")) / instructions;
}

double slots_of(const result::KernelResult& result) {
  double sum = 0;
  for (const auto& value : result.metrics.values())
    if (value.name.starts_with("stall.")) sum += value.real;
  return sum;
}

class FrontEndLaw : public testing::TestWithParam<std::string> {};

// A warp alone, by round of a loop: one that L0 holds runs at the pace of the pipeline, one that only L1
// holds slower, one that neither holds slower still.
TEST_P(FrontEndLaw, ALoopLargerThanACacheIsSlower) {
  device::Device device = with_caches(GetParam());
  device.sm.count = 1;
  const std::uint32_t group = device.instruction.group;
  const auto in = [&](std::uint64_t bytes) {  // so many instructions fill so many bytes
    return static_cast<unsigned>(group == 0 ? bytes / device.instruction.bytes
                                            : bytes / device.instruction.bytes * group / (group + 1));
  };
  double pace[3];
  const unsigned sizes[3] = {in(device.instruction.l0_bytes / 2), in(2 * device.instruction.l0_bytes),
                             in(2 * device.instruction.l1_bytes)};
  for (unsigned i = 0; i < 3; ++i)
    pace[i] = cycles_an_instruction(run_loop(device, sizes[i], 4, 32), run_loop(device, sizes[i], 2, 32),
                                    2.0 * sizes[i]);
  device.instruction.caches = false;
  const double ideal = cycles_an_instruction(run_loop(device, sizes[0], 4, 32),
                                             run_loop(device, sizes[0], 2, 32), 2.0 * sizes[0]);
  RecordProperty("l0", std::to_string(pace[0]));
  RecordProperty("l1", std::to_string(pace[1]));
  RecordProperty("l2", std::to_string(pace[2]));
  EXPECT_NEAR(pace[0], ideal, 0.01 * ideal);
  // Straight code that is brought far enough ahead comes as fast from L1.
  EXPECT_GT(pace[1], (device.instruction.l0_prefetch >= 8 ? 1.001 : 1.05) * ideal);
  EXPECT_GT(pace[2], 1.05 * pace[1]);
}

INSTANTIATE_TEST_SUITE_P(EveryDevice, FrontEndLaw, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return test_name(info.param); });

TEST(FrontEnd, ASmallLoopPaysForItsColdStartOnly) {
  device::Device device = with_caches("v100");
  device.sm.count = 1;
  const auto few = run_loop(device, 256, 4, 256), many = run_loop(device, 256, 40, 256);
  EXPECT_EQ(metric(few, "instruction.l0.misses"), metric(many, "instruction.l0.misses"));
  EXPECT_EQ(metric(few, "instruction.l1.misses"), metric(many, "instruction.l1.misses"));
  EXPECT_GT(metric(many, "instruction.l0.accesses"), 9 * metric(few, "instruction.l0.accesses"));
  EXPECT_GT(metric(few, "stall.no_instruction"), 0.0);
  EXPECT_LT(metric(many, "stall.no_instruction"), metric(few, "stall.no_instruction") / 5);
  device.instruction.caches = false;
  const auto ideal = run_loop(device, 256, 40, 256);
  EXPECT_LT(metric(ideal, "gpu.cycles"), metric(many, "gpu.cycles"));
  EXPECT_GT(metric(ideal, "gpu.cycles"), 0.9 * metric(many, "gpu.cycles"));
  EXPECT_FALSE(ideal.metrics.get("stall.no_instruction").has_value());
  EXPECT_FALSE(ideal.metrics.get("instruction.l0.misses").has_value());
  EXPECT_NEAR(slots_of(ideal), 1.0, 1e-9);
}

TEST(FrontEnd, OnlyTheFirstLaunchFindsCachesCold) {
  for (const char* name : {"gtx480", "v100"}) {
    device::Device device = with_caches(name);
    device.sm.count = 2;
    Simulator simulator(
        device,
        loop_of(256) +
            ".visible .entry other() { .reg .b32 %r<3>;\nmov.u32 %r1, 1;\nadd.u32 %r2, %r1, %r1;\nret; }\n");
    const auto run = [](Simulator& s) { return s.run("k", {8, 1, 1}, {128, 1, 1}, 2u); };
    const auto cold = run(simulator);
    EXPECT_GT(metric(cold, "instruction.l1.misses"), 0.0);
    simulator.run("other", {8, 1, 1}, {32, 1, 1});
    const auto warm = run(simulator);
    EXPECT_EQ(metric(warm, "instruction.l1.misses"), 0.0);
    EXPECT_LT(cycles(warm) + static_cast<Cycle>(device.l2.latency) / 2, cycles(cold));

    // The same behind a checkpoint.
    stream::trace::Buffer saved;
    simulator.gpu.save(saved);
    const auto next = run(simulator);
    Simulator resumed(device, loop_of(256));
    stream::trace::Bytes in(saved);
    resumed.gpu.restore(in);
    const auto again = run(resumed);
    EXPECT_EQ(cycles(again), cycles(next));
    EXPECT_EQ(metric(again, "instruction.l0.misses"), metric(next, "instruction.l0.misses"));
    EXPECT_EQ(metric(again, "stall.no_instruction"), metric(next, "stall.no_instruction"));

    // What was kept is replaced by a program that is larger than the caches.
    const auto lines = static_cast<unsigned>(2 * device.instruction.l1_bytes / device.instruction.bytes);
    Simulator large(
        device, loop_of(256) + "\n" + [&] {
          std::string text = loop_of(lines);
          return text.replace(text.find(" k("), 3, " large(");
        }());
    run(large);
    large.run("large", {8, 1, 1}, {32, 1, 1}, 1u);
    EXPECT_GT(metric(run(large), "instruction.l1.misses"), 0.0);
  }
}

TEST(FrontEnd, FunctionsOfOneNameInDifferentModulesAreDifferentCode) {
  device::Device device = with_caches("v100");
  device.sm.count = 1;
  Simulator a(device, loop_of(64)), b(device, loop_of(65));
  a.run("k", {1, 1, 1}, {32, 1, 1}, 1u);
  const auto launch = b.prepare("k", {1, 1, 1}, {32, 1, 1}, 1u);
  EXPECT_GT(metric(a.gpu.run(*launch), "instruction.l1.misses"), 0.0);
}

TEST(FrontEnd, TheWaitForTheFirstInstructionIsNotOneForWarps) {
  device::Device device = with_caches("v100");
  device.sm.count = 1;
  const auto result = run_loop(device, 8, 1, 128);  // a warp for each scheduler
  EXPECT_GE(metric(result, "stall.no_instruction") * metric(result, "gpu.cycles"), device.l2.latency);
  EXPECT_NEAR(slots_of(result), 1.0, 1e-9);
}

TEST(FrontEnd, SlotsAddUpAndTheReasonIsNamedWhereInstructionsAreTheLimit) {
  device::Device device = with_caches("v100");
  device.sm.count = 1;
  const auto result = run_loop(device, 16384, 3, 32);  // 256 KiB
  EXPECT_NEAR(slots_of(result), 1.0, 1e-9);
  EXPECT_GT(metric(result, "stall.no_instruction"), 0.1);
  EXPECT_GE(metric(result, "instruction.l1.accesses"), metric(result, "instruction.l0.misses"));
  EXPECT_EQ(metric(result, "instruction.l1.accesses"),
            metric(result, "instruction.l0.misses") + metric(result, "instruction.l0.prefetches"));
  EXPECT_GT(metric(result, "instruction.l1.misses"), 0.0);
}

TEST(FrontEnd, IsTheSameForAnyNumberOfThreads) {
  for (const char* name : {"gtx480", "v100"}) {
    device::Device device = with_caches(name);
    device.sm.count = 4;
    std::uint64_t time[2];
    double misses[2];
    for (const unsigned threads : {1u, 2u}) {
      Options options;
      options.threads = threads;
      Simulator simulator(device, loop_of(3000), options);
      const auto result = simulator.run("k", {24, 1, 1}, {128, 1, 1}, 2u);
      time[threads - 1] = cycles(result);
      misses[threads - 1] = metric(result, "instruction.l1.misses");
    }
    EXPECT_EQ(time[0], time[1]);
    EXPECT_EQ(misses[0], misses[1]);
  }
}

TEST(FrontEnd, ParametersThatContradictEachOtherAreRefused) {
  EXPECT_THROW(device::load_device("v100", {{"instruction.l0_bytes", "1000 B", {}}}), std::exception);
  EXPECT_THROW(device::load_device("v100", {{"instruction.l0_caches", "3", {}}}), std::exception);
  EXPECT_FALSE(device::load_device("v100", {{"instruction.caches", "false", {}}}).device.instruction.caches);
}

}  // namespace
}  // namespace simtlab::timing
