// MWP-CWP: Hong and Kim, "An analytical model for a GPU architecture with memory-level and thread-level
// parallelism awareness", ISCA 2009.
//
// MWP is how many warps of an SM can be in memory at once, CWP how many could compute while one waits for
// memory; which of the two is larger decides what the time follows from. Not modelled: arithmetic latency,
// parallelism within a warp, caches, bank conflicts, latency that grows with load.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/model.h"

namespace simtlab::models {
namespace {

using C = Counts;

constexpr double C::*mwp_cwp_needs[] = {&C::freq,
                                        &C::active_sms,
                                        &C::threads_per_warp,
                                        &C::issue_cycles,
                                        &C::mem_bandwidth,
                                        &C::mem_ld,
                                        &C::departure_del_uncoal,
                                        &C::departure_del_coal,
                                        &C::blocks,
                                        &C::threads_per_block,
                                        &C::active_blocks_per_sm,
                                        &C::comp_insts,
                                        &C::coal_mem_insts,
                                        &C::uncoal_mem_insts,
                                        &C::synch_insts,
                                        &C::coal_per_mw,
                                        &C::uncoal_per_mw,
                                        &C::load_bytes_per_warp};
constexpr std::string_view mwp_cwp_deviations[] = {"D-PREDICT-1", "D-PREDICT-2", "D-PREDICT-3", "D-PREDICT-4",
                                                   "D-PREDICT-5", "D-PREDICT-7", "D-PREDICT-8"};

struct Parallelism {
  double mem_l = 0, departure = 0;          // cycles of a warp access, cycles between two
  double without_bw_full = 0, peak_bw = 0;  // what departures, what bandwidth allow
  double mwp = 0, cwp_full = 0, cwp = 0;
};

// The three cases of the paper; all are evaluated, because they do not meet at their borders.
struct Cases {
  double few_warps = 0, memory = 0, computation = 0;
};

class Evaluator {
 public:
  Evaluator(const Counts& c, Rule rule) : c_(c), rule_(rule) {
    out_.literal = rule == Rule::paper;
    warps_per_block_ = std::ceil(c.threads_per_block / c.threads_per_warp);
    n_ = c.active_blocks_per_sm * warps_per_block_;
    mem_insts_ = c.coal_mem_insts + c.uncoal_mem_insts;
    total_insts_ = c.comp_insts + mem_insts_;
    rep_ = c.blocks / (c.active_blocks_per_sm * c.active_sms);
    mem_l_uncoal_ = c.mem_ld + (c.uncoal_per_mw - 1) * c.departure_del_uncoal;
    comp_cycles_ = c.issue_cycles * total_insts_;
    mem_cycles_ = mem_l_uncoal_ * c.uncoal_mem_insts + c.mem_ld * c.coal_mem_insts;
  }

  Evaluation run() {
    term("N", "warps", n_);
    term("Mem_L_Uncoal", "cycles", mem_l_uncoal_);
    set_floors();
    const double exec = mem_insts_ == 0 ? without_memory() : with_memory();
    term("Exec", "cycles", exec);
    term("Synch_cost", "cycles", synch_cost_);
    out_.cycles = exec + synch_cost_;
    if (synch_cost_ > exec) out_.limit = "barriers: warps wait for each other's memory accesses";
    term("Exec_total", "cycles", out_.cycles);
    term("CPI", "cycles",
         out_.cycles /
             (total_insts_ * (c_.threads_per_block / c_.threads_per_warp) * (c_.blocks / c_.active_sms)));
    if (rep_ < 1)
      note(
          "The grid does not fill the SMs once: less than one wave of blocks is counted as that part of a "
          "wave.");
    return std::move(out_);
  }

 private:
  void term(const char* name, const char* unit, double value) {
    out_.terms.push_back({name, unit, value, Evidence::verified});
  }
  void note(std::string text) { out_.notes.push_back(std::move(text)); }

  void set_floors() {
    const double warps = c_.blocks * warps_per_block_;
    out_.compute_floor = comp_cycles_ * warps / c_.active_sms;
    // Bytes that threads ask for, over GB/s, are ns; times GHz cycles.
    out_.bandwidth_floor = c_.load_bytes_per_warp * mem_insts_ * warps / c_.mem_bandwidth * c_.freq;
  }

  double without_memory() {
    term("Comp_cycles", "cycles", comp_cycles_);
    term("Rep", "1", rep_);
    out_.which_case = "no memory accesses";
    out_.limit = "issue: the SM's issue rate times its instructions";
    if (c_.synch_insts > 0)
      note(
          "Barriers cost nothing here: the model derives their cost from memory accesses, and there are "
          "none.");
    note("MWP and CWP do not exist without memory accesses.");
    return comp_cycles_ * n_ * rep_;
  }

  Parallelism parallelism() const {
    Parallelism p;
    const double w_u = c_.uncoal_mem_insts / mem_insts_, w_c = c_.coal_mem_insts / mem_insts_;
    p.mem_l = mem_l_uncoal_ * w_u + c_.mem_ld * w_c;
    p.departure = c_.departure_del_uncoal * c_.uncoal_per_mw * w_u + c_.departure_del_coal * w_c;
    p.without_bw_full = p.mem_l / p.departure;
    const double bw_per_warp = c_.freq * c_.load_bytes_per_warp / p.mem_l;
    p.peak_bw = c_.mem_bandwidth / (bw_per_warp * c_.active_sms);
    p.mwp = std::min({p.without_bw_full, n_, p.peak_bw});
    p.cwp_full = (mem_cycles_ + comp_cycles_) / comp_cycles_;
    p.cwp = std::min(p.cwp_full, n_);
    return p;
  }

  void list(const Parallelism& p) {
    term("Mem_L", "cycles", p.mem_l);
    term("Departure_delay", "cycles", p.departure);
    term("MWP_Without_BW_full", "warps", p.without_bw_full);
    term("BW_per_warp", "GB/s", c_.freq * c_.load_bytes_per_warp / p.mem_l);
    term("MWP_peak_BW", "warps", p.peak_bw);
    term("MWP", "warps", p.mwp);
    term("Comp_cycles", "cycles", comp_cycles_);
    term("Mem_cycles", "cycles", mem_cycles_);
    term("CWP_full", "warps", p.cwp_full);
    term("CWP", "warps", p.cwp);
    term("Rep", "1", rep_);
  }

  double with_memory() {
    const Parallelism p = parallelism();
    list(p);
    if (p.mwp < 1)
      note(
          "MWP is below 1: not even one access at a time is served as fast as it is asked for. Its terms MWP "
          "- 1 are taken as 0.");
    const double rest = std::max(p.mwp - 1, 0.0);
    Cases cases;
    cases.few_warps = (mem_cycles_ + comp_cycles_ + comp_cycles_ / mem_insts_ * rest) * rep_;
    cases.memory = (mem_cycles_ * n_ / p.mwp + comp_cycles_ / mem_insts_ * rest) * rep_;
    cases.computation = (p.mem_l + comp_cycles_ * n_) * rep_;
    term("Exec_case_1", "cycles", cases.few_warps);
    term("Exec_case_2", "cycles", cases.memory);
    term("Exec_case_3", "cycles", cases.computation);
    const double barrier_warps = std::max(std::min(p.mwp, warps_per_block_) - 1, 0.0);
    synch_cost_ = p.departure * barrier_warps * c_.synch_insts * c_.active_blocks_per_sm * rep_;
    return choose(p, cases);
  }

  double choose(const Parallelism& p, const Cases& cases) {
    if (p.mwp == n_ && p.cwp == n_) {
      out_.which_case = "1: MWP = N and CWP = N";
      out_.limit = "latency: all warps wait for memory together";
      return cases.few_warps;
    }
    const bool clause = comp_cycles_ > mem_cycles_;
    if (p.cwp >= p.mwp || (rule_ == Rule::paper && clause)) {
      out_.which_case = p.cwp >= p.mwp ? "2: CWP >= MWP" : "2: Comp_cycles > Mem_cycles";
      if (p.mwp == p.peak_bw)
        out_.limit = "bandwidth: MWP is what DRAM's bandwidth allows";
      else if (p.mwp == p.without_bw_full)
        out_.limit = "departure: MWP is what the gaps between transactions allow";
      else
        out_.limit = "warps: MWP is the number of resident warps";
      if (p.cwp < p.mwp)
        note(
            "Rule paper: this case only because Comp_cycles > Mem_cycles; MWP > CWP says that the kernel is "
            "bound by computation (--rule order).");
      return cases.memory;
    }
    out_.which_case = "3: MWP > CWP";
    out_.limit = "issue: the SM's issue rate times its instructions";
    return cases.computation;
  }

  const Counts& c_;
  Rule rule_;
  double warps_per_block_, n_, mem_insts_, total_insts_, rep_, mem_l_uncoal_, comp_cycles_, mem_cycles_;
  double synch_cost_ = 0;
  Evaluation out_;
};

class MwpCwp final : public Model {
 public:
  std::string_view name() const override { return "mwp-cwp"; }
  std::string_view title() const override { return "Hong and Kim 2009"; }
  std::span<double C::*const> needs() const override { return mwp_cwp_needs; }
  std::span<const std::string_view> deviations() const override { return mwp_cwp_deviations; }
  Evaluation evaluate(const Counts& counts, const Options& options) const override {
    return Evaluator(counts, options.rule).run();
  }
};

}  // namespace

const Model& mwp_cwp() {
  static const MwpCwp model;
  return model;
}

}  // namespace simtlab::models
