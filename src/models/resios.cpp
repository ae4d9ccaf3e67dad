// The parametrised model of Resios: delays of instructions (resios.h), the parallelism of warps by a coarse
// simulation (resios_simulation.h), and the overhead of context, launch and copies.
#include "models/resios.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/model.h"
#include "models/resios_simulation.h"

namespace simtlab::models {
namespace resios {

double penalty(double warp_size, double throughput) { return warp_size / throughput; }
double most_parallel(double latency, double penalty) { return latency / penalty; }

double delay(double latency, double penalty, double max_p, double parallel) {
  return parallel <= max_p ? latency / parallel : latency / (parallel * max_p) + penalty;
}

double memory_delay(double latency, double penalty, double max_p, double parallel) {
  return parallel <= max_p ? latency / parallel : latency / parallel + penalty;
}
double global_penalty(double size, double requests, double bytes_per_cycle) {
  return size * requests / bytes_per_cycle;
}
double shared_penalty(double warp_size, double size, double banks, double conflicts, double bytes_per_cycle) {
  return warp_size * size / (banks * bytes_per_cycle) + conflicts * size / bytes_per_cycle;
}
double bytes_per_cycle(double bandwidth_gbs, double clock_ghz) { return bandwidth_gbs / clock_ghz; }

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
                                       &C::ilp,
                                       &C::dram_lat,
                                       &C::shared_lat,
                                       &C::mem_peak_bandwidth,
                                       &C::lines_per_access,
                                       &C::shared_passes};
constexpr double C::*resios_uses[] = {&C::sm_count,      &C::issue_per_cycle, &C::schedulers,
                                      &C::fma_insts,     &C::launch_overhead, &C::context_init,
                                      &C::h2d_bytes,     &C::d2h_bytes,       &C::h2d_bandwidth,
                                      &C::d2h_bandwidth, &C::copy_latency};
constexpr std::string_view resios_deviations[] = {"D-PREDICT-1", "D-PREDICT-3", "D-PREDICT-13",
                                                  "D-PREDICT-14"};

constexpr double line = 128, word = 4;  // bytes: of a request to memory, of a word of shared memory
constexpr double banks = 32;            // of shared memory, as the thesis has them (4.3.2)
// Of a trace: computation between two accesses is one step where there are more of them
constexpr std::size_t many_steps = 64;

double or_else(double value, double otherwise) { return std::isnan(value) ? otherwise : value; }

bool is_global(device::OpClass c) { return device::accesses(c, device::Memory::global); }
bool is_shared(device::OpClass c) { return device::accesses(c, device::Memory::shared); }

class Thesis {
 public:
  Thesis(const Counts& c, const ResiosOptions& o) : c_(c), o_(o) {}

  Evaluation run() {
    launch();
    bandwidth_ =
        resios::bytes_per_cycle(c_.mem_peak_bandwidth, c_.freq) / or_else(c_.sm_count, c_.active_sms);
    term("bandwidth_SM", "bytes/cycle", bandwidth_, Evidence::verified);
    trace();
    class_terms();
    steps();
    const resios::Outcome simulated = resios::simulate(work_);
    term("T_simulated", "cycles", simulated.cycles, Evidence::verified);
    term("TLP", "warps", simulated.mean_tlp, Evidence::verified);
    const double scale = term("extrapolation", "1", warps_of_sm_ / simulated_warps_, Evidence::verified);
    out_.cycles = term("T_kernel", "cycles", simulated.cycles * scale, Evidence::verified);
    idle(simulated, scale);
    overhead();
    return std::move(out_);
  }

 private:
  double term(std::string name, const char* unit, double value, Evidence evidence) {
    out_.terms.push_back({std::move(name), unit, value, evidence});
    return value;
  }

  // Every SM has an equal part of the warps; of it the first are simulated.
  void launch() {
    const double per_block = std::ceil(c_.threads_per_block / c_.warp_size);
    warps_of_sm_ = c_.total_warps / c_.active_sms;
    double resident = c_.active_blocks_per_sm;
    if (o_.resident_blocks > 0) resident = std::min(resident, o_.resident_blocks);
    if (o_.resident_warps > 0) resident = std::min(resident, std::floor(o_.resident_warps / per_block));
    if (o_.resident_warps > 0 && o_.resident_warps < per_block)
      out_.notes.push_back(
          fmt::format("A block has {:g} warps, more than resident-warps: one block is resident all the same.",
                      per_block));
    resident = std::max(resident, 1.0);
    const double blocks = std::clamp(std::floor(o_.warps / per_block), 1.0,
                                     std::max(1.0, std::round(c_.blocks / c_.active_sms)));
    simulated_warps_ = blocks * per_block;
    work_.warps_per_block = static_cast<std::size_t>(per_block);
    work_.blocks = static_cast<std::size_t>(blocks);
    work_.resident_blocks = static_cast<std::size_t>(resident);
    work_.compute_units = static_cast<std::size_t>(o_.compute_units);
    work_.memory_units = static_cast<std::size_t>(o_.memory_units);
    work_.order = static_cast<resios::Order>(o_.order);
    resident_warps_ = static_cast<std::size_t>(std::min(resident, blocks) * per_block);
    term("resident_warps", "warps", static_cast<double>(resident_warps_), Evidence::verified);
    term("simulated_warps", "warps", simulated_warps_, Evidence::verified);
  }

  // ---- the trace of a warp

  // Counts without code: what is loaded first, then computation, then what is stored. Of a code that is
  // known, as many instructions of a class as the counts say.
  void trace() {
    std::array<double, device::op_class_count> known{};
    for (const TraceStep& s : c_.trace) known[device::index(s.op_class)] += s.insts;
    const auto add_classes = [&](const auto& wanted) {
      device::for_classes(wanted, [&](device::OpClass k) {
        if (c_.mix.insts[device::index(k)] > 0 && known[device::index(k)] <= 0)
          trace_.push_back({std::string(device::name_of(k)), k, insts_of(k)});
      });
    };
    add_classes(device::is_answered);
    add_classes([](device::OpClass k) { return !is_global(k); });
    for (const TraceStep& s : c_.trace)
      if (const double sum = known[device::index(s.op_class)];
          s.insts > 0 && c_.mix.insts[device::index(s.op_class)] > 0) {
        trace_.push_back(s);
        trace_.back().insts *= insts_of(s.op_class) / sum;
      }
    add_classes([](device::OpClass k) { return is_global(k) && !device::is_answered(k); });
    if (o_.split_fma && std::isnan(c_.fma_insts))
      out_.notes.emplace_back("fma_insts is not known: no instruction is taken for two.");
  }

  double insts_of(device::OpClass k) const {
    const double insts = c_.mix.insts[device::index(k)];
    if (!o_.split_fma || k != device::OpClass::fp32 || std::isnan(c_.fma_insts)) return insts;
    return insts + std::min(c_.fma_insts, insts);
  }

  // ---- its delays

  // What the machine reaches with a chain of this instruction alone, as in table 3.1: its lanes, or an
  // instruction a scheduler.
  double throughput_of(device::OpClass k) const {
    const double lanes = c_.mix.throughput[device::index(k)];
    const double issue = std::min(c_.issue_per_cycle, c_.schedulers) * c_.warp_size;
    return issue > 0 ? std::min(lanes, issue) : lanes;
  }
  double max_i(device::OpClass k) const {
    return o_.max_i > 0 ? o_.max_i
                        : resios::most_parallel(c_.mix.latency[device::index(k)],
                                                resios::penalty(c_.warp_size, throughput_of(k)));
  }
  double parallel(const TraceStep& s, double tlp) const { return std::max(1.0, c_.ilp * s.ilp) * tlp; }

  double delay(const TraceStep& s, double tlp) const {
    const double at_once = parallel(s, tlp);
    if (is_global(s.op_class))
      return resios::memory_delay(c_.dram_lat,
                                  resios::global_penalty(line, c_.lines_per_access * s.spread, bandwidth_),
                                  o_.max_p, at_once);
    if (is_shared(s.op_class)) {
      const double conflicts = std::max(c_.shared_passes * s.spread - 1, 0.0);
      return resios::memory_delay(
          c_.shared_lat, resios::shared_penalty(c_.warp_size, word, banks, conflicts, o_.bank_bandwidth),
          o_.max_p, at_once);
    }
    return resios::delay(c_.mix.latency[device::index(s.op_class)],
                         resios::penalty(c_.warp_size, throughput_of(s.op_class)), max_i(s.op_class),
                         at_once);
  }

  // One instruction of each class, with all resident warps ready.
  void class_terms() {
    const auto tlp = static_cast<double>(resident_warps_);
    device::for_classes([&](device::OpClass k) { return c_.mix.insts[device::index(k)] > 0; },
                        [&](device::OpClass k) {
                          const std::string name(device::name_of(k));
                          const bool memory = is_global(k) || is_shared(k);
                          term("max_" + name, "1", memory ? o_.max_p : max_i(k),
                               memory || o_.max_i > 0 ? Evidence::verified : Evidence::ours);
                          term("delay_" + name, "cycles", delay({name, k, 1}, tlp), Evidence::verified);
                        });
  }

  void steps() {
    const bool together = trace_.size() > many_steps;
    for (std::size_t i = 0; i < trace_.size(); ++i) {
      const TraceStep& s = trace_[i];
      const bool memory = is_global(s.op_class) || is_shared(s.op_class);
      if (!together || memory || work_.steps.empty() || work_.steps.back().memory) {
        work_.steps.push_back({memory, std::vector<double>(resident_warps_)});
        step_of_.push_back(i);
      }
      for (std::size_t t = 0; t < resident_warps_; ++t)
        work_.steps.back().delay[t] += s.insts * delay(s, static_cast<double>(t + 1));
    }
  }

  // ---- what the time is spent on

  void idle(const resios::Outcome& simulated, double scale) {
    const double computing = term("T_compute", "cycles", simulated.computing * scale, Evidence::verified);
    const double waiting = term("T_idle", "cycles", out_.cycles - computing, Evidence::verified);
    for (std::size_t i = 0; i < simulated.idle.size(); ++i) {
      const TraceStep& s = trace_[step_of_[i]];
      if (simulated.idle[i] > 0)
        out_.hotspots.push_back({s.place, std::string(device::name_of(s.op_class)), s.access, s.insts,
                                 simulated.idle[i] * scale, simulated.idle[i] / simulated.cycles,
                                 simulated.idle[i] / simulated.in_unit[i]});
    }
    std::ranges::stable_sort(out_.hotspots, std::greater<>(), &Hotspot::idle_cycles);
    out_.which_case = waiting > computing ? "T_idle > T_compute" : "T_compute >= T_idle";
    out_.limit = waiting > computing ? fmt::format("memory: the compute units are idle during {}",
                                                   out_.hotspots.front().place)
                                     : "the compute units";
  }

  void overhead() {
    double total = out_.cycles / c_.freq;  // ns
    const auto part = [&](const char* name, double ns, Evidence evidence) {
      if (std::isnan(ns)) return;
      term(name, "ns", ns, evidence);
      total += ns;
    };
    const Evidence copies = o_.fitted_copies ? Evidence::verified : Evidence::ours;
    part("T_context", c_.context_init * 1e6, Evidence::verified);
    part("T_launch", c_.launch_overhead * 1e3, Evidence::verified);
    part("T_h2d", copy(c_.h2d_bytes, c_.h2d_bandwidth), copies);
    part("T_d2h", copy(c_.d2h_bytes, c_.d2h_bandwidth), copies);
    out_.total_ns = total;
    term("T_total", "ns", total, Evidence::verified);
  }

  // ns; unknown where bytes or bandwidth are.
  double copy(double bytes, double bandwidth) const {
    if (bytes == 0) return 0;
    if (o_.fitted_copies)
      return std::isnan(bandwidth) ? bandwidth : resios::transfer_time(bytes * 1e-6, bandwidth * 1e3) * 1e6;
    return bytes / bandwidth + or_else(c_.copy_latency, 0) * 1e3;
  }

  const Counts& c_;
  const ResiosOptions& o_;
  double bandwidth_ = 0;  // bytes per cycle of an SM
  double warps_of_sm_ = 0, simulated_warps_ = 0;
  std::size_t resident_warps_ = 0;
  std::vector<TraceStep> trace_;
  std::vector<std::size_t> step_of_;  // the first instruction of each step
  resios::Work work_;
  Evaluation out_;
};

class Resios final : public Model {
 public:
  std::string_view name() const override { return "resios"; }
  std::string_view title() const override { return "Resios 2011"; }
  std::span<double C::*const> needs() const override { return resios_needs; }
  std::span<double C::*const> uses() const override { return resios_uses; }
  bool needs_mix() const override { return true; }
  std::span<const std::string_view> deviations() const override { return resios_deviations; }
  Evaluation evaluate(const Counts& counts, const Options& options) const override {
    return Thesis(counts, options.resios).run();
  }
};

}  // namespace

const Model& resios_model() {
  static const Resios model;
  return model;
}

}  // namespace simtlab::models
