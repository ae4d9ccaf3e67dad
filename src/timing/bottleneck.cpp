// The sentence that names what bounds a kernel.
//
// Rule: the part with the highest share of its peak, if that is 60 % or more, bounds the kernel; else latency does, and the
// commonest stall says which. For DRAM the peak is what a copy can reach. The evidence is in the sentence.
#include <algorithm>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "timing/bandwidth.h"
#include "timing/metrics.h"

namespace simtlab::timing {
namespace {

constexpr double bound_share = 0.60;

struct Part {
  std::string_view metric, what, remedy;
};

constexpr Part memory_parts[] = {
    {"dram.utilisation", "DRAM bandwidth", "move fewer bytes: reuse data in shared memory or caches, use smaller types"},
    {"l2.utilisation", "L2 bandwidth", "reuse data in shared memory or L1; atomics to few addresses also show here"},
    {"interconnect.utilisation", "the network between SMs and L2", "reuse data in shared memory or L1"},
    {"l1.utilisation", "L1 and the load-store units", "coalesce accesses, use wider loads, keep values in registers"},
    {"shared.utilisation", "shared memory", "remove bank conflicts, use wider accesses, keep values in registers"},
};

constexpr Part pipe_parts[] = {
    {"pipe.fma", "the arithmetic pipeline (fma)", "do less arithmetic per result"},
    {"pipe.alu", "the integer pipeline", "simplify index arithmetic, unroll loops"},
    {"pipe.slow_int", "the integer multiply and bit units", "replace multiplications and bit-field operations"},
    {"pipe.fp64", "the double-precision pipeline", "use single precision where it suffices"},
    {"pipe.xu", "the special-function and conversion units", "hoist transcendental functions and conversions"},
    {"pipe.subroutine", "division and square root", "multiply by reciprocals, use approximate functions"},
};

struct Advice {
  Stall stall;
  std::string_view meaning, remedy;
};

constexpr Advice advices[] = {
    {Stall::long_scoreboard, "waiting for data from L1, L2 or DRAM", "more independent loads per thread, more warps, or reuse closer to the SM"},
    {Stall::short_scoreboard, "waiting for shared memory, special functions or shuffles", "more independent work between such an operation and its use"},
    {Stall::wait, "waiting for fixed-latency results", "more instruction-level parallelism (unrolling) or more warps"},
    {Stall::math_pipe_throttle, "waiting for a busy arithmetic pipeline", "a better mix of instructions"},
    {Stall::mio_throttle, "waiting for the queue of shared memory", "fewer or wider shared-memory accesses, no bank conflicts"},
    {Stall::lg_throttle, "waiting for the queue of global and local memory", "fewer, wider or better coalesced accesses"},
    {Stall::tex_throttle, "waiting for the texture queue", "fewer texture fetches"},
    {Stall::barrier, "waiting at barriers", "smaller blocks, or more blocks per SM, so that others can run"},
    {Stall::membar, "waiting at memory fences", "fewer fences, or narrower ones"},
    {Stall::branch_resolving, "waiting for branch targets", "fewer branches: unroll, use predication"},
    {Stall::dispatch, "waiting to be dispatched", "longer-running warps"},
    {Stall::imc_miss, "waiting for constants", "fewer different constants at a time"},
    {Stall::no_instruction, "waiting for instructions from their caches", "smaller loops: less unrolling and inlining"},
    {Stall::drain, "waiting for stores at the end of warps", "longer-running warps"},
    {Stall::sleeping, "sleeping", "shorter nanosleep intervals"},
};

// DRAM counts against the bandwidth that a copy can reach, everything else against its peak.
double share_of_peak(const Part& part, const result::Metrics& metrics, const device::Device& device) {
  const double share = metrics.get(part.metric).value_or(0);
  return &part == &memory_parts[0] && share > 0 ? share * device.dram.bandwidth / sustained_bandwidth(device) : share;
}

const Part* busiest(std::span<const Part> parts, const result::Metrics& metrics, const device::Device& device, double& share) {
  const Part* best = nullptr;
  for (const Part& part : parts) {
    const double value = share_of_peak(part, metrics, device);
    if (best != nullptr && value <= share) continue;
    best = &part;
    share = value;
  }
  return best;
}

std::string percent(double share) { return fmt::format("{:.0f} %", share * 100); }

std::string latency_sentence(const result::Metrics& metrics, const LaunchStatistics& s) {
  const Advice* top = nullptr;
  std::uint64_t most = 0;
  for (const Advice& advice : advices) {
    const std::uint64_t slots = s.sm.slots[static_cast<std::size_t>(advice.stall)];
    if (slots <= most) continue;
    most = slots;
    top = &advice;
  }
  const double empty = metrics.get("stall.no_warp").value_or(0);
  const double highest = std::max(metrics.get("sol.compute").value_or(0), metrics.get("sol.memory").value_or(0));
  const double total = metrics.get("scheduler.slots").value_or(0);
  const double share = total > 0 ? static_cast<double>(most) / total : 0;
  if (top == nullptr || empty > share)
    return fmt::format("Too little work: schedulers have no warp in {} of their slots ({:.2f} waves of blocks); launch more or longer blocks.",
                       percent(empty), metrics.get("gpu.waves").value_or(0));
  return fmt::format("Bound by latency: no part reaches more than {} of its peak, and in {} of the scheduler slots warps are {} ({}); try {}.",
                     percent(highest), percent(share), top->meaning, name_of(top->stall), top->remedy);
}

}  // namespace

std::string bottleneck_of(const result::Metrics& metrics, const LaunchStatistics& statistics) {
  double memory_share = 0, pipe_share = 0;
  const Part* memory_part = busiest(memory_parts, metrics, statistics.device, memory_share);
  const Part* pipe_part = busiest(pipe_parts, metrics, statistics.device, pipe_share);
  const double issue = metrics.get("sol.issue").value_or(0);
  const double best = std::max({memory_share, pipe_share, issue});
  if (best < bound_share) return latency_sentence(metrics, statistics);
  if (best == issue && issue > pipe_share && issue > memory_share)
    return fmt::format("Bound by instruction issue: an instruction is issued in {} of the scheduler slots; execute fewer instructions.", percent(issue));
  const Part& part = memory_share >= pipe_share ? *memory_part : *pipe_part;
  if (&part == &memory_parts[0])
    return fmt::format("Bound by {}: {} of what a copy can reach ({} of the theoretical peak, {}); {}.", part.what, percent(best),
                       percent(metrics.get(part.metric).value_or(0)), part.metric, part.remedy);
  return fmt::format("Bound by {}: {} of its peak ({}); {}.", part.what, percent(best), part.metric, part.remedy);
}

std::vector<std::string> not_modelled(const LaunchStatistics& s) {
  std::vector<std::string> ids = {"D-TIMING-1", "D-TIMING-2", "D-TIMING-3"};
  const auto used = [&](ptx::OpClass c) { return s.sm.by_class[static_cast<std::size_t>(c)] > 0; };
  using enum ptx::OpClass;
  if (s.dram.read_bytes + s.dram.write_bytes > 0) {
    if (s.channels == nullptr)
      ids.emplace_back("D-TIMING-4");
    else
      ids.insert(ids.end(), {"D-DRAM-1", "D-DRAM-2", "D-DRAM-3"});
  }
  if (used(int_div) || used(fp32_div) || used(fp32_sqrt) || used(fp64_div) || used(fp64_sqrt)) ids.emplace_back("D-TIMING-5");
  if (used(texture)) ids.emplace_back("D-TIMING-6");
  if (s.sm.local_load.requests + s.sm.local_store.requests > 0) ids.emplace_back("D-TIMING-7");
  if (used(atomic)) ids.emplace_back("D-TIMING-8");
  if (s.overlapped) ids.emplace_back("D-TIMING-20");
  return ids;
}

}  // namespace simtlab::timing
