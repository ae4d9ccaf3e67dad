// The parametrised model of Resios: delays of units (resios.h), a coarse simulation of the queues in front of
// them (resios_queue.h), and the overhead of context, launch and copies.
//
// The thesis takes a fused multiply-add for two instructions, gives an SM its share of DRAM's bandwidth even
// where others have no block, knows no caches, and lets memory handle eight accesses at a time. Each can be
// switched on (Options); by default none is.
#include "models/resios.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/model.h"
#include "models/resios_queue.h"
#include "models/units.h"

namespace simtlab::models {
namespace resios {

double penalty(double warp_size, double throughput) { return warp_size / throughput; }
double most_parallel(double latency, double penalty) { return latency / penalty; }

double delay(double latency, double penalty, double tlp) {
  const double most = most_parallel(latency, penalty);
  return tlp <= most ? latency / tlp : latency / (tlp * most) + penalty;
}

double bytes_per_cycle(double bandwidth_gbs, double clock_ghz) { return bandwidth_gbs / clock_ghz; }

double global_delay(double latency, double max_p, double bytes, double lines, double bytes_per_cycle) {
  return latency + max_p * bytes * lines / bytes_per_cycle;
}

double shared_delay(double latency, double max_p, double degree) {
  constexpr double word = 4, width = 32;
  return latency + max_p * (word / width + word * degree / width);
}

double transfer_bandwidth(double megabytes, double peak) {
  constexpr double slope = 100, intercept = 692;  // MB/s a MB, MB/s: fit of the thesis, PCIe 2.0 x16
  return std::min(slope * megabytes + intercept, peak);
}

double transfer_time(double megabytes, double peak) {
  return 1e3 * megabytes / transfer_bandwidth(megabytes, peak);
}

double warps_for_latency(double cycles, double parallel, double intensity) {
  return parallel * cycles / intensity;
}
double ilp(double instructions, double longest_path) { return instructions / longest_path; }

}  // namespace resios

namespace {

using C = Counts;

constexpr double C::*resios_needs[] = {&C::freq,
                                       &C::active_sms,
                                       &C::blocks,
                                       &C::threads_per_block,
                                       &C::active_blocks_per_sm,
                                       &C::total_warps,
                                       &C::warp_size,
                                       &C::insts,
                                       &C::mem_insts,
                                       &C::sync_insts,
                                       &C::chain_cycles,
                                       &C::chain_accesses,
                                       &C::issue_per_cycle,
                                       &C::schedulers,
                                       &C::cores_shared,
                                       &C::dram_lat,
                                       &C::shared_lat,
                                       &C::mem_peak_bandwidth,
                                       &C::lines_per_access,
                                       &C::shared_passes};
constexpr double C::*resios_uses[] = {&C::sm_count,
                                      &C::shared_insts,
                                      &C::pipe_cycles,
                                      &C::ilp,
                                      &C::mlp,
                                      &C::fma_insts,
                                      &C::l1_lat,
                                      &C::l2_lat,
                                      &C::l1_miss_ratio,
                                      &C::l2_miss_ratio,
                                      &C::l1_bytes,
                                      &C::l2_bytes,
                                      &C::dram_bytes,
                                      &C::l1_bytes_per_cycle,
                                      &C::l2_bytes_per_cycle,
                                      &C::dram_bandwidth_measured,
                                      &C::sm_read_bytes_per_cycle,
                                      &C::sm_write_bytes_per_cycle,
                                      &C::barrier_lat,
                                      &C::block_launch,
                                      &C::launch_overhead,
                                      &C::context_init,
                                      &C::h2d_bytes,
                                      &C::d2h_bytes,
                                      &C::h2d_bandwidth,
                                      &C::d2h_bandwidth,
                                      &C::copy_latency};
constexpr std::string_view resios_deviations[] = {"D-PREDICT-1", "D-PREDICT-3", "D-PREDICT-13",
                                                  "D-PREDICT-14"};

constexpr double line = 128;
// The queues repeat themselves: more rounds say nothing new, but take time.
constexpr double most_rounds = 8;
// Of DRAM's bandwidth where nobody measured it; as in the throughput bound
constexpr double sustained_share = 0.95;

double or_else(double value, double otherwise) { return std::isnan(value) ? otherwise : value; }

class Queues {
 public:
  Queues(const Counts& c, const Options& options) : c_(c), o_(options) {
    if (!o_.resios_fma) split_multiply_adds();
    work_.warps_per_block = std::ceil(c.threads_per_block / c.warp_size);
    work_.blocks = std::ceil(c.blocks / c.active_sms);
    work_.resident = std::min(c.active_blocks_per_sm, work_.blocks);
    work_.block_launch = or_else(c.block_launch, 0);
    work_.barriers = c.sync_insts;
    work_.barrier_cycles = or_else(c.barrier_lat, 0);
    work_.rounds = std::clamp(
        std::round(std::max({c.chain_accesses, c.sync_insts, or_else(c.shared_insts, 0)})), 1.0, most_rounds);
    per_round_ = 1 / work_.rounds;
  }

  Evaluation run() {
    term("rounds", "1", work_.rounds, Evidence::ours);
    global_memory();
    computation();
    // Every instruction of a warp is issued by its scheduler, at the latest one a cycle.
    add("issue", c_.insts, c_.insts / attainable_issue(c_));
    const resios::Outcome outcome = resios::simulate(work_);
    const double queues = term("T_queues", "cycles", outcome.cycles, Evidence::ours);
    // No queue stands for the issue slots, nor for what is known of the busiest pipeline as a whole.
    const double slots = std::max(c_.insts / attainable_issue(c_), or_else(c_.pipe_cycles, 0));
    const double issue =
        term("T_issue", "cycles", slots * work_.blocks * work_.warps_per_block, Evidence::ours);
    out_.cycles = term("T_kernel", "cycles", std::max(queues, issue), Evidence::ours);
    describe(outcome, issue);
    overhead();
    return std::move(out_);
  }

 private:
  double term(std::string name, const char* unit, double value, Evidence evidence) {
    out_.terms.push_back({std::move(name), unit, value, evidence});
    return value;
  }

  // The front end of the thesis sees a multiplication and an addition.
  void split_multiply_adds() {
    const std::size_t fp32 = device::index(device::OpClass::fp32);
    const double fused =
        std::isnan(c_.fma_insts) ? c_.mix.insts[fp32] : std::min(c_.fma_insts, c_.mix.insts[fp32]);
    if (std::isnan(c_.fma_insts))
      out_.notes.push_back(
          "fma_insts is not known: every fp32 instruction is taken for a fused multiply-add.");
    c_.mix.insts[fp32] += fused;
    c_.insts += fused;
    c_.chain_cycles += fused * or_else(c_.mix.latency[fp32], 0) / or_else(c_.ilp, 1);
  }

  void add(std::string name, double alone, double busy, double at_a_time = 0) {
    if (alone <= 0 && busy <= 0) return;
    term("alone_" + name, "cycles", alone, Evidence::verified);
    term("busy_" + name, "cycles", busy, Evidence::verified);
    const bool staging = name == "global";
    work_.stations.push_back({std::move(name), alone * per_round_, busy * per_round_, at_a_time, staging});
  }

  // GB/s are bytes per ns; of one SM.
  double bandwidth_of_an_sm() const {
    const double gpu =
        o_.resios_caches
            ? std::min(or_else(c_.dram_bandwidth_measured, sustained_share * c_.mem_peak_bandwidth),
                       c_.mem_peak_bandwidth)
            : c_.mem_peak_bandwidth;
    return resios::bytes_per_cycle(gpu, c_.freq) /
           (o_.resios_per_sm ? or_else(c_.sm_count, c_.active_sms) : c_.active_sms);
  }

  void global_memory() {
    if (c_.mem_insts == 0) return;
    const double bandwidth = term("bandwidth_SM", "bytes/cycle", bandwidth_of_an_sm(), Evidence::verified);
    if (o_.resios_max_p > 0) return as_in_the_thesis(bandwidth);
    const double accesses = c_.mem_insts * c_.total_warps;
    double latency = c_.dram_lat, bytes = line * c_.lines_per_access, others = 0;
    if (!o_.resios_caches)
      return add("global", c_.chain_accesses * (latency + bytes / bandwidth),
                 c_.mem_insts * bytes / bandwidth);
    if (const double known = access_latency(c_); !std::isnan(known)) latency = known;
    if (!std::isnan(c_.dram_bytes)) bytes = c_.dram_bytes / accesses;
    // What the other levels take for an access.
    for (const Unit& u : units_of(c_, 0, 0))
      if (!u.compute && u.name != "shared")
        others = std::max(
            others, (u.level == Level::gpu ? u.warp_cycles * c_.active_sms : u.warp_cycles) / c_.mem_insts);
    const double busy = std::max(bytes / bandwidth, others);
    term("max_p_global", "warps", resios::most_parallel(latency, busy), Evidence::verified);
    add("global", c_.chain_accesses * (latency + busy), c_.mem_insts * busy);
  }

  void as_in_the_thesis(double bandwidth) {
    const double most = o_.resios_max_p;
    const double access = term("delay_global", "cycles",
                               resios::global_delay(c_.dram_lat, most, line, c_.lines_per_access, bandwidth),
                               Evidence::verified);
    term("max_p_global", "warps", most, Evidence::verified);
    double answered = 0;
    device::for_classes(device::is_answered,
                        [&](device::OpClass c) { answered += c_.mix.insts[device::index(c)]; });
    add("global", answered / or_else(c_.mlp, 1) * access, 0, most);
  }

  // Latencies of the classes of a unit, ilp at a time; all together as long as the chain of the warp.
  void computation() {
    double sum = 0;
    for (std::size_t k = 0; k < c_.mix.insts.size(); ++k) sum += latency_of(k);
    const double scale = sum > 0 ? c_.chain_cycles / sum : 0;
    const double shared = (latency_of(device::index(device::OpClass::shared)) +
                           latency_of(device::index(device::OpClass::shared_atomic)) +
                           latency_of(device::index(device::OpClass::shuffle))) *
                          scale;
    // Barriers are no queue; issue is one of its own.
    const double rest = std::max(
        c_.chain_cycles - shared - latency_of(device::index(device::OpClass::barrier)) * scale - c_.insts,
        0.0);
    const auto units = units_of(c_, 0, 0);
    double all = 0;
    for (const Unit& u : units)
      if (is_queue(u)) all += u.warp_cycles;
    for (const Unit& u : units) {
      if (u.name == "shared") add_shared(shared, u.warp_cycles);
      if (!is_queue(u)) continue;
      // A scheduler has only its share of the unit.
      const double resident = work_.resident * work_.warps_per_block,
                   uneven = std::ceil(resident / c_.schedulers) * c_.schedulers / resident;
      add(std::string(u.name), all > 0 ? std::max(rest * share_of(u, all), u.warp_cycles * c_.schedulers) : 0,
          u.warp_cycles * uneven);
    }
  }

  double latency_of(std::size_t k) const {
    return c_.mix.insts[k] > 0 ? c_.mix.insts[k] * or_else(c_.mix.latency[k], 1) : 0;
  }
  static bool is_queue(const Unit& u) { return u.compute && u.name != "pipeline"; }
  static double share_of(const Unit& u, double all) { return u.warp_cycles / all; }

  void add_shared(double alone, double busy) {
    if (o_.resios_max_p == 0) return add("shared", alone, busy);
    const double most = o_.resios_max_p;
    const double access =
        term("delay_shared", "cycles", resios::shared_delay(c_.shared_lat, most, c_.shared_passes - 1),
             Evidence::verified);
    const double accesses = c_.mix.insts[device::index(device::OpClass::shared)] +
                            c_.mix.insts[device::index(device::OpClass::shared_atomic)];
    add("shared", accesses / or_else(c_.ilp, 1) * access, 0, most);
  }

  void describe(const resios::Outcome& outcome, double issue) {
    std::size_t most = 0;
    for (std::size_t i = 1; i < outcome.busy.size(); ++i)
      if (outcome.busy[i] > outcome.busy[most]) most = i;
    for (std::size_t i = 0; i < outcome.busy.size(); ++i)
      term(fmt::format("occupied_{}", work_.stations[i].name), "1", outcome.busy[i] / outcome.cycles,
           Evidence::ours);
    const std::string queue = outcome.busy.empty() ? "barriers" : work_.stations[most].name;
    out_.which_case = issue > outcome.cycles ? "T_issue > T_queues" : "T_queues >= T_issue";
    out_.limit = issue > outcome.cycles ? "the issue slots of the schedulers"
                                        : fmt::format("the queue of {}: warps wait there most", queue);
    if (outcome.extrapolated)
      out_.notes.push_back(
          "The first waves of blocks were simulated, the others take as long as the last of them.");
    if (o_.resios_fma && !o_.resios_per_sm && o_.resios_caches && o_.resios_max_p == 0) return;
    std::string on;
    const auto say = [&](bool said, const char* what) {
      on += said ? fmt::format("{}{}", on.empty() ? "" : ", ", what) : "";
    };
    say(!o_.resios_fma, "multiply-adds as two instructions");
    say(o_.resios_per_sm, "DRAM's bandwidth divided by all SMs");
    say(!o_.resios_caches, "no caches");
    say(o_.resios_max_p > 0, "few memory accesses at a time");
    out_.notes.push_back(fmt::format("Simplifications of the thesis that are on: {}.", on));
  }

  void overhead() {
    double total = out_.cycles / c_.freq;  // ns
    const auto part = [&](const char* name, double ns, Evidence evidence) {
      if (std::isnan(ns)) return;
      term(name, "ns", ns, evidence);
      total += ns;
    };
    part("T_context", c_.context_init * 1e6, Evidence::verified);
    part("T_launch", c_.launch_overhead * 1e3, Evidence::verified);
    part("T_h2d", copy(c_.h2d_bytes, c_.h2d_bandwidth),
         o_.resios_transfer ? Evidence::verified : Evidence::ours);
    part("T_d2h", copy(c_.d2h_bytes, c_.d2h_bandwidth),
         o_.resios_transfer ? Evidence::verified : Evidence::ours);
    out_.total_ns = total;
    term("T_total", "ns", total, Evidence::verified);
  }

  // ns; unknown where bytes or bandwidth are.
  double copy(double bytes, double bandwidth) const {
    if (bytes == 0) return 0;
    if (o_.resios_transfer)
      return std::isnan(bandwidth) ? bandwidth : resios::transfer_time(bytes * 1e-6, bandwidth * 1e3) * 1e6;
    return bytes / bandwidth + or_else(c_.copy_latency, 0) * 1e3;
  }

  Counts c_;
  Options o_;
  resios::Work work_;
  double per_round_ = 1;
  Evaluation out_;
};

class Resios final : public Model {
 public:
  std::string_view name() const override { return "resios"; }
  std::string_view title() const override { return "after Resios 2011"; }
  std::span<double C::*const> needs() const override { return resios_needs; }
  std::span<double C::*const> uses() const override { return resios_uses; }
  bool needs_mix() const override { return true; }
  std::span<const std::string_view> deviations() const override { return resios_deviations; }
  Evaluation evaluate(const Counts& counts, const Options& options) const override {
    return Queues(counts, options).run();
  }
};

}  // namespace

Options Options::resios_as_in_the_thesis() {
  Options o;
  o.resios_fma = o.resios_caches = false;
  o.resios_per_sm = o.resios_transfer = true;
  o.resios_max_p = resios::thesis_max_p;
  return o;
}

const Model& resios_model() {
  static const Resios model;
  return model;
}

}  // namespace simtlab::models
