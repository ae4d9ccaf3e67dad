// Throughput bound against latency bound, after V. Volkov, "Understanding latency hiding on GPUs",
// dissertation, UC Berkeley, 2016: a kernel takes as long as its busiest unit, or as its warps take with the
// latencies of their dependent instructions, a wave of resident blocks after the other, whichever is longer.
//
// Ours on top: waves are those of the SM with the most blocks; the time of one warp is that of its way, where
// it was followed, else that of a chain of mean latencies; its stores end it; units that are busy still wait
// for the first warp and have little to do for the last one: half of the time of a warp stays uncovered; and
// a warp that does more than the others ends alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/model.h"
#include "models/units.h"

namespace simtlab::models {
namespace {

using C = Counts;

constexpr double C::*throughput_needs[] = {&C::freq,
                                           &C::active_sms,
                                           &C::blocks,
                                           &C::threads_per_block,
                                           &C::active_blocks_per_sm,
                                           &C::total_warps,
                                           &C::n,
                                           &C::warp_size,
                                           &C::insts,
                                           &C::mem_insts,
                                           &C::issue_per_cycle,
                                           &C::schedulers,
                                           &C::cores_shared,
                                           &C::chain_cycles,
                                           &C::chain_accesses,
                                           &C::l1_lat,
                                           &C::l2_lat,
                                           &C::dram_lat,
                                           &C::l1_miss_ratio,
                                           &C::l2_miss_ratio,
                                           &C::lines_per_access,
                                           &C::l1_bytes,
                                           &C::l2_bytes,
                                           &C::dram_bytes,
                                           &C::l1_bytes_per_cycle,
                                           &C::l2_bytes_per_cycle,
                                           &C::mem_peak_bandwidth,
                                           &C::shared_passes};
constexpr double C::*throughput_uses[] = {&C::ilp,
                                          &C::warp_latency,
                                          &C::warp_memory_wait,
                                          &C::warp_spread,
                                          &C::sampled_latency,
                                          &C::dram_bandwidth_measured,
                                          &C::sm_read_bytes_per_cycle,
                                          &C::sm_write_bytes_per_cycle,
                                          &C::block_launch,
                                          &C::block_latency,
                                          &C::launch_floor,
                                          &C::tags_per_cycle,
                                          &C::pipe_cycles,
                                          &C::line_bytes};
constexpr std::string_view throughput_deviations[] = {"D-PREDICT-1", "D-PREDICT-3", "D-PREDICT-7",
                                                      "D-PREDICT-10", "D-PREDICT-11"};

// Share of the theoretical bandwidth that refresh and turnarounds leave, where nobody measured it; that of
// the cycle-level model.
constexpr double sustained_share = 0.95;
// Of the time of a warp, where the units are busy. Of 0.3, 0.5 and 0.7 the best for 186 launches of the
// examples on six GPUs (docs/concepts/models.md).
constexpr double uncovered = 0.5;

double or_else(double value, double otherwise) { return std::isnan(value) ? otherwise : value; }

class Bound {
 public:
  explicit Bound(const Counts& c) : c_(c) {
    warps_per_block_ = std::ceil(c.threads_per_block / c.warp_size);
    most_blocks_ = std::ceil(c.blocks / c.active_sms);
    resident_ = std::min(c.active_blocks_per_sm, most_blocks_);
    waves_ = std::ceil(most_blocks_ / resident_);
    bandwidth_ = std::min(or_else(c.dram_bandwidth_measured, sustained_share * c.mem_peak_bandwidth),
                          c.mem_peak_bandwidth);
  }

  Evaluation run() {
    term("blocks_per_SM", "1", most_blocks_);
    term("waves", "1", waves_);
    throughput();
    const double chain = latencies();
    const double latency =
        std::isnan(c_.warp_latency) ? chain : term("L", "cycles", c_.warp_latency + longer_wait());
    // A warp leaves when its stores are acknowledged
    const double drain = term("T_stores", "cycles", stores() ? c_.l2_lat : 0);
    const double begin = term("T_begin", "cycles", launch_ * (resident_ - 1));
    const double tail =
        term("T_longest_warp", "cycles", std::isnan(c_.warp_spread) ? 0 : (c_.warp_spread - 1) * latency);
    const double together = term("T_block", "cycles", barriers());
    const double turn_over = term("T_block_latency", "cycles", or_else(c_.block_latency, 0));
    const double busiest = busiest_cycles_ + turn_over + uncovered * latency,
                 waiting = waves_ * (turn_over + latency + together) + (waves_ - 1) * drain;
    term("T_throughput", "cycles", busiest, Evidence::secondary);
    term("T_latency", "cycles", waiting, Evidence::secondary);
    out_.cycles = term("T_exec", "cycles", std::max(busiest, waiting) + begin + tail + drain);
    if (!std::isnan(c_.warp_memory_wait)) mostly_memory_ = 2 * c_.warp_memory_wait > latency;
    if (tail > std::max(busiest, waiting)) imbalance_ = true;
    describe(busiest, waiting);
    return std::move(out_);
  }

 private:
  double term(std::string name, const char* unit, double value, Evidence evidence = Evidence::ours) {
    out_.terms.push_back({std::move(name), unit, value, evidence});
    return value;
  }

  // The SM with the most blocks; a unit of the whole GPU has the work of all of them. Warps are dealt to the
  // schedulers: a unit of which each has a share is as slow as the scheduler with the most resident warps.
  double cycles_of(const Unit& u) const {
    if (u.level == Level::gpu) return u.grid_cycles;
    const double resident = resident_ * warps_per_block_;
    const double uneven =
        u.per_scheduler ? std::ceil(resident / c_.schedulers) * c_.schedulers / resident : 1;
    return u.warp_cycles * most_blocks_ * warps_per_block_ * uneven;
  }

  void throughput() {
    for (const Unit& u : units_of(c_, bandwidth_, attainable_issue(c_))) {
      const double cycles = term(fmt::format("T_{}", u.name), "cycles", cycles_of(u), Evidence::secondary);
      if (u.level == Level::sm) block_cycles_ = std::max(block_cycles_, cycles / most_blocks_);
      if (cycles > busiest_cycles_) {
        busiest_cycles_ = cycles;
        limit_ = u.doc;
      }
    }
    launch_ = or_else(c_.block_launch, 0);
    const double launch = term("T_launch", "cycles", launch_ * most_blocks_);
    if (launch > busiest_cycles_) {
      busiest_cycles_ = launch;
      limit_ = "the launch of blocks";
    }
  }

  // One warp on an idle machine.
  double latencies() {
    const double access = term("access_latency", "cycles", access_latency(c_));
    const double memory = term("chain_memory", "cycles", c_.chain_accesses * access, Evidence::secondary);
    term("chain_computation", "cycles", c_.chain_cycles, Evidence::secondary);
    mostly_memory_ = memory > c_.chain_cycles;
    return term("chain_latency", "cycles", memory + c_.chain_cycles);
  }

  // The way of a warp was followed with the latencies of its sample; with others its waits are longer or
  // shorter in proportion.
  double longer_wait() const {
    if (std::isnan(c_.warp_memory_wait) || !(c_.sampled_latency > 0)) return 0;
    return c_.warp_memory_wait * (access_latency(c_) / c_.sampled_latency - 1);
  }

  // Warps that meet at a barrier wait until the units have served all warps of their block, where that takes
  // longer than the chain of one: between two barriers once, of the round trips to memory that are there.
  double barriers() const {
    if (!(c_.sync_insts > 0)) return 0;
    const double phases = c_.sync_insts + 1,
                 apart = c_.chain_accesses > phases ? phases / c_.chain_accesses : 1;
    return std::max(0.0, block_cycles_ - c_.chain_cycles) * apart;
  }

  bool stores() const { return c_.mix.insts[device::index(device::OpClass::store)] > 0; }

  void describe(double busiest, double waiting) {
    const bool latency = waiting > busiest;
    out_.which_case = imbalance_ ? "T_longest_warp is the longest"
                      : latency  ? "T_latency > T_throughput"
                                 : "T_throughput >= T_latency";
    out_.limit = imbalance_       ? "imbalance: one warp does more than the others"
                 : !latency       ? fmt::format("{}", limit_)
                 : mostly_memory_ ? "latency of memory: too few warps and independent accesses"
                                  : "latency of instructions: too few warps and independent instructions";
    if (c_.blocks < c_.active_sms * c_.active_blocks_per_sm)
      out_.notes.push_back("The grid does not fill the SMs once: they hold fewer blocks than they could.");
    const double idle = 1 - c_.blocks / (most_blocks_ * c_.active_sms);
    if (most_blocks_ > 1 && idle > 0.1)
      out_.notes.push_back(
          fmt::format("The last blocks leave SMs idle: {:.0f} % of the places of {} blocks an SM are empty.",
                      100 * idle, most_blocks_));
    // More warps than needed hide no latency: Little's law.
    if (busiest_cycles_ > 0 && waiting > 0)
      term("warps_to_hide_latency", "warps",
           std::ceil(waiting / busiest_cycles_ * resident_ * warps_per_block_));
  }

  const Counts& c_;
  double warps_per_block_, most_blocks_, resident_, waves_, bandwidth_;
  double busiest_cycles_ = 0, block_cycles_ = 0, launch_ = 0;
  bool mostly_memory_ = false, imbalance_ = false;
  std::string_view limit_ = "nothing";
  Evaluation out_;
};

class Throughput final : public Model {
 public:
  std::string_view name() const override { return "throughput"; }
  std::string_view title() const override { return "after Volkov 2016"; }
  std::span<double C::*const> needs() const override { return throughput_needs; }
  std::span<double C::*const> uses() const override { return throughput_uses; }
  bool needs_mix() const override { return true; }
  std::span<const std::string_view> deviations() const override { return throughput_deviations; }
  Evaluation evaluate(const Counts& counts, const Options&) const override { return Bound(counts).run(); }
};

}  // namespace

const Model& throughput() {
  static const Throughput model;
  return model;
}

}  // namespace simtlab::models
