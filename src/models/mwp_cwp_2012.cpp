// The extension of MWP-CWP: Sim, Dasgupta, Kim and Vuduc, "A performance analysis framework for identifying
// potential benefits in GPGPU applications", PPoPP 2012. Adds arithmetic latency, parallelism within a warp,
// a cache, special function units, barriers and divergence, and says how much each kind of optimisation could
// gain at most.
//
// Equations marked `recalled` were not checked against the paper; the output marks what follows from them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/model.h"

namespace simtlab::models {
namespace {

using C = Counts;

constexpr double C::*mwp_cwp_2012_needs[] = {&C::freq,
                                             &C::active_sms,
                                             &C::total_warps,
                                             &C::n,
                                             &C::insts,
                                             &C::mem_insts,
                                             &C::sync_insts,
                                             &C::sfu_insts,
                                             &C::fp_insts,
                                             &C::avg_inst_lat,
                                             &C::fp_lat,
                                             &C::ilp,
                                             &C::mlp,
                                             &C::warp_size,
                                             &C::simd_width,
                                             &C::sfu_width,
                                             &C::dram_lat,
                                             &C::hit_lat,
                                             &C::miss_ratio,
                                             &C::avg_trans_warp,
                                             &C::delta,
                                             &C::mem_peak_bandwidth,
                                             &C::transaction_size,
                                             &C::gamma,
                                             &C::o_cfdiv,
                                             &C::o_bank,
                                             &C::useful_bytes};
constexpr std::string_view mwp_cwp_2012_deviations[] = {
    "D-PREDICT-1", "D-PREDICT-3", "D-PREDICT-6", "D-PREDICT-7", "D-PREDICT-8", "D-PREDICT-9", "D-PREDICT-15"};

class Extended {
 public:
  explicit Extended(const Counts& c) : c_(c), warps_per_sm_(c.total_warps / c.active_sms) {}

  Evaluation run() {
    out_.compute_floor = c_.insts * warps_per_sm_ * c_.warp_size / c_.simd_width;
    out_.bandwidth_floor = c_.useful_bytes / c_.mem_peak_bandwidth * c_.freq;
    parallel_work();
    latencies();
    serial_work();
    memory();
    overlap();
    benefits();
    describe();
    return std::move(out_);
  }

 private:
  double term(const char* name, const char* unit, double value, Evidence evidence) {
    out_.terms.push_back({name, unit, value, evidence});
    return value;
  }

  void parallel_work() {
    using enum Evidence;
    itilp_max_ = term("ITILP_max", "1", c_.avg_inst_lat / (c_.warp_size / c_.simd_width), secondary);
    itilp_ = term("ITILP", "1", std::min(c_.ilp * c_.n, itilp_max_), secondary);
    w_parallel_ =
        term("W_parallel", "cycles", c_.insts * warps_per_sm_ * c_.avg_inst_lat / itilp_, secondary);
  }

  void latencies() {
    using enum Evidence;
    avg_dram_lat_ =
        term("avg_DRAM_lat", "cycles", c_.dram_lat + (c_.avg_trans_warp - 1) * c_.delta, secondary);
    amat_ = term("AMAT", "cycles", avg_dram_lat_ * c_.miss_ratio + c_.hit_lat, secondary);
  }

  void serial_work() {
    using enum Evidence;
    const double f_sync =
        term("F_sync", "cycles", c_.gamma * avg_dram_lat_ * (c_.mem_insts / c_.insts), recalled);
    o_sync_ = term("O_sync", "cycles", c_.sync_insts * warps_per_sm_ * f_sync, recalled);
    const double f_sfu =
        term("F_SFU", "1",
             std::min(std::max(c_.sfu_insts / c_.insts - c_.sfu_width / c_.simd_width, 0.0), 1.0), recalled);
    o_sfu_ = term("O_SFU", "cycles", c_.sfu_insts * warps_per_sm_ * (c_.warp_size / c_.sfu_width) * f_sfu,
                  recalled);
    w_serial_ = term("W_serial", "cycles", o_sync_ + o_sfu_ + c_.o_cfdiv + c_.o_bank, recalled);
    // As evidence goes, a sum is as good as its weakest part.
    t_comp_ = term("T_comp", "cycles", w_parallel_ + w_serial_, w_serial_ > 0 ? recalled : secondary);
  }

  void memory() {
    using enum Evidence;
    const double bw_per_warp =
        term("BW_per_warp", "GB/s", c_.freq * c_.transaction_size / avg_dram_lat_, secondary);
    mwp_peak_bw_ =
        term("MWP_peak_bw", "warps", c_.mem_peak_bandwidth / (bw_per_warp * c_.active_sms), verified);
    mwp_ = term("MWP", "warps", std::min({avg_dram_lat_ / c_.delta, mwp_peak_bw_, c_.n}), secondary);
    const double comp_cycles = term("comp_cycles", "cycles", c_.insts * c_.avg_inst_lat / itilp_, secondary);
    const double mem_cycles = term("mem_cycles", "cycles", c_.mem_insts * amat_ / c_.mlp, secondary);
    const double cwp_full = term("CWP_full", "warps", (mem_cycles + comp_cycles) / comp_cycles, verified);
    cwp_ = term("CWP", "warps", std::min(cwp_full, c_.n), verified);
    const double mwp_cp = term("MWP_cp", "warps", std::min(std::max(1.0, cwp_ - 1), mwp_), secondary);
    itmlp_ = term("ITMLP", "1", std::min(c_.mlp * mwp_cp, mwp_peak_bw_), secondary);
    t_mem_ = term("T_mem", "cycles", c_.mem_insts * warps_per_sm_ / itmlp_ * amat_, secondary);
  }

  void overlap() {
    using enum Evidence;
    const double zeta = cwp_ <= mwp_ ? 1 : 0;
    const double f_overlap = term("F_overlap", "1", (c_.n - zeta) / c_.n, recalled);
    t_overlap_ = term("T_overlap", "cycles", std::min(t_comp_ * f_overlap, t_mem_), recalled);
    out_.cycles = term("T_exec", "cycles", t_comp_ + t_mem_ - t_overlap_, recalled);
  }

  void benefits() {
    using enum Evidence;
    const double at_most = warps_per_sm_ / itilp_max_;
    const double b_serial = term("B_serial", "cycles", w_serial_, recalled);
    const double b_itilp = term("B_itilp", "cycles",
                                std::max(w_parallel_ - c_.insts * at_most * c_.avg_inst_lat, 0.0), recalled);
    const double t_fp = term("T_fp", "cycles", c_.fp_insts * at_most * c_.fp_lat, recalled);
    double b_fp = t_comp_ - t_fp - b_itilp - b_serial;
    if (b_fp < 0) {
      out_.notes.push_back(
          fmt::format("B_fp would be {:.6g}: floating-point instructions are slower than the mean of all "
                      "(fp_lat > avg_inst_lat). It is taken as 0.",
                      b_fp));
      b_fp = 0;
    }
    term("B_fp", "cycles", b_fp, recalled);
    const double t_mem_min = term("T_mem_min", "cycles", out_.bandwidth_floor, recalled);
    const double exposed = term("T'_mem", "cycles", t_mem_ - t_overlap_, recalled);
    const double b_memlp = term("B_memlp", "cycles", std::max(exposed - t_mem_min, 0.0), recalled);
    out_.benefits = {{"memlp", b_memlp}, {"fp", b_fp}, {"itilp", b_itilp}, {"serial", b_serial}};
  }

  void describe() {
    out_.which_case = cwp_ <= mwp_ ? "CWP <= MWP" : "CWP > MWP";
    const std::pair<double, const char*> parts[] = {
        {t_mem_ - t_overlap_, itmlp_ == mwp_peak_bw_
                                  ? "bandwidth: memory time that computation does not hide"
                                  : "memory parallelism: memory time that computation does not hide"},
        {w_parallel_, itilp_ < itilp_max_ ? "arithmetic latency: too few independent instructions and warps"
                                          : "throughput of the arithmetic lanes"},
        {o_sync_, "barriers"},
        {o_sfu_, "special function units"},
        {c_.o_cfdiv, "divergence"},
        {c_.o_bank, "bank conflicts"}};
    out_.limit = std::ranges::max_element(parts, {}, &std::pair<double, const char*>::first)->second;
    // When memory takes longer than all computation, the exposed rest may be the smaller part and still set
    // the time.
    if (t_mem_ > t_comp_) out_.limit = parts[0].second;
    if (o_sync_ > t_comp_ / 2)
      out_.notes.push_back(
          fmt::format("Barriers are {:.0f} % of the computation time. The equation is recalled and looks too "
                      "large with gamma = {:g}: fit gamma from a barrier sweep.",
                      100 * o_sync_ / t_comp_, c_.gamma));
    out_.notes.push_back(
        "T_exec rests on recalled equations (T_overlap always; O_sync, O_SFU and W_serial where they are not "
        "0), and so do all benefits.");
  }

  const Counts& c_;
  double warps_per_sm_;
  double itilp_max_ = 0, itilp_ = 0, w_parallel_ = 0, avg_dram_lat_ = 0, amat_ = 0, o_sync_ = 0, o_sfu_ = 0,
         w_serial_ = 0, t_comp_ = 0;
  double mwp_peak_bw_ = 0, mwp_ = 0, cwp_ = 0, itmlp_ = 0, t_mem_ = 0, t_overlap_ = 0;
  Evaluation out_;
};

class MwpCwp2012 final : public Model {
 public:
  std::string_view name() const override { return "mwp-cwp-2012"; }
  std::string_view title() const override { return "Sim et al. 2012"; }
  std::span<double C::*const> needs() const override { return mwp_cwp_2012_needs; }
  std::span<const std::string_view> deviations() const override { return mwp_cwp_2012_deviations; }
  Evaluation evaluate(const Counts& counts, const Options&) const override { return Extended(counts).run(); }
};

}  // namespace

const Model& mwp_cwp_2012() {
  static const MwpCwp2012 model;
  return model;
}

}  // namespace simtlab::models
