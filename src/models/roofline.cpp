// The hierarchical roofline: S. Williams, A. Waterman and D. Patterson, "Roofline: an insightful visual
// performance model for multicore architectures", CACM 52(4), 2009; per cache level as in A. Ilic, F. Pratas
// and L. Sousa, "Cache-aware roofline model", 2014, and C. Yang, T. Kurth and S. Williams, "Hierarchical
// roofline analysis for GPUs", 2020.
//
// Every level of memory and every unit of computation gives a least time; the longest is the answer, and the
// floor of every other model. Rates are the theoretical ones of the machine: nothing is faster, and latency,
// tails and imbalance are left out.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/model.h"
#include "models/units.h"

namespace simtlab::models {
namespace {

using C = Counts;

constexpr double C::*roofline_needs[] = {&C::freq,
                                         &C::active_sms,
                                         &C::total_warps,
                                         &C::warp_size,
                                         &C::insts,
                                         &C::mem_insts,
                                         &C::issue_per_cycle,
                                         &C::cores_shared,
                                         &C::l1_bytes,
                                         &C::l2_bytes,
                                         &C::dram_bytes,
                                         &C::l1_bytes_per_cycle,
                                         &C::l2_bytes_per_cycle,
                                         &C::mem_peak_bandwidth,
                                         &C::shared_passes};
constexpr double C::*roofline_uses[] = {&C::flops,
                                        &C::lines_per_access,
                                        &C::pipe_cycles,
                                        &C::sm_read_bytes_per_cycle,
                                        &C::sm_write_bytes_per_cycle,
                                        &C::shared_insts,
                                        &C::shared_bytes_per_cycle};
constexpr std::string_view roofline_deviations[] = {"D-PREDICT-1", "D-PREDICT-7", "D-PREDICT-12"};

class Roofline final : public Model {
 public:
  std::string_view name() const override { return "roofline"; }
  std::string_view title() const override { return "Williams et al. 2009, per level of memory"; }
  std::span<double C::*const> needs() const override { return roofline_needs; }
  std::span<double C::*const> uses() const override { return roofline_uses; }
  bool needs_mix() const override { return true; }
  std::span<const std::string_view> deviations() const override { return roofline_deviations; }

  Evaluation evaluate(const Counts& c, const Options&) const override {
    Evaluation out;
    const auto units = units_of(c, c.mem_peak_bandwidth, c.issue_per_cycle);
    for (const Unit& u : units)
      out.terms.push_back({fmt::format("T_{}", u.name), "cycles", u.grid_cycles, Evidence::secondary});
    if (c.flops > 0) intensities(c, units, out);
    const Unit* slowest = longest(units);
    // A kernel without a countable unit: not reachable with a mix, but a quotient needs a time.
    out.cycles = slowest != nullptr ? slowest->grid_cycles : 0;
    out.terms.push_back({"T_exec", "cycles", out.cycles, Evidence::secondary});
    out.which_case = slowest == nullptr ? "nothing to do" : fmt::format("T_{} is the longest", slowest->name);
    out.limit = slowest == nullptr ? "nothing" : fmt::format("{}", slowest->doc);
    return out;
  }

 private:
  // Arithmetic intensity of each level, and what its roof allows.
  static void intensities(const Counts& c, const std::vector<Unit>& units, Evaluation& out) {
    const double shared_bytes = c.shared_insts * c.shared_passes * c.total_warps * 32 * 4;
    struct LevelOfMemory {
      const char* name;
      double bytes;
    };
    for (const LevelOfMemory& l : {LevelOfMemory{"dram", c.dram_bytes},
                                   {"l2", c.l2_bytes},
                                   {"l1", c.l1_bytes},
                                   {"shared", shared_bytes}})
      if (l.bytes > 0)
        out.terms.push_back(
            {fmt::format("intensity_{}", l.name), "1/byte", c.flops / l.bytes, Evidence::secondary});
    for (const Unit& u : units)
      if (u.grid_cycles > 0)
        out.terms.push_back({fmt::format("roof_{}", u.name), "GFLOP/s", c.flops / u.grid_cycles * c.freq,
                             Evidence::secondary});
  }
};

}  // namespace

const Model& roofline() {
  static const Roofline model;
  return model;
}

}  // namespace simtlab::models
