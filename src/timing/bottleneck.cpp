// The sentence that names what bounds a kernel.
//
// Rule: the cause is what lifting a limit may gain most (result/gains.h), as `explain` measures it. Of memory
// below L1 the part with the highest share of its peak is named, if that is 60 % or more, else latency. Where
// no limit promises a gain, the busiest part of the SM bounds the kernel, or latency, and the commonest stall
// says which. For DRAM the peak is what can be reached. The evidence is in the sentence.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "result/coalescing.h"
#include "result/gains.h"
#include "result/share_text.h"
#include "timing/bandwidth.h"
#include "timing/metrics.h"

namespace simtlab::timing {
namespace {

struct Part {
  std::string_view metric, what, remedy;
};

constexpr Part memory_parts[] = {
    {"dram.utilisation", "DRAM bandwidth",
     "move fewer bytes: reuse data in shared memory or caches, use smaller types"},
    {"l2.utilisation", "L2 bandwidth",
     "reuse data in shared memory or L1; atomics to few addresses also show here"},
    {"interconnect.utilisation", "the network between SMs and L2", "reuse data in shared memory or L1"},
    {"l1.utilisation", "L1 and the load-store units",
     "coalesce accesses, use wider loads, keep values in registers"},
    {"shared.utilisation", "shared memory",
     "remove bank conflicts, use wider accesses, keep values in registers"},
};

constexpr std::size_t below_l1 = 3;  // so many of them

constexpr Part pipe_parts[] = {
    {"pipe.fma", "the arithmetic pipeline (fma)", "do less arithmetic per result"},
    {"pipe.alu", "the integer pipeline", "simplify index arithmetic, unroll loops"},
    {"pipe.slow_int", "the integer multiply and bit units",
     "replace multiplications and bit-field operations"},
    {"pipe.fp64", "the double-precision pipeline", "use single precision where it suffices"},
    {"pipe.xu", "the special-function and conversion units",
     "hoist transcendental functions and conversions"},
    {"pipe.subroutine", "division and square root", "multiply by reciprocals, use approximate functions"},
};

struct Advice {
  Stall stall;
  std::string_view meaning, remedy;
};

constexpr Advice advices[] = {
    {Stall::long_scoreboard, "waiting for data from L1, L2 or DRAM",
     "more independent loads per thread, more warps, or reuse closer to the SM"},
    {Stall::short_scoreboard, "waiting for shared memory, special functions or shuffles",
     "more independent work between such an operation and its use"},
    {Stall::wait, "waiting for fixed-latency results",
     "more instruction-level parallelism (unrolling) or more warps"},
    {Stall::math_pipe_throttle, "waiting for a busy arithmetic pipeline", "a better mix of instructions"},
    {Stall::mio_throttle, "waiting for the queue of shared memory and special functions",
     "fewer or wider shared-memory accesses, no bank conflicts, fewer special functions"},
    {Stall::lg_throttle, "waiting for the queue of global and local memory",
     "fewer, wider or better coalesced accesses"},
    {Stall::tex_throttle, "waiting for the texture queue", "fewer texture fetches"},
    {Stall::barrier, "waiting at barriers", "smaller blocks, or more blocks per SM, so that others can run"},
    {Stall::membar, "waiting at memory fences", "fewer fences, or narrower ones"},
    {Stall::branch_resolving, "waiting for branch targets", "fewer branches: unroll, use predication"},
    {Stall::dispatch, "waiting to be dispatched", "longer-running warps"},
    {Stall::imc_miss, "waiting for constants", "fewer different constants at a time"},
    {Stall::no_instruction, "waiting for instructions from their caches",
     "smaller loops: less unrolling and inlining"},
    {Stall::drain, "waiting for stores at the end of warps", "longer-running warps"},
    {Stall::sleeping, "sleeping", "shorter nanosleep intervals"},
};

using result::share_text;

// From here on a part bounds the kernel.
constexpr double bound_share = 0.60;
// A limit whose lifting may save less of the time is no cause, and beside a busy part it has to be worth
// more.
constexpr double least_gain = 0.10, least_gain_beside = 0.20;
// The estimates of two limits that are nearer to each other than this don't tell which is the greater.
constexpr double clear_lead = 1.5, clear_gain = 0.30;

// What a long run of these reads and writes can reach: reads are faster than copies.
double reachable_bandwidth(const LaunchStatistics& s) {
  const auto reads = static_cast<double>(s.dram.read_bytes), writes = static_cast<double>(s.dram.write_bytes);
  const double time = reads + writes * write_cost(s.device);
  return time > 0 ? read_bandwidth(s.device) * (reads + writes) / time : sustained_bandwidth(s.device);
}

class Sentence {
 public:
  Sentence(const result::KernelResult& kernel, const LaunchStatistics& s)
      : k_(kernel), m_(kernel.metrics), s_(s) {
    for (const result::LikelyGain& gain : result::likely_gains(m_))
      if (gain.what_if != "alone" && gain.what_if != "zero-launch-cost")
        gains_.push_back(gain);  // not of the kernel itself
    const double issue = get("sol.issue");
    busy_part_ = std::max({busiest(memory_parts, memory_part_), busiest(pipe_parts, pipe_part_), issue});
  }

  std::string run() const {
    const double least =
        std::max(share_of(pipe_part_), get("sol.issue")) >= bound_share ? least_gain_beside : least_gain;
    if (gains_.empty() || gains_.front().share < least)
      return busy_part_ >= bound_share ? busy_sentence() : latency_sentence() + doubt();
    const std::string_view top = gains_.front().what_if;
    if (top == "perfect-coalescing") return coalescing_sentence() + doubt();
    if (top == "no-bank-conflicts") return conflicts_sentence() + doubt();
    if (top == "perfect-l1" || top == "infinite-dram-bandwidth") return memory_sentence() + doubt();
    return (busy_part_ >= bound_share ? busy_sentence() : latency_sentence()) + doubt();
  }

 private:
  double get(std::string_view name) const { return m_.get(name).value_or(0); }

  // DRAM counts against the bandwidth that can be reached, everything else against its peak.
  double share_of(const Part* part) const {
    if (part == nullptr) return 0;
    const double share = get(part->metric);
    return part == &memory_parts[0] && share > 0
               ? std::min(share * s_.device.dram.bandwidth / reachable_bandwidth(s_), 1.0)
               : share;
  }
  double busiest(std::span<const Part> parts, const Part*& best) const {
    for (const Part& part : parts)
      if (best == nullptr || share_of(&part) > share_of(best)) best = &part;
    return share_of(best);
  }

  // What `run` estimates `explain` measures; said where the estimates are close or low.
  std::string doubt() const {
    const bool clear = !gains_.empty() && gains_.front().share >= clear_gain &&
                       (gains_.size() == 1 || gains_[0].share >= clear_lead * rival());
    return clear ? "" : " This is an estimate: `simtlab explain` of the result measures what gains most.";
  }
  // The next limit that is another cause. L1 and DRAM are one, a load that hits L1 needs neither; and so are
  // the sectors that an access touches and the parts of them that it writes.
  double rival() const {
    const auto cause_of = [](std::string_view name) {
      return name == "infinite-dram-bandwidth" ? "perfect-l1"
             : name == "wide-writes"           ? "perfect-coalescing"
                                               : name;
    };
    for (const result::LikelyGain& gain : gains_)
      if (cause_of(gain.what_if) != cause_of(gains_[0].what_if)) return gain.share;
    return 0;
  }

  std::string busy_sentence() const {
    const double memory = share_of(memory_part_), pipe = share_of(pipe_part_), issue = get("sol.issue");
    if (issue > pipe && issue > memory)
      return fmt::format(
          "Bound by instruction issue: an instruction is issued in {} of the scheduler slots; execute fewer "
          "instructions.",
          share_text(issue));
    return part_sentence(memory >= pipe ? *memory_part_ : *pipe_part_);
  }
  std::string part_sentence(const Part& part) const {
    const std::string share = share_text(share_of(&part));
    if (&part == &memory_parts[0])
      return fmt::format(
          "Bound by {}: {} of what such reads and writes can reach ({} of the theoretical peak, {}); {}.",
          part.what, share, share_text(get(part.metric)), part.metric, part.remedy);
    return fmt::format("Bound by {}: {} of its peak ({}); {}.", part.what, share, part.metric, part.remedy);
  }

  std::string coalescing_sentence() const {
    std::optional<result::AccessUse> worst;
    for (result::AccessUse& use : result::badly_coalesced(k_))
      if (use.kind != "atomic" && (!worst || use.sectors * (1 - use.use) > worst->sectors * (1 - worst->use)))
        worst = std::move(use);
    if (!worst) return latency_sentence();  // a little everywhere
    return fmt::format(
        "Bound by uncoalesced {}s{}: of the sectors that they touch, threads use {} (global.{}.efficiency); "
        "let neighbouring threads access neighbouring addresses.",
        worst->kind, worst->place.empty() ? "" : fmt::format(" ({})", worst->place), share_text(worst->use),
        worst->kind);
  }
  std::string conflicts_sentence() const {
    return fmt::format(
        "Bound by bank conflicts of shared memory: {} of its passes (shared.bank_conflicts); pad or swizzle "
        "arrays in shared memory.",
        share_text(get("shared.bank_conflicts") / get("shared.wavefronts")));
  }
  // What lies below L1: a part that is busy, else the latency of the way.
  std::string memory_sentence() const {
    const Part* busy = nullptr;
    const double share = busiest(std::span(memory_parts).first(below_l1), busy);
    if (share >= bound_share) return part_sentence(*busy);
    const double empty = get("stall.no_warp");
    const result::Waits waits = result::waits_of(m_);
    std::string out = fmt::format(
        "Bound by the latency of memory: no part reaches more than {} of its peak, and where there are "
        "warps, they wait in {} of the scheduler slots for "
        "data from L1, L2 or DRAM (long_scoreboard); try more independent loads per thread, more warps, or "
        "reuse closer to the SM.",
        share_text(highest()), share_text(waits.loads));
    if (empty > waits.loads * (1 - empty))
      out += fmt::format(" There is little work to hide it: {}.", empty_text());
    return out;
  }

  double highest() const { return std::max(get("sol.compute"), get("sol.memory")); }
  std::string empty_text() const {
    return fmt::format("schedulers have no warp in {} of their slots ({:.2f} waves of blocks)",
                       share_text(get("stall.no_warp")), get("gpu.waves"));
  }

  std::string latency_sentence() const {
    const Advice* top = nullptr;
    std::uint64_t most = 0;
    for (const Advice& advice : advices) {
      const std::uint64_t slots = s_.sm.slots[static_cast<std::size_t>(advice.stall)];
      if (slots <= most) continue;
      most = slots;
      top = &advice;
    }
    const double total = get("scheduler.slots");
    const double share = total > 0 ? static_cast<double>(most) / total : 0;
    if (top == nullptr || get("stall.no_warp") > share)
      return fmt::format("Too little work: {}; launch more or longer blocks.", empty_text());
    return fmt::format(
        "Bound by latency: no part reaches more than {} of its peak, and in {} of the scheduler slots warps "
        "are {} ({}); try {}.",
        share_text(highest()), share_text(share), top->meaning, name_of(top->stall), top->remedy);
  }

  const result::KernelResult& k_;
  const result::Metrics& m_;
  const LaunchStatistics& s_;
  std::vector<result::LikelyGain> gains_;
  const Part *memory_part_ = nullptr, *pipe_part_ = nullptr;
  double busy_part_ = 0;
};

}  // namespace

std::string bottleneck_of(const result::KernelResult& kernel, const LaunchStatistics& statistics) {
  return Sentence(kernel, statistics).run();
}

std::vector<std::string> not_modelled(const LaunchStatistics& s) {
  std::vector<std::string> ids = {"D-TIMING-1", "D-TIMING-2", "D-TIMING-3"};
  const auto used = [&](ptx::OpClass c) { return s.sm.by_class[static_cast<std::size_t>(c)] > 0; };
  if (s.dram.read_bytes + s.dram.write_bytes > 0) {
    if (s.channels == nullptr)
      ids.emplace_back("D-TIMING-4");
    else
      ids.insert(ids.end(), {"D-DRAM-1", "D-DRAM-2", "D-DRAM-3"});
  }
  bool divides = false;
  for (std::size_t c = 0; c < class_count; ++c)
    divides |= device::op_class_traits[c].is_division && s.sm.by_class[c] > 0;
  if (divides) ids.emplace_back("D-TIMING-5");
  if (used(ptx::OpClass::texture)) ids.emplace_back("D-TIMING-6");
  if (s.sm.local_load.requests + s.sm.local_store.requests > 0) ids.emplace_back("D-TIMING-7");
  if (used(ptx::OpClass::atomic)) ids.emplace_back("D-TIMING-8");
  if (s.overlapped) ids.emplace_back("D-TIMING-20");
  return ids;
}

}  // namespace simtlab::timing
