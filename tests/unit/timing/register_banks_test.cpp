// Register banks of machine code: what operands in one bank cost, by a hand-written SASS trace.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "simulator.h"
#include "stream/accelsim/import.h"
#include "stream/trace/replay.h"

namespace simtlab::timing {
namespace {

namespace fs = std::filesystem;

// One warp, 400 times one of eight instructions with the sources `a`, `b` and `c` and results of their own;
// nothing depends on anything.
std::string trace_of(unsigned a, unsigned b, unsigned c, const std::string& opcode) {
  std::string text =
      "-kernel name = k\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = "
      "64\n-binary version = 70\n-cuda stream id = 0\n"
      "-shmem base_addr = 0x00007f0000000000\n-local mem base_addr = 0x00007f1000000000\n-nvbit version = "
      "1.5\n-accelsim tracer version = 5\n"
      "-enable lineinfo = 0\n\n#traces format\n\n#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = "
      "401\n";
  for (unsigned i = 0; i < 400; ++i) {
    // Every second instruction reads other registers of the same banks, so that no operand is one of the
    // instruction before.
    const unsigned k = i % 2 == 0 ? 0 : 8;
    text += "00" + std::to_string(i % 8) + "0 ffffffff 1 R" + std::to_string(40 + i % 8) + " " + opcode +
            " 3 R" + std::to_string(a + k) + " R" + std::to_string(b + k) + " R" + std::to_string(c + k) +
            " 0 0\n";
  }
  return text + "0080 ffffffff 0 EXIT 0 0 0\n\n#END_TB\n";
}

result::KernelResult replay(const std::string& text, const device::Device& device,
                            const Options& options = {}) {
  const fs::path file = fs::temp_directory_path() / ("simtlab-banks-" + std::to_string(::getpid()) + ".simt");
  stream::accelsim::Imported imported;
  stream::trace::Writer writer(file, "test");
  stream::accelsim::import_kernel([&] { return stream::accelsim::memory_text(text); }, "k.traceg",
                                  machine::SassTable::of_version(70), writer, 0, imported, nullptr);
  writer.close();
  const auto reader = stream::trace::open(file);
  EXPECT_TRUE(imported.unknown.empty());
  const stream::trace::ReplayedLaunch launch(*reader, reader->next()->kernel);
  CycleGpu gpu(device, options);
  auto result = gpu.run(launch);
  fs::remove(file);
  return result;
}

TEST(RegisterBanks, OperandsInOneBankCostACycleEach) {
  const device::Device device = device_of("v100");
  ASSERT_EQ(device.sm.register_banks, 2u);
  const auto spread = replay(trace_of(0, 1, 2, "FFMA"), device),
             same = replay(trace_of(0, 2, 4, "FFMA"), device);
  EXPECT_EQ(metric(spread, "register.bank_conflicts"), 0.0);
  EXPECT_EQ(metric(same, "register.bank_conflicts"), 400.0) << "three reads of a bank that gives two";
  EXPECT_NEAR(metric(same, "gpu.cycles") - metric(spread, "gpu.cycles"), 400, 4);
  double sum = 0;
  for (const auto& value : same.metrics.values())
    if (value.name.starts_with("stall.")) sum += value.real;
  EXPECT_NEAR(sum, 1.0, 1e-9);
  EXPECT_GT(metric(same, "stall.dispatch"), metric(spread, "stall.dispatch"));

  device::Device none = device;
  none.sm.register_banks = 0;
  const auto off = replay(trace_of(0, 2, 4, "FFMA"), none);
  EXPECT_EQ(metric(off, "gpu.cycles"), metric(spread, "gpu.cycles"));
  EXPECT_FALSE(off.metrics.get("register.bank_conflicts").has_value());

  device::Device four = device;  // as Kepler to Pascal
  four.sm.register_banks = 4;
  four.sm.register_bank_reads = 1;
  EXPECT_EQ(metric(replay(trace_of(0, 4, 8, "FFMA"), four), "register.bank_conflicts"), 800.0)
      << "three reads of a bank that gives one";
  EXPECT_EQ(metric(replay(trace_of(0, 4, 5, "FFMA"), four), "register.bank_conflicts"), 400.0);
  EXPECT_EQ(metric(replay(trace_of(0, 5, 6, "FFMA"), four), "register.bank_conflicts"), 0.0);
}

TEST(WhatIf, NoRegisterConflictsReadsAllOperandsAtOnce) {
  const device::Device device = device_of("v100");
  Options o;
  o.what_if.no_register_conflicts = true;
  const std::string same = trace_of(0, 2, 4, "FFMA");
  const double with = metric(replay(same, device), "gpu.cycles"),
               without = metric(replay(same, device, o), "gpu.cycles");
  EXPECT_NEAR(with - without, 400, 4) << "a cycle an instruction";
  EXPECT_EQ(without, metric(replay(trace_of(0, 1, 2, "FFMA"), device), "gpu.cycles"));
}

TEST(RegisterBanks, PtxHasNone) {
  Simulator simulator(device_of("v100"),
                      ".visible .entry k() { .reg .f32 %f<8>;\nfma.rn.f32 %f0, %f2, %f4, %f6;\nret; }\n");
  EXPECT_FALSE(simulator.run("k", {1, 1, 1}, {32, 1, 1}).metrics.get("register.bank_conflicts").has_value());
}

}  // namespace
}  // namespace simtlab::timing
