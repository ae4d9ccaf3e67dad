#include "timing/shared_memory_unit.h"

#include <algorithm>
#include <bit>

namespace simtlab::timing {

using ptx::OpClass;

void SharedMemoryUnit::access(std::uint32_t number, const InstInfo& info, const stream::Step& step,
                              Cycle at) {
  SmCounters& counters = *sm_.counters;
  const bool atomic = info.op_class == OpClass::shared_atomic || info.op_class == OpClass::atomic;
  const unsigned ideal = stream::shared_passes_ideal(step.mask, step.bytes, banks_);
  const bool store = info.inst->op == ptx::Op::st;
  const auto passes_of = atomic  ? stream::shared_atomic_passes
                         : store ? stream::shared_passes
                                 : stream::shared_load_passes;
  const unsigned passes =
      sm_.config.what_if.no_bank_conflicts ? ideal : passes_of(step.addresses, step.mask, step.bytes, banks_);
  const unsigned conflicts = passes - std::min(ideal, passes);
  ++(atomic ? counters.shared_atomics : store ? counters.shared_stores : counters.shared_loads);
  counters.shared_passes += passes;
  counters.shared_conflicts += conflicts;
  if (sm_.observer != nullptr) sm_.observer->shared(passes, conflicts);
  counters.shared_bytes += std::uint64_t{step.bytes} * stream::count_lanes(step.mask);
  // One pass is what a full warp of 32-bit words takes: 32 / throughput cycles.
  const FixedCycles pass = sm_.config.pipes[atomic ? OpClass::shared_atomic : OpClass::shared].sm_cost;
  const FixedCycles busy = std::max(passes * pass, sm_.config.pipes.shared_interval);
  Warp& warp = warps_[number];
  Cycle start = ports_.book_mio(warp.scheduler, busy, at);
  counters.shared_busy += busy;
  counters.memory_stage_cycles += ((passes - 1) * pass) >> memory::fixed_bits;
  // What the unit gives within the least that it takes for an instruction comes with the first pass: on GA10x
  // 64 bits a lane are there when 32 are, 128 bits 2 cycles later (Huerta, table 2).
  const Cycle behind = (busy - std::max(pass, sm_.config.pipes.shared_interval)) >> memory::fixed_bits;
  std::uint32_t fine =
      atomic ? sm_.config.pipes[OpClass::shared_atomic].latency : sm_.config.latencies.shared;
  if (step.remote != 0) [[unlikely]] {
    const std::uint64_t bytes = std::uint64_t{step.bytes} * static_cast<unsigned>(std::popcount(step.remote));
    ++counters.cluster_requests;
    counters.cluster_bytes += bytes;
    fine = sm_.config.latencies.cluster;
    start = network_.take(start, memory::to_fixed(static_cast<double>(bytes) * cycles_a_byte_));
  }
  scoreboard_.set_destinations(number, *warp.program, info,
                               entry(start + behind + warp.whole_cycles(fine), Stall::short_scoreboard));
}

}  // namespace simtlab::timing
