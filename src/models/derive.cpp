// Values that follow from the instruction mix and from the shape of the memory accesses.
#include "models/derive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "models/units.h"

namespace simtlab::models {
namespace {

using C = Counts;

using device::OpClass;

// Instructions of a warp in the classes that are wanted.
template <class Wanted>
double sum(const Mix::Column& insts, Wanted&& wanted) {
  double out = 0;
  device::for_classes(wanted, [&](OpClass c) { out += insts[device::index(c)]; });
  return out;
}

bool is_global(OpClass c) { return device::accesses(c, device::Memory::global); }
bool is_shared(OpClass c) { return device::accesses(c, device::Memory::shared); }
bool is_barrier(OpClass c) { return device::traits(c).wait == device::Wait::barrier; }
bool is_floating(OpClass c) { return device::traits(c).counted_as == device::Counted::floating; }
bool is_special(OpClass c) { return device::traits(c).counted_as == device::Counted::special; }

// Branches, barriers and fences are never waited for together with something else.
bool is_serial(OpClass c) {
  const device::Wait wait = device::traits(c).wait;
  return wait == device::Wait::branch || wait == device::Wait::barrier || wait == device::Wait::fence;
}

void derive(Inputs& in, double C::*member, double value, std::string_view how) {
  const Symbol& s = symbol(member);
  // Out of range is what the counts do not suffice for: the models then name it as missing.
  if (!in.has(member) && value >= s.minimum && value <= s.maximum)
    in.set(member, value, {fmt::format("derived: {}", how)});
}

bool all(const Inputs& in, std::initializer_list<double C::*> members) {
  return std::ranges::all_of(members, [&](double C::*m) { return in.has(m); });
}

// Latency of a class weighted by its executions. Unknown if any of those executed is.
struct Latencies {
  double insts = 0, cycles = 0;  // of computation
};

Latencies compute_latencies(const Mix& mix) {
  Latencies out;
  for (std::size_t c = 0; c < mix.insts.size(); ++c) {
    if (mix.insts[c] == 0 || is_global(static_cast<OpClass>(c))) continue;
    out.insts += mix.insts[c];
    out.cycles += mix.insts[c] * mix.latency[c];
  }
  return out;
}

void add_memory_kinds(Inputs& in) {
  const Counts& c = in.counts;
  if (!in.has(&C::mem_insts)) return;
  derive(in, &C::uncoal_mem_insts, c.mem_insts - c.coal_mem_insts, "mem_insts - coal_mem_insts");
  derive(in, &C::coal_mem_insts, c.mem_insts - c.uncoal_mem_insts, "mem_insts - uncoal_mem_insts");
  if (c.mem_insts == 0 || (in.has(&C::lines_per_access) && !in.has(&C::coal_mem_insts))) {
    const bool coalesced = c.mem_insts == 0 || c.lines_per_access == 1;
    const std::string_view how =
        c.mem_insts == 0
            ? "mem_insts is 0"
            : "lines_per_access: coalesced if all accesses touch one line, else none counts as coalesced";
    derive(in, &C::coal_mem_insts, coalesced ? c.mem_insts : 0, how);
    derive(in, &C::uncoal_mem_insts, coalesced ? 0 : c.mem_insts, how);
  }
}

// The longest chain of a warp where nobody followed its dependences: all latencies, ilp of them at a time.
void add_chain(Inputs& in, const Latencies& compute) {
  const Counts& c = in.counts;
  derive(in, &C::chain_cycles, c.warp_latency - c.warp_memory_wait, "warp_latency - warp_memory_wait");
  // And with it chain_accesses, once the latency of an access is known
  if (in.has(&C::warp_memory_wait)) return;
  if (in.has(&C::ilp)) {
    double serial = 0;
    device::for_classes(is_serial, [&](OpClass k) {
      if (c.mix.insts[device::index(k)] > 0)
        serial += c.mix.insts[device::index(k)] * c.mix.latency[device::index(k)];
    });
    // A cycle each; their round trips are counted apart
    const double issue = in.has(&C::mem_insts) ? c.mem_insts : 0;
    derive(in, &C::chain_cycles, (compute.cycles - serial) / c.ilp + serial + issue,
           "sum of the latencies / ilp; branches, barriers and fences undivided");
  }
  if (in.has(&C::mlp))
    derive(in, &C::chain_accesses, sum(c.mix.insts, device::is_answered) / c.mlp,
           "(loads + atomics + texture) / mlp");
}

// What has two operations, if the floating-point instructions have as many active lanes as all; nearly full
// warps are taken for full ones there, because only branches and guards are not.
void add_fused(Inputs& in) {
  constexpr double nearly = 0.9;
  const Counts& c = in.counts;
  const double lanes = c.active_lanes >= nearly * c.warp_size ? c.warp_size : c.active_lanes;
  derive(in, &C::fma_insts,
         std::clamp(c.flops / (c.total_warps * lanes) - c.fp_insts, 0.0, std::max(c.fp_insts, 0.0)),
         "flops / (total_warps * active lanes) - fp_insts: what has two operations");
}

}  // namespace

void add_from_mix(Inputs& in) {
  const Counts& c = in.counts;
  if (in.has_mix()) {
    for (std::size_t k = 0; k < c.mix.insts.size(); ++k)
      if (std::isnan(c.mix.insts[k])) in.set_insts(k, 0, {"other classes are given"});
    double insts = 0;
    for (const double n : c.mix.insts) insts += n;
    derive(in, &C::insts, insts, "sum of the classes");
    derive(in, &C::mem_insts, sum(c.mix.insts, is_global),
           "classes load, store, atomic, texture, async_copy");
    derive(in, &C::sfu_insts, sum(c.mix.insts, is_special), "class sfu");
    derive(in, &C::fp_insts, sum(c.mix.insts, is_floating),
           "classes fp16, fp32, fp64, their divisions and square roots");
    derive(in, &C::sync_insts, sum(c.mix.insts, is_barrier), "class barrier");
    derive(in, &C::shared_insts, sum(c.mix.insts, is_shared), "classes shared, shared_atomic");
    const Latencies compute = compute_latencies(c.mix);
    if (compute.insts > 0)
      derive(in, &C::avg_inst_lat, compute.cycles / compute.insts,
             "mean over the executed compute instructions");
    add_chain(in, compute);
    add_fused(in);
    derive(in, &C::o_cfdiv, 0, "every path that a warp takes is in its instructions");
  }
  derive(in, &C::comp_insts, c.insts - c.mem_insts, "insts - mem_insts");
  add_memory_kinds(in);
}

namespace {

// The gap between two transactions is what the narrower of two gates takes: a pass of L1, and the port to the
// network.
void add_departures(Inputs& in) {
  const Counts& c = in.counts;
  if (!all(in, {&C::line_bytes, &C::l1_bytes_per_cycle, &C::sm_read_bytes_per_cycle})) return;
  const double pass = c.line_bytes / c.l1_bytes_per_cycle;
  const double missing = in.has(&C::l1_miss_ratio) ? c.l1_miss_ratio : 1;
  const auto gap = [&](double bytes) { return std::max(pass, missing * bytes / c.sm_read_bytes_per_cycle); };
  derive(in, &C::departure_del_coal, gap(c.line_bytes),
         "max(line_bytes / l1_bytes_per_cycle, l1_miss_ratio * line_bytes / sm_read_bytes_per_cycle)");
  if (in.has(&C::sector_bytes))
    derive(in, &C::departure_del_uncoal, gap(c.sector_bytes),
           "max(line_bytes / l1_bytes_per_cycle, l1_miss_ratio * sector_bytes / sm_read_bytes_per_cycle)");
  if (in.has(&C::transaction_size))
    derive(
        in, &C::delta, gap(c.transaction_size),
        "max(line_bytes / l1_bytes_per_cycle, l1_miss_ratio * transaction_size / sm_read_bytes_per_cycle)");
}

void add_transactions(Inputs& in) {
  const Counts& c = in.counts;
  derive(in, &C::avg_trans_warp, c.lines_per_access, "lines_per_access");
  if (in.has(&C::mem_insts) && c.mem_insts == 0) {
    for (const auto member : {&C::avg_trans_warp, &C::uncoal_per_mw, &C::lines_per_access})
      derive(in, member, 1, "no accesses to memory");
    for (const auto member : {&C::load_bytes_per_warp, &C::transaction_size})
      derive(in, member, c.line_bytes, "no accesses to memory: line_bytes, without effect");
    for (const auto member : {&C::useful_bytes, &C::l1_bytes, &C::l2_bytes, &C::dram_bytes, &C::miss_ratio,
                              &C::l1_miss_ratio, &C::l2_miss_ratio})
      derive(in, member, 0, "no accesses to memory");
  }
  derive(in, &C::uncoal_per_mw, c.avg_trans_warp, "avg_trans_warp");
  const double accesses = c.mem_insts * c.total_warps;
  if (accesses > 0) {
    derive(in, &C::load_bytes_per_warp, c.l1_bytes / accesses, "l1_bytes / (mem_insts * total_warps)");
    derive(in, &C::transaction_size, c.l1_bytes / (accesses * c.avg_trans_warp),
           "l1_bytes / (mem_insts * total_warps * avg_trans_warp)");
  }
  if (c.dram_bytes > 0)
    derive(in, &C::useful_bytes, c.dram_bytes, "dram_bytes, as if all of them were needed");
}

// A barrier costs the SM its latency once for all warps that wait together. The paper's form of it is gamma *
// latency * share of memory accesses; gamma is chosen so that both agree.
void add_gamma(Inputs& in) {
  const Counts& c = in.counts;
  if (!in.has(&C::sync_insts)) return;
  if (c.sync_insts == 0 || c.mem_insts == 0)
    return derive(in, &C::gamma, 0,
                  c.sync_insts == 0 ? "no barriers" : "no memory accesses, on which alone it acts");
  if (!all(in,
           {&C::barrier_lat, &C::n, &C::dram_lat, &C::avg_trans_warp, &C::delta, &C::mem_insts, &C::insts}))
    return;
  const double latency = c.dram_lat + (c.avg_trans_warp - 1) * c.delta;
  derive(in, &C::gamma, c.barrier_lat / (c.n * latency * c.mem_insts / c.insts),
         "F_sync = barrier_lat / n: a barrier takes its latency once for the n warps that wait");
}

}  // namespace

void add_from_memory(Inputs& in) {
  const Counts& c = in.counts;
  add_transactions(in);
  if (in.has(&C::shared_insts) && c.shared_insts == 0)
    derive(in, &C::shared_passes, 1, "no accesses to shared memory");
  derive(in, &C::miss_ratio, c.l1_miss_ratio * c.l2_miss_ratio, "l1_miss_ratio * l2_miss_ratio");
  // Latencies of devices are from load to use: an access that misses has taken its look into the caches along
  // already.
  derive(in, &C::hit_lat,
         std::max((1 - c.l1_miss_ratio) * c.l1_lat + c.l1_miss_ratio * (1 - c.l2_miss_ratio) * c.l2_lat,
                  symbol(&C::hit_lat).minimum),
         "latencies of L1 and L2 times their shares of the hits: a miss takes dram_lat alone");
  if (in.has(&C::warp_memory_wait))
    derive(in, &C::chain_accesses, c.warp_memory_wait > 0 ? c.warp_memory_wait / access_latency(c) : 0,
           "warp_memory_wait / latency of an access");
  add_departures(in);
  if (all(in, {&C::shared_insts, &C::shared_passes, &C::total_warps, &C::active_sms,
               &C::shared_bytes_per_cycle})) {
    const double pass = c.warp_size * 4 / c.shared_bytes_per_cycle;
    derive(in, &C::o_bank, (c.shared_passes - 1) * c.shared_insts * pass * c.total_warps / c.active_sms,
           "passes of shared memory beyond the first");
  } else if (in.has(&C::shared_insts) && c.shared_insts == 0) {
    derive(in, &C::o_bank, 0, "no accesses to shared memory");
  }
  add_gamma(in);
}

}  // namespace simtlab::models
