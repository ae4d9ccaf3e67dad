#include "memory/traffic/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixed_memory.h"
#include "memory/traffic/generators.h"
#include "memory/traffic/sweep.h"
#include "texts.h"

namespace simtlab::memory::traffic {
namespace {

using ::testing::HasSubstr;

Measured drive(FixedMemory& memory, Source& source, const DriverOptions& options = {}) {
  const Router router(nullptr, memory, options.line);
  return Driver(memory, router, options).run(source);
}

Measured drive(FixedMemory& memory, std::string_view text, const DriverOptions& options = {}) {
  return drive(memory, *reader(text), options);
}

std::string error_of(auto&& f) {
  try {
    f();
  } catch (const Error& e) { return e.id(); }
  return "";
}

TEST(Driver, one_request_a_clock_in_order_until_the_memory_is_full) {
  FixedMemory memory;
  const Measured m = drive(memory, "0x0 R\n0x40 R\n0x80 W\n0xc0 R\n0x100 R\n0x140 R\n");
  EXPECT_EQ(m.outcome, Outcome::finished);
  EXPECT_EQ(m.reads, 5u);
  EXPECT_EQ(m.writes, 1u);
  EXPECT_EQ(m.under_way, 0u);
  ASSERT_EQ(memory.added.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(memory.added[i].access.address, i * 64);
  EXPECT_EQ(memory.added[3].at, 3u);
  // The first answer, at clock 10, makes room for the clock after it.
  EXPECT_EQ(memory.added[4].at, 11u);
  EXPECT_EQ(memory.added[5].at, 12u);
  EXPECT_EQ(m.cycles, 22u);
  EXPECT_EQ(m.read_latency.mean(), 10);
  EXPECT_EQ(m.write_latency.count(), 1u);
}

TEST(Driver, a_timed_trace_keeps_its_cycles_and_skips_what_lies_between) {
  FixedMemory memory;
  const Measured m = drive(memory, "0x0 READ 0\n0x40 WRITE 1000000\n0x80 READ 1000000\n");
  EXPECT_EQ(memory.added[1].at, 1000000u);
  EXPECT_EQ(memory.added[2].at, 1000001u);
  EXPECT_EQ(m.late, 1u);
  EXPECT_LT(memory.advances, 20u);
}

TEST(Driver, a_line_of_several_accesses_is_done_with_the_last) {
  FixedMemory memory;
  memory.bytes = 16;
  memory.room = 3;
  const Measured m = drive(memory, "0x0 R\n0x47 W\n");
  EXPECT_EQ(m.reads, 1u);
  EXPECT_EQ(m.writes, 1u);
  EXPECT_EQ(m.read_accesses, 4u);
  EXPECT_EQ(m.write_accesses, 4u);
  EXPECT_EQ(memory.added[4].access.address, 0x40u);
  EXPECT_EQ(memory.added[7].access.address, 0x70u);
  // Three at clock 0, the fourth at 11: answered at 21.
  EXPECT_EQ(m.read_latency.most(), 21u);
}

TEST(Driver, lines_go_round_channels_without_a_mapping) {
  FixedMemory memory;
  memory.channels = 3;
  drive(memory, "0x0 R\n0x40 R\n0x80 R\n0xc8 R\n");
  EXPECT_EQ(memory.added[2].channel, 2u);
  EXPECT_EQ(memory.added[3].channel, 0u);
  EXPECT_EQ(memory.added[3].access.address, 64u);
}

TEST(Driver, pointer_chase_has_one_request_under_way) {
  FixedMemory memory;
  GeneratorOptions options;
  options.requests = 5;
  const auto source = generate("pointer-chase", options);
  const Measured m = drive(memory, *source);
  EXPECT_EQ(m.reads, 5u);
  EXPECT_EQ(memory.added[4].at, 44u);
}

TEST(Driver, an_address_beyond_the_memory_is_an_error_unless_it_wraps) {
  FixedMemory memory;
  memory.capacity = 4096;
  const std::string text = "0x0 R\n0x1040 R\n";
  try {
    drive(memory, text);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.id(), "dram-address");
    EXPECT_EQ(e.diagnostics().front().pos.line, 2u);
    EXPECT_THAT(e.format(), HasSubstr("--wrap"));
  }
  DriverOptions options;
  options.wrap = true;
  memory.restart();
  drive(memory, text, options);
  EXPECT_EQ(memory.added[1].access.address, 0x40u);
}

TEST(Driver, notices_a_memory_that_never_answers_or_answers_twice) {
  FixedMemory silent;
  silent.silent = true;
  EXPECT_EQ(error_of([&] { drive(silent, "0x0 R\n"); }), "dram-stalled");
  FixedMemory full;
  full.room = 0;
  EXPECT_EQ(error_of([&] { drive(full, "0x0 R\n"); }), "dram-stalled");
  FixedMemory doubles;
  doubles.doubles = true;
  EXPECT_EQ(error_of([&] { drive(doubles, "0x0 R\n"); }), "dram-conservation");
}

TEST(Driver, stops_at_its_limits) {
  FixedMemory memory;
  DriverOptions options;
  options.max_cycles = 15;
  Measured m = drive(memory, "0x0 READ 0\n0x0 READ 12\n0x0 READ 5000\n", options);
  EXPECT_EQ(m.outcome, Outcome::cycle_limit);
  EXPECT_EQ(m.cycles, 15u);
  EXPECT_EQ(m.reads, 2u);
  EXPECT_EQ(m.under_way, 1u);
  options = {};
  options.max_requests = 2;
  memory.restart();
  m = drive(memory, "0x0 R\n0x0 R\n0x0 R\n", options);
  EXPECT_EQ(m.reads, 2u);
  EXPECT_EQ(m.outcome, Outcome::finished);
  const volatile bool stop = true;
  options = {};
  options.stop = &stop;
  memory.restart();
  EXPECT_EQ(drive(memory, "0x0 READ 1000000\n", options).outcome, Outcome::stopped);
}

TEST(Driver, refuses_a_line_that_is_no_power_of_two) {
  FixedMemory memory;
  DriverOptions options;
  options.line = 48;
  EXPECT_EQ(error_of([&] { drive(memory, "0x0 R\n", options); }), "dram-line");
}

// The core's clock is the memory's here: 1 GHz.
DriverOptions core_options() {
  DriverOptions options;
  options.core.clock_hz = 1e9;
  return options;
}

TEST(Core, takes_four_instructions_a_clock_and_one_access) {
  FixedMemory memory;
  // 8 instructions take clocks 0 and 1; the load of the first line enters at clock 2, its write-back at 3.
  const Measured m = drive(memory, "8 0 64\n0 128\n", core_options());
  EXPECT_EQ(memory.added[0].at, 2u);
  EXPECT_EQ(memory.added[1].at, 3u);
  EXPECT_TRUE(memory.added[1].access.write);
  EXPECT_EQ(memory.added[2].at, 4u);
  EXPECT_EQ(m.core_instructions, 10u);
}

TEST(Core, a_full_window_waits_for_the_oldest_load) {
  FixedMemory memory;
  memory.latency = 1000;
  // Load, then 127 instructions fill the window: the second load has no place before the first is answered.
  const Measured m = drive(memory, "0 0\n127 64\n", core_options());
  EXPECT_EQ(memory.added[0].at, 0u);
  EXPECT_EQ(memory.added[1].at, 1001u);
  EXPECT_EQ(m.core_instructions, 129u);
}

TEST(Core, long_runs_of_instructions_are_passed_at_once) {
  FixedMemory memory;
  const Measured m = drive(memory, "4000000000 0\n", core_options());
  EXPECT_EQ(memory.added[0].at, 1000000000u);
  EXPECT_EQ(m.core_instructions, 4000000001u);
  EXPECT_LT(memory.advances, 1000u);
}

TEST(Core, has_a_clock_of_its_own) {
  FixedMemory memory;
  DriverOptions options;
  options.core.clock_hz = 4e9;
  drive(memory, "80 0\n", options);
  EXPECT_EQ(memory.added[0].at, 5u);
}

TEST(Sweep, offers_each_load_and_measures_what_comes_of_it) {
  FixedMemory memory;
  memory.room = 5;  // at a latency of 10: one request every 2.2 clocks
  const Router router(nullptr, memory, 64);
  GeneratorOptions options;
  options.requests = 1000;
  const auto points =
      sweep_load(memory, router, {}, [&] { return generate("random", options); }, 64e9, {0.1, 0.25, 1.0});
  ASSERT_EQ(points.size(), 3u);
  const auto clocks_a_request = [&](std::size_t i) {
    return static_cast<double>(points[i].measured.cycles) / 1000;
  };
  EXPECT_EQ(points[1].offered, 16e9);
  EXPECT_NEAR(clocks_a_request(0), 10, 0.1);
  EXPECT_NEAR(clocks_a_request(1), 4, 0.1);
  EXPECT_NEAR(clocks_a_request(2), 11.0 / 5, 0.1);
  EXPECT_EQ(points[0].measured.late, 0u);
  EXPECT_GT(points[2].measured.late, 100000u);
  EXPECT_EQ(points[2].measured.read_latency.percentile(0.5), 10u);
  EXPECT_EQ(error_of([&] {
              sweep_load(memory, router, {}, [&] { return generate("pointer-chase", options); }, 64e9, {0.1});
            }),
            "sweep-load");
}

}  // namespace
}  // namespace simtlab::memory::traffic
