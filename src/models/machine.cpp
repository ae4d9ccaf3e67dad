// The machine of the models from a device file.
#include <fmt/format.h>

#include <algorithm>

#include "models/derive.h"

namespace simtlab::models {
namespace {

using C = Counts;
using device::Device;
using device::OpClass;

struct Given {
  double C::*member;
  double (*value)(const Device&);
  std::string_view key;  // of the device file
};

double of_class(const Mix::Column& values, OpClass c) { return values[device::index(c)]; }

// 32 banks of which a warp may use fewer a cycle: the lower of what the banks and the pipeline pass.
double shared_bandwidth(const Device& d) {
  return static_cast<double>(d.shared.bank_bytes) *
         std::min(static_cast<double>(d.shared.banks), of_class(d.throughput, OpClass::shared));
}

constexpr Given rows[] = {
    {&C::freq, [](const Device& d) { return d.sm_clock_hz * 1e-9; }, "sm.clock"},
    {&C::mem_bandwidth, [](const Device& d) { return d.dram.bandwidth * 1e-9; }, "dram.bandwidth"},
    {&C::mem_peak_bandwidth, [](const Device& d) { return d.dram.bandwidth * 1e-9; }, "dram.bandwidth"},
    {&C::dram_bandwidth_measured, [](const Device& d) { return d.dram.bandwidth_measured * 1e-9; },
     "dram.bandwidth_measured"},
    {&C::mem_ld, [](const Device& d) { return d.dram.latency; }, "dram.latency"},
    {&C::dram_lat, [](const Device& d) { return d.dram.latency; }, "dram.latency"},
    {&C::simd_width, [](const Device& d) { return of_class(d.throughput, OpClass::fp32); },
     "throughput.fp32"},
    {&C::sfu_width, [](const Device& d) { return of_class(d.throughput, OpClass::sfu); }, "throughput.sfu"},
    {&C::fp_lat, [](const Device& d) { return of_class(d.latency, OpClass::fp32); }, "latency.fp32"},
    {&C::l1_lat, [](const Device& d) { return d.l1.latency; }, "l1.latency"},
    {&C::l2_lat, [](const Device& d) { return d.l2.latency; }, "l2.latency"},
    {&C::shared_lat, [](const Device& d) { return d.shared.latency; }, "shared.latency"},
    {&C::l1_bytes_per_cycle, [](const Device& d) { return d.l1.bytes_per_cycle; }, "l1.bytes_per_cycle"},
    {&C::l2_bytes_per_cycle, [](const Device& d) { return d.l2.bytes_per_cycle; }, "l2.bytes_per_cycle"},
    {&C::shared_bytes_per_cycle, shared_bandwidth,
     "shared.bank_bytes * min(shared.banks, throughput.shared)"},
    {&C::sm_read_bytes_per_cycle, [](const Device& d) { return d.interconnect.sm_bytes_per_cycle; },
     "interconnect.sm_bytes_per_cycle"},
    {&C::sm_write_bytes_per_cycle, [](const Device& d) { return d.interconnect.sm_write_bytes_per_cycle; },
     "interconnect.sm_write_bytes_per_cycle"},
    {&C::line_bytes, [](const Device& d) { return static_cast<double>(d.l1.line_bytes); }, "l1.line_bytes"},
    {&C::sm_count, [](const Device& d) { return static_cast<double>(d.sm.count); }, "sm.count"},
    {&C::schedulers, [](const Device& d) { return d.sm.issuing_schedulers(); },
     "sm.schedulers / sm.issue_turns"},
    {&C::issue_per_cycle,
     [](const Device& d) { return d.sm.issuing_schedulers() * static_cast<double>(d.sm.issue_width); },
     "sm.schedulers / sm.issue_turns * sm.issue_width"},
    {&C::barrier_lat,
     [](const Device& d) {
       const double rate = of_class(d.throughput, OpClass::barrier);
       return d.sm.barrier_latency + (rate > 0 ? 32 / rate : 0);
     },
     "sm.barrier_latency, and an arrival: 32 / throughput.barrier"},
    {&C::block_launch, [](const Device& d) { return d.launch.block_interval * d.sm.count; },
     "launch.block_interval * sm.count"},
    {&C::block_latency, [](const Device& d) { return d.launch.block_latency; }, "launch.block_latency"},
    {&C::launch_floor, [](const Device& d) { return d.launch.floor; }, "launch.floor"},
    {&C::tags_per_cycle, [](const Device& d) { return std::max(1.0, static_cast<double>(d.l1_tag_banks)); },
     "l1.tag_banks"},
    {&C::launch_overhead, [](const Device& d) { return d.host.launch_overhead_ns * 1e-3; },
     "host.launch_overhead"},
    {&C::h2d_bandwidth, [](const Device& d) { return d.host.copy_bandwidth_h2d * 1e-9; },
     "host.copy_bandwidth_h2d"},
    {&C::d2h_bandwidth, [](const Device& d) { return d.host.copy_bandwidth_d2h * 1e-9; },
     "host.copy_bandwidth_d2h"},
    {&C::copy_latency, [](const Device& d) { return d.host.copy_latency_ns * 1e-3; }, "host.copy_latency"},
};

// The key of the device file with a class's latency. Results name that of global accesses by the class, which
// stands for a hit in L1.
std::string latency_key(OpClass c) {
  const std::string_view elsewhere = device::traits(c).latency_at;
  return elsewhere.empty() || device::accesses(c, device::Memory::global)
             ? fmt::format("latency.{}", device::name_of(c))
             : std::string(elsewhere);
}

class Giver {
 public:
  Giver(Inputs& in, const Device& gpu) : in_(in), gpu_(gpu) {}

  // A value that a device file leaves at 0 is one that it doesn't have.
  void give(double C::*member, double value, std::string_view key) {
    const Symbol& s = symbol(member);
    if (!in_.has(member) && value > 0 && value >= s.minimum && value <= s.maximum)
      in_.set(member, value, from(key));
  }

  void give_class(const MixSymbol& s, std::size_t c, double value, std::string_view key) {
    const double known = (in_.counts.mix.*s.column)[c];
    if (!(known >= 0) && value >= s.minimum && value <= s.maximum) in_.set_mix(s, c, value, from(key));
  }

 private:
  Source from(std::string_view key) const { return {fmt::format("gpu {} ({})", gpu_.name, key)}; }

  Inputs& in_;
  const Device& gpu_;
};

// An SM issues a warp instruction in as many cycles as its lanes or its schedulers take, whichever are
// slower.
double issue_cycles_of(const Device& gpu, double fp32, double warp) {
  const double slots = gpu.sm.issuing_schedulers() * static_cast<double>(gpu.sm.issue_width);
  return std::max(warp / fp32, slots > 0 ? 1 / slots : 0);
}

}  // namespace

void add_machine(Inputs& in, const Device& gpu) {
  Giver giver(in, gpu);
  for (const Given& g : rows) giver.give(g.member, g.value(gpu), g.key);
  if (!in.has(&C::cores_shared))
    in.set(&C::cores_shared, gpu.cc_major < 7 ? 1 : 0,
           {fmt::format("gpu {} (compute_capability: integer lanes of their own from 7.0 on)", gpu.name)});
  // Without L1 for global memory a load fetches sectors of L2.
  const device::CacheParams& first = gpu.l1_caches_global ? gpu.l1 : gpu.l2;
  giver.give(
      &C::sector_bytes, first.sector_bytes,
      gpu.l1_caches_global ? "l1.sector_bytes" : "l2.sector_bytes: its L1 does not cache global memory");
  // Known misses of L1 say how often its latency counts: the memory's shape gives the mean then.
  if (!in.has(&C::l1_miss_ratio))
    giver.give(&C::hit_lat, first.latency,
               gpu.l1_caches_global ? "l1.latency" : "l2.latency: its L1 does not cache global memory");
  const double fp32 = of_class(gpu.throughput, OpClass::fp32);
  if (fp32 > 0)
    giver.give(&C::issue_cycles, issue_cycles_of(gpu, fp32, in.counts.threads_per_warp),
               "throughput.fp32, sm.schedulers, sm.issue_turns, sm.issue_width");
  if (in.has(&C::blocks))
    giver.give(&C::active_sms, std::min(in.counts.blocks, static_cast<double>(gpu.sm.count)),
               "sm.count, and blocks");
  const MixSymbol &latency = mix_symbols()[1], &throughput = mix_symbols()[2];
  for (std::size_t c = 0; c < device::op_class_names.size(); ++c) {
    giver.give_class(latency, c, gpu.latency[c], latency_key(static_cast<OpClass>(c)));
    giver.give_class(throughput, c, gpu.throughput[c],
                     fmt::format("throughput.{}", device::op_class_names[c]));
  }
}

}  // namespace simtlab::models
