#include "timing/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "timing/interconnect.h"
#include "timing/main_memory.h"
#include "timing/scheduler.h"

namespace simtlab::timing {
namespace {

void require(bool condition, const device::Device& device, const char* what) {
  if (!condition)
    throw Error(ExitCode::bad_input, "device-value", fmt::format("device '{}': {}", device.name, what),
                "correct the value in the device file or with --set");
}

bool cache_ok(const device::CacheParams& c, std::uint64_t bytes) {
  const auto size_ok = [](std::uint32_t n) { return n == 32 || n == 64 || n == 128; };
  return size_ok(c.line_bytes) && size_ok(c.sector_bytes) && c.sector_bytes <= c.line_bytes && c.ways > 0 &&
         bytes >= c.line_bytes && bytes / c.line_bytes < (std::uint64_t{1} << 28);
}

void check(const device::Device& d) {
  require(d.sm.count > 0 && d.sm.count <= 4096, d, "sm.count is not between 1 and 4096");
  require(d.sm.schedulers > 0 && d.sm.schedulers <= 64, d, "sm.schedulers is not between 1 and 64");
  require(d.sm.issue_width > 0 && d.sm.issue_width <= 4, d, "sm.issue_width is not between 1 and 4");
  require(std::has_single_bit(d.sm.issue_turns) && d.sm.issue_turns <= 8, d,
          "sm.issue_turns is not a power of two up to 8");
  require((d.sm.max_warps + d.sm.schedulers - 1) / d.sm.schedulers <= max_scheduler_warps, d,
          "a scheduler has more than 64 warps");
  require(d.sm_clock_hz > 0, d, "sm.clock is missing");
  require(d.l2_slices > 0 && d.l2_slices <= 4096, d, "l2.slices is not between 1 and 4096");
  require(cache_ok(d.l1, d.l1.bytes), d,
          "l1: bytes, line_bytes, sector_bytes or ways are missing or not supported");
  require(cache_ok(d.l2, d.l2.bytes / d.l2_slices), d,
          "l2: bytes, line_bytes, sector_bytes or ways are missing or not supported");
  require(cache_ok(d.constant, d.constant.bytes), d,
          "constant: bytes, line_bytes, sector_bytes or ways are missing or not supported");
  require(d.l1.bytes_per_cycle > 0 && d.l2.bytes_per_cycle > 0, d,
          "l1.bytes_per_cycle or l2.bytes_per_cycle is missing");
  require(d.l1.mshr_entries > 0 && d.l2.mshr_entries > 0, d, "mshr_entries of a cache is missing");
  require(d.l1.mshr_entries <= 65536 && d.l2.mshr_entries <= 65536, d, "mshr_entries is above 65536");
  require(std::has_single_bit(d.shared.banks) && d.shared.banks <= 64, d,
          "shared.banks is not a power of two up to 64");
  require(std::has_single_bit(d.shared.bank_bytes) && d.shared.bank_bytes <= 16, d,
          "shared.bank_bytes is not a power of two up to 16");
  require(d.interconnect.sm_bytes_per_cycle > 0 && d.interconnect.sm_write_bytes_per_cycle > 0, d,
          "interconnect bandwidth is missing");
  require(d.interconnect.flit_bytes <= 4096, d, "interconnect.flit_bytes is above 4096");
  require(d.l2_write_bytes_per_cycle == 0 || d.interconnect.flit_bytes > 0, d,
          "l2.write_bytes_per_cycle counts flits, and interconnect.flit_bytes is 0");
  require(d.interconnect.sms_per_write_port > 0 && d.interconnect.sms_per_write_port <= most_on_a_port, d,
          "interconnect.sms_per_write_port is not between 1 and 64");
  require(d.l1_tag_banks == 0 || (std::has_single_bit(d.l1_tag_banks) && d.l1_tag_banks <= 32), d,
          "l1.tag_banks is not 0 or a power of two up to 32");
  require(d.sm.memory_queue <= 256, d, "sm.memory_queue is above 256");
  require(d.sm.register_bank_reads > 0, d, "sm.register_bank_reads is missing");
  const device::Device::Instruction& i = d.instruction;
  require(!i.caches || (i.bytes > 0 && i.buffer > 0 && i.line_bytes >= i.bytes && i.l0_ways > 0 &&
                        i.l1_ways > 0 && i.l1_bytes_per_cycle >= 0 && i.l2_bytes_per_cycle >= 0),
          d, "a value of instruction is missing");
  require(!i.caches || (i.l0_bytes / i.line_bytes >= i.l0_ways && i.l1_bytes / i.line_bytes >= i.l1_ways), d,
          "an instruction cache is smaller than a set of it");
  require(!i.caches || (i.l0_caches > 0 && d.sm.schedulers % i.l0_caches == 0), d,
          "schedulers cannot be divided among the instruction caches");
  require(d.dram.partitions > 0 && d.dram.partitions <= 4096, d, "dram.partitions is not between 1 and 4096");
  require(d.dram.bandwidth > 0 && d.dram.row_bytes >= 128, d, "dram.bandwidth or dram.row_bytes is missing");
}

// Twice the room of an SM; a scheduler can have 64 warps.
void double_room(device::Device& d) {
  const std::uint32_t most = max_scheduler_warps * d.sm.schedulers;
  d.sm.max_warps = std::min(2 * d.sm.max_warps, std::max(most, d.sm.max_warps));
  d.sm.max_threads = d.sm.max_warps * 32;
  d.sm.max_blocks *= 2;
  d.sm.registers *= 2;
  d.sm.shared_bytes *= 2;
}

device::Device lift_limits(device::Device d, const device::WhatIf& what_if) {
  if (what_if.double_occupancy) double_room(d);
  if (what_if.double_math)
    for (std::size_t c = 0; c < d.throughput.size(); ++c)
      if (device::op_class_traits[c].is_arithmetic) d.throughput[c] *= 2;
  if (what_if.perfect_fetch) { d.instruction.caches = false; }
  if (what_if.no_register_conflicts) d.sm.register_banks = 0;
  if (what_if.wide_writes) {
    d.interconnect.write_header_flits = 0;
    d.interconnect.sms_per_write_port = 1;
    d.l2_write_bytes_per_cycle = 0;
    d.dram.masked_writes = true;
  }
  if (what_if.zero_launch_cost) {
    d.host.launch_overhead_ns = 0;
    d.launch = {};
  }
  return d;
}

}  // namespace

Machine::Machine(const device::Device& d, const device::WhatIf& what_if)
    : device(lift_limits((check(d), d), what_if)),
      latencies(device),
      dram(make_main_memory(device, latencies, what_if.infinite_dram_bandwidth)) {}

}  // namespace simtlab::timing
