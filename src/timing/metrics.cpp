#include "timing/metrics.h"

#include <algorithm>
#include <string>

#include "result/hit_rate.h"

namespace simtlab::timing {
namespace {

// A ratio over nothing is 0.
double ratio(double a, double b) { return b > 0 ? a / b : 0.0; }
double ratio(std::uint64_t a, std::uint64_t b) {
  return ratio(static_cast<double>(a), static_cast<double>(b));
}

// Peaks and totals that several metrics need.
struct Derived {
  explicit Derived(const LaunchStatistics& s)
      : cycles(static_cast<double>(s.cycles)),
        sm_cycles(cycles * s.device.sm.count),
        slots(sm_cycles * s.device.sm.schedulers),
        seconds(cycles / s.device.sm_clock_hz) {}
  double cycles, sm_cycles, slots, seconds;
};

void set_work(result::Metrics& m, const LaunchStatistics& s, const Derived& d) {
  const SmCounters& sm = s.sm;
  m.set("gpu.cycles", std::uint64_t{s.cycles});
  m.set("gpu.time", d.seconds * 1e9);
  m.set("gpu.launch_overhead", s.device.host.launch_overhead_ns);
  m.set("gpu.instructions.warp", sm.warp_instructions);
  m.set("gpu.instructions.machine", sm.machine_instructions);
  m.set("gpu.instructions.thread", sm.thread_instructions);
  m.set("gpu.instructions.lanes", ratio(sm.thread_instructions, sm.warp_instructions));
  m.set("gpu.ipc", ratio(static_cast<double>(sm.thread_instructions), d.cycles));
  m.set("gpu.ipc.warp", ratio(static_cast<double>(sm.warp_instructions), d.sm_cycles));
  const auto flops = [&](device::Precision precision) {
    std::uint64_t sum = 0;
    for (std::size_t c = 0; c < class_count; ++c)
      if (device::op_class_traits[c].precision == precision) sum += sm.flops_by_class[c];
    return sum;
  };
  m.set("gpu.flops.fp16", flops(device::Precision::fp16));
  m.set("gpu.flops.fp32", flops(device::Precision::fp32));
  m.set("gpu.flops.fp64", flops(device::Precision::fp64));
  m.set("gpu.blocks", sm.blocks);
  m.set("gpu.warps", sm.warps);
  m.set("gpu.waves", ratio(static_cast<double>(sm.blocks),
                           static_cast<double>(s.device.sm.count) * s.occupancy.blocks_per_sm));
  m.set("gpu.sm.active", ratio(static_cast<double>(sm.active_cycles), d.sm_cycles));
  for (std::size_t c = 0; c < class_count; ++c)
    if (sm.by_class[c] > 0) m.set("instructions." + std::string(device::op_class_names[c]), sm.by_class[c]);
  m.set("branch.executed", sm.branches);
  m.set("branch.divergent", sm.divergent_branches);
  m.set("barrier.executed", sm.barriers);
  if (s.overlapped) m.set("gpu.overlap", ratio(static_cast<double>(*s.overlapped), d.cycles));
}

void set_occupancy(result::Metrics& m, const LaunchStatistics& s) {
  const double most = static_cast<double>(s.device.sm.max_warps);
  m.set("occupancy.theoretical", s.occupancy.ratio);
  m.set("occupancy.achieved",
        ratio(static_cast<double>(s.sm.warp_cycles), static_cast<double>(s.sm.active_cycles) * most));
  m.set("occupancy.blocks_per_sm", std::uint64_t{s.occupancy.blocks_per_sm});
  m.set("occupancy.limit.warps", std::uint64_t{s.occupancy.by_warps});
  m.set("occupancy.limit.blocks", std::uint64_t{s.occupancy.by_blocks});
  m.set("occupancy.limit.registers", std::uint64_t{s.occupancy.by_registers});
  m.set("occupancy.limit.shared_memory", std::uint64_t{s.occupancy.by_shared});
}

void set_requests(result::Metrics& m, const LaunchStatistics& s, const Derived& d) {
  const SmCounters& sm = s.sm;
  const auto space = [&](const std::string& name, const SpaceCounters& c) {
    m.set(name + ".requests", c.requests);
    m.set(name + ".sectors", c.sectors);
    m.set(name + ".bytes", c.bytes);
    m.set(name + ".efficiency", ratio(c.bytes, c.sectors * 32));
  };
  space("global.load", sm.global_load);
  space("global.store", sm.global_store);
  m.set("local.load.sectors", sm.local_load.sectors);
  m.set("local.store.sectors", sm.local_store.sectors);
  space("atomic", sm.atomic);
  m.set("atomic.operations", sm.atomic_operations);
  m.set("shared.load.requests", sm.shared_loads);
  m.set("shared.store.requests", sm.shared_stores);
  m.set("shared.atomic.requests", sm.shared_atomics);
  m.set("shared.wavefronts", sm.shared_passes);
  m.set("shared.bank_conflicts", sm.shared_conflicts);
  m.set("shared.bytes", sm.shared_bytes);
  m.set("shared.utilisation", ratio(memory::to_cycles(sm.shared_busy), d.sm_cycles));
  if (s.device.shared.cluster_blocks > 0) {
    m.set("cluster.requests", sm.cluster_requests);
    m.set("cluster.bytes", sm.cluster_bytes);
  }
  m.set("constant.accesses", sm.constant_accesses);
  m.set("constant.misses", sm.constant_misses);
  m.set("constant.miss_rate", ratio(sm.constant_misses, sm.constant_accesses));
  m.set("texture.requests", sm.texture_requests);
  if (s.machine_code && s.device.sm.register_banks > 0)
    m.set("register.bank_conflicts", sm.register_conflicts);
  if (!s.device.instruction.caches) return;
  m.set("instruction.l0.accesses", sm.fetch.l0_accesses);
  m.set("instruction.l0.misses", sm.fetch.l0_misses);
  m.set("instruction.l0.prefetches", sm.fetch.prefetches);
  m.set("instruction.l1.accesses", sm.fetch.l1_accesses);
  m.set("instruction.l1.misses", sm.fetch.l1_misses);
  if (s.device.instruction.constant_bytes != 0) m.set("instruction.constant.misses", sm.fetch.operand_misses);
}

void set_cache(result::Metrics& m, const std::string& name, const CacheCounters& c) {
  m.set(name + ".read.accesses", c.read_accesses);
  m.set(name + ".read.hits", c.read_hits);
  m.set(name + ".read.hits_pending", c.read_pending);
  m.set(name + ".read.misses", c.read_misses);
  const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  result::set_hit_rate(
      m, name, result::hit_rate(number(c.read_hits), number(c.read_pending), number(c.read_accesses)));
  m.set(name + ".write.accesses", c.write_accesses);
  m.set(name + ".write.hits", c.write_hits);
  m.set(name + ".write.misses", c.write_accesses - c.write_hits);
  m.set(name + ".write.miss_rate", ratio(c.write_accesses - c.write_hits, c.write_accesses));
}

void set_memory(result::Metrics& m, const LaunchStatistics& s, const Derived& d) {
  set_cache(m, "l1", s.sm.l1);
  m.set("l1.bytes", s.sm.l1_bytes);
  m.set("l1.utilisation", ratio(memory::to_cycles(s.sm.l1_busy), d.sm_cycles));
  m.set("l1.mshr.stalls", s.sm.mshr_stall_cycles);
  m.set("interconnect.read.bytes", s.interconnect_read_bytes);
  m.set("interconnect.write.bytes", s.sm.request_bytes);
  if (s.device.interconnect.flit_bytes > 0) {
    m.set("interconnect.read.flits", s.reply_flits);
    m.set("interconnect.write.flits", s.sm.request_flits);
  }
  m.set("interconnect.utilisation",
        ratio(memory::to_cycles(std::max(s.request_busy, s.reply_busy)), d.sm_cycles));
  set_cache(m, "l2", s.served.cache);
  m.set("l2.bytes", s.served.sectors_moved * 32);
  m.set("l2.utilisation", ratio(memory::to_cycles(s.l2.busy), d.cycles * s.device.l2_slices));
  m.set("l2.writebacks", s.l2.writebacks);
  if (!s.overlapped) {
    m.set("l2.slice.accesses.min", s.l2.least_slice_accesses);
    m.set("l2.slice.accesses.max", s.l2.most_slice_accesses);
    m.set("l2.slice.accesses.deviation", s.l2.slice_deviation);
    m.set("l2.slice.imbalance", ratio(static_cast<double>(s.l2.most_slice_accesses) * s.device.l2_slices,
                                      static_cast<double>(s.served.sectors_moved)));
  }
  const auto bytes = static_cast<double>(s.dram.read_bytes + s.dram.write_bytes);
  m.set("dram.read.bytes", s.dram.read_bytes);
  m.set("dram.write.bytes", s.dram.write_bytes);
  m.set("dram.bandwidth", ratio(bytes, d.seconds));
  if (s.device.dram.bandwidth > 0 && !s.unlimited_dram)
    m.set("dram.utilisation", ratio(ratio(bytes, d.seconds), s.device.dram.bandwidth));
  if (s.channels == nullptr) m.set("dram.row_misses", s.dram.row_misses);
  if (s.overlapped) return;  // of single units nobody knows whose
  m.set("dram.partition.bytes.min", s.dram.least_partition_bytes);
  m.set("dram.partition.bytes.max", s.dram.most_partition_bytes);
  m.set("dram.partition.imbalance",
        ratio(static_cast<double>(s.dram.most_partition_bytes) * s.device.dram.partitions, bytes));
}

void set_speed_of_light(result::Metrics& m, const LaunchStatistics& s, const Derived& d) {
  double compute = 0;
  for (std::size_t p = 0; p < pipe_count; ++p) {
    const auto pipe = static_cast<Pipe>(p);
    if (device::traits(pipe).shared_by_sm || s.sm.pipe_busy[p] == 0) continue;
    const double busy = ratio(memory::to_cycles(s.sm.pipe_busy[p]), d.slots);
    m.set("pipe." + std::string(name_of(pipe)), busy);
    if (device::traits(pipe).computes) compute = std::max(compute, busy);
  }
  m.set("sol.compute", compute);
  double memory = 0;
  for (const char* part : {"l1.utilisation", "shared.utilisation", "l2.utilisation",
                           "interconnect.utilisation", "dram.utilisation"})
    memory = std::max(memory, m.get(part).value_or(0));
  m.set("sol.memory", memory);
  m.set("sol.issue",
        ratio(static_cast<double>(s.sm.slots[static_cast<std::size_t>(Stall::selected)]), d.slots));
}

// What GPGPU-Sim counts under these names, as far as this model has the parts (the registry has the
// definitions).
void set_classic_stalls(result::Metrics& m, const LaunchStatistics& s) {
  m.set("gpu.stall.classic.dram_full", s.l2.full_cycles);
  m.set("gpu.stall.classic.icnt_to_sm", s.l2.reply_held_cycles);
  m.set("gpu.stall.classic.shared_memory", s.sm.memory_stage_cycles);
}

// Reasons that no part of this model can cause are absent.
void set_slots(result::Metrics& m, const LaunchStatistics& s, const Derived& d) {
  m.set("scheduler.slots", s.cycles * s.device.sm.count * s.device.sm.schedulers);
  for (std::size_t i = 0; i < stall_count; ++i) {
    const auto stall = static_cast<Stall>(i);
    if (stall == Stall::no_instruction && !s.device.instruction.caches) continue;
    m.set("stall." + std::string(name_of(stall)), ratio(static_cast<double>(s.sm.slots[i]), d.slots));
  }
}

template <std::size_t n>
void add_all(std::array<std::uint64_t, n>& to, const std::array<std::uint64_t, n>& from) {
  for (std::size_t i = 0; i < n; ++i) to[i] += from[i];
}
}  // namespace

void SpaceCounters::add(const SpaceCounters& o) {
  requests += o.requests;
  sectors += o.sectors;
  bytes += o.bytes;
}

void SmCounters::add(const SmCounters& o) {
  warp_instructions += o.warp_instructions;
  machine_instructions += o.machine_instructions;
  thread_instructions += o.thread_instructions;
  add_all(by_class, o.by_class);
  add_all(flops_by_class, o.flops_by_class);
  add_all(pipe_busy, o.pipe_busy);
  add_all(slots, o.slots);
  global_load.add(o.global_load);
  global_store.add(o.global_store);
  local_load.add(o.local_load);
  local_store.add(o.local_store);
  atomic.add(o.atomic);
  using Member = std::uint64_t SmCounters::*;
  static constexpr Member scalars[] = {&SmCounters::blocks,
                                       &SmCounters::warps,
                                       &SmCounters::active_cycles,
                                       &SmCounters::warp_cycles,
                                       &SmCounters::branches,
                                       &SmCounters::divergent_branches,
                                       &SmCounters::atomic_operations,
                                       &SmCounters::texture_requests,
                                       &SmCounters::async_copies,
                                       &SmCounters::shared_loads,
                                       &SmCounters::shared_stores,
                                       &SmCounters::shared_atomics,
                                       &SmCounters::shared_passes,
                                       &SmCounters::shared_conflicts,
                                       &SmCounters::shared_bytes,
                                       &SmCounters::cluster_requests,
                                       &SmCounters::cluster_bytes,
                                       &SmCounters::barriers,
                                       &SmCounters::fences,
                                       &SmCounters::constant_accesses,
                                       &SmCounters::constant_misses,
                                       &SmCounters::mshr_stall_cycles,
                                       &SmCounters::memory_stage_cycles,
                                       &SmCounters::l1_bytes,
                                       &SmCounters::l1_busy,
                                       &SmCounters::shared_busy,
                                       &SmCounters::request_bytes,
                                       &SmCounters::request_flits,
                                       &SmCounters::register_conflicts};
  for (const Member member : scalars) this->*member += o.*member;
  l1.add(o.l1);
  fetch.add(o.fetch);
}

void FetchCounters::add(const FetchCounters& o) {
  l0_accesses += o.l0_accesses;
  l0_misses += o.l0_misses;
  l1_accesses += o.l1_accesses;
  l1_misses += o.l1_misses;
  prefetches += o.prefetches;
  operand_misses += o.operand_misses;
}

void CacheCounters::add(const CacheCounters& o) {
  read_accesses += o.read_accesses;
  read_hits += o.read_hits;
  read_pending += o.read_pending;
  read_misses += o.read_misses;
  write_accesses += o.write_accesses;
  write_hits += o.write_hits;
}

void L2Served::add(const L2Served& o) {
  cache.add(o.cache);
  sectors_moved += o.sectors_moved;
}

result::Metrics to_metrics(const LaunchStatistics& statistics) {
  const Derived derived(statistics);
  result::Metrics m;
  set_work(m, statistics, derived);
  set_occupancy(m, statistics);
  set_requests(m, statistics, derived);
  set_memory(m, statistics, derived);
  set_channels(m, statistics);
  set_loads(m, statistics);
  set_speed_of_light(m, statistics, derived);
  set_slots(m, statistics, derived);
  set_classic_stalls(m, statistics);
  set_peaks(m, statistics);
  return m;
}

}  // namespace simtlab::timing
