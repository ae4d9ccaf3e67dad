#include "models/units.h"

#include <algorithm>
#include <cmath>

#include "device/op_class.h"

namespace simtlab::models {
namespace {

// Lines that L1 looks up in a cycle; one where nobody says.
double tags_per_cycle(const Counts& c) { return std::isnan(c.tags_per_cycle) ? 1 : c.tags_per_cycle; }

using device::Lanes;
using device::OpClass;
using device::Pipe;

// Pipelines that the models see as units of lanes, in their order.
const std::vector<Pipe>& units_of_lanes() {
  static const std::vector<Pipe> all = [] {
    std::vector<Pipe> out;
    for (std::size_t p = 0; p < device::pipe_count; ++p)
      if (!device::pipe_traits[p].unit.empty()) out.push_back(static_cast<Pipe>(p));
    std::ranges::stable_sort(out, {}, [](Pipe p) { return device::traits(p).unit_place; });
    return out;
  }();
  return all;
}

class Collector {
 public:
  Collector(const Counts& c, double dram_bandwidth, double issue_per_cycle)
      : c_(c), dram_bandwidth_(dram_bandwidth), issue_per_cycle_(issue_per_cycle) {}

  std::vector<Unit> run() {
    if (!(c_.total_warps > 0) || !(c_.active_sms > 0)) return {};
    if (knows_mix(c_)) {
      cores();
      pipeline();
      for (const Pipe p : units_of_lanes()) {
        const device::PipeTraits& unit = device::traits(p);
        sm(unit.unit, unit.unit_doc, true, !unit.shared_by_sm, lanes(p));
      }
      if (c_.insts > 0 && issue_per_cycle_ > 0)
        sm("issue", "the issue slots of the schedulers", true, true, c_.insts / issue_per_cycle_);
      shared();
      load_store();
    }
    traffic();
    return std::move(out_);
  }

 private:
  // Cycles of a pipeline's lanes for the classes that always run there, and then for those that do on this
  // machine.
  double lanes(Pipe pipe) const {
    double cycles = 0;
    for (const bool always : {true, false})
      device::for_classes(
          [&](OpClass c) {
            return always == (device::traits(c).lanes == Lanes::of_pipe) && pipe_of(c) == pipe;
          },
          [&](OpClass c) { cycles += of(c); });
    return cycles;
  }
  Pipe pipe_of(OpClass c) const { return device::pipe_of(c, c_.cores_shared == 1, c_.mix.throughput); }
  double of(OpClass c) const {
    const std::size_t k = device::index(c);
    return c_.mix.insts[k] > 0 ? c_.mix.insts[k] * c_.warp_size / c_.mix.throughput[k] : 0;
  }

  void sm(std::string_view name, std::string_view doc, bool compute, bool per_scheduler, double warp_cycles) {
    if (warp_cycles > 0)
      out_.push_back({name, doc, Level::sm, compute, per_scheduler, warp_cycles,
                      warp_cycles * c_.total_warps / c_.active_sms});
  }
  void gpu(std::string_view name, std::string_view doc, double cycles) {
    if (cycles > 0) out_.push_back({name, doc, Level::gpu, false, false, cycles / c_.total_warps, cycles});
  }

  // Integer, logic and floating point: on one set of cores, or integer beside floating point.
  void cores() {
    const bool shared = c_.cores_shared == 1;
    double fp = 0, integer = 0, slow = 0;
    const auto of_lanes = [](Lanes lanes) {
      return [lanes](OpClass c) { return device::traits(c).lanes == lanes; };
    };
    device::for_classes(
        [](OpClass c) {
          return device::traits(c).lanes == Lanes::of_pipe && device::traits(c).pipe == Pipe::fma;
        },
        [&](OpClass c) { fp += of(c); });
    device::for_classes(of_lanes(Lanes::integer), [&](OpClass c) { integer += of(c); });
    for (const Lanes either : {Lanes::multiplier, Lanes::bit})
      device::for_classes(of_lanes(either), [&](OpClass c) {
        const Pipe pipe = pipe_of(c);
        (pipe == Pipe::slow_int ? slow : pipe == Pipe::alu ? integer : fp) += of(c);
      });
    if (shared) {
      sm("cores", "the cores", true, true, fp + integer);
    } else {
      sm("fp32", "the floating-point lanes", true, true, fp);
      sm("integer", "the integer lanes", true, true, integer);
    }
    sm("integer-slow", "the units of integer multiplication and bit operations", true, true, slow);
  }

  // Known from the machine instructions themselves; only where the classes say less, because their units are
  // named.
  void pipeline() {
    double most = 0;
    for (std::size_t k = 0; k < c_.mix.insts.size(); ++k) most = std::max(most, of(static_cast<OpClass>(k)));
    for (const Unit& u : out_) most = std::max(most, u.warp_cycles);
    if (c_.pipe_cycles > most) sm("pipeline", "the busiest pipeline", true, true, c_.pipe_cycles);
  }

  void shared() {
    double passes = 0;
    for (const bool access : {true, false})
      device::for_classes(
          [&](OpClass c) { return pipe_of(c) == Pipe::mio && access == device::accesses_memory(c); },
          [&](OpClass c) {
            const bool plain = access && device::traits(c).access != device::Access::atomic;
            passes += of(c) * (plain && !std::isnan(c_.shared_passes) ? c_.shared_passes : 1);
          });
    sm("shared", "shared memory: its passes, and shuffles", false, false, passes);
  }

  // The load-store unit handles an access at the rate of its lanes, or of L1's bytes.
  void load_store() {
    double cycles = lanes(Pipe::lg);
    if (c_.l1_bytes > 0 && c_.l1_bytes_per_cycle > 0)
      cycles = std::max(cycles, c_.l1_bytes / c_.total_warps / c_.l1_bytes_per_cycle);
    // A line in each bank of tags at most
    if (c_.lines_per_access > 0 && c_.mem_insts > 0)
      cycles = std::max(cycles, c_.mem_insts * std::max(1.0, c_.lines_per_access / tags_per_cycle(c_)));
    sm("l1", "L1 and the load-store unit", false, false, cycles);
  }

  void traffic() {
    if (c_.l2_bytes > 0) ports();
    if (c_.l2_bytes_per_cycle > 0) gpu("l2", "L2's bandwidth", c_.l2_bytes / c_.l2_bytes_per_cycle);
    if (dram_bandwidth_ > 0) gpu("dram", "DRAM's bandwidth", c_.dram_bytes / dram_bandwidth_ * c_.freq);
  }

  // Stores pass L1, loads only when they miss it.
  void ports() {
    if (!knows_mix(c_) || !(c_.l1_bytes >= 0) || !(c_.mem_insts > 0)) return;
    const double stores = c_.mix.insts[device::index(OpClass::store)] / c_.mem_insts;
    const double written = std::min(c_.l1_bytes * stores, c_.l2_bytes), read = c_.l2_bytes - written;
    if (c_.sm_read_bytes_per_cycle > 0)
      sm("port-in", "what an SM receives from the network", false, false,
         read / c_.total_warps / c_.sm_read_bytes_per_cycle);
    if (c_.sm_write_bytes_per_cycle > 0)
      sm("port-out", "what an SM sends into the network", false, false,
         written / c_.total_warps / c_.sm_write_bytes_per_cycle);
  }

  const Counts& c_;
  double dram_bandwidth_, issue_per_cycle_;
  std::vector<Unit> out_;
};

}  // namespace

double access_latency(const Counts& c) {
  if (c.mem_insts == 0) return 0;
  // An access waits for the slowest of its lines.
  const double lines = std::isnan(c.lines_per_access) ? 1 : c.lines_per_access;
  const auto any = [&](double ratio) { return 1 - std::pow(1 - ratio, lines); };
  const double miss = any(c.l1_miss_ratio), dram = any(c.l2_miss_ratio);
  const double level = (1 - miss) * c.l1_lat + miss * ((1 - dram) * c.l2_lat + dram * c.dram_lat);
  const double bytes = c.l1_bytes / (c.mem_insts * c.total_warps * lines);  // of a line
  const double pass =
      std::isnan(bytes) || std::isnan(c.l1_bytes_per_cycle) ? 1 : std::max(1.0, bytes / c.l1_bytes_per_cycle);
  return level + (lines - 1) * pass / tags_per_cycle(c);
}

bool knows_mix(const Counts& c) {
  double insts = 0;
  for (std::size_t k = 0; k < c.mix.insts.size(); ++k) {
    if (std::isnan(c.mix.insts[k]) || (c.mix.insts[k] > 0 && std::isnan(c.mix.throughput[k]))) return false;
    insts += c.mix.insts[k];
  }
  return insts > 0;
}

double attainable_issue(const Counts& c) {
  if (std::isnan(c.ilp) || std::isnan(c.schedulers)) return c.issue_per_cycle;
  // Groups of independent instructions with a mean of ilp and geometrically distributed sizes, each group
  // issued `width` at a time.
  const double width = c.issue_per_cycle / c.schedulers;
  return width <= 1 ? c.issue_per_cycle
                    : c.schedulers * std::min(c.ilp * (1 - std::pow(1 - 1 / c.ilp, width)), width);
}

std::vector<Unit> units_of(const Counts& counts, double dram_bandwidth, double issue_per_cycle) {
  return Collector(counts, dram_bandwidth, issue_per_cycle).run();
}

const Unit* longest(const std::vector<Unit>& units, bool compute) {
  const Unit* out = nullptr;
  for (const Unit& u : units)
    if (u.compute == compute && (out == nullptr || u.grid_cycles > out->grid_cycles)) out = &u;
  return out;
}

const Unit* longest(const std::vector<Unit>& units) {
  const Unit *compute = longest(units, true), *memory = longest(units, false);
  if (compute == nullptr || memory == nullptr) return compute != nullptr ? compute : memory;
  return compute->grid_cycles >= memory->grid_cycles ? compute : memory;
}

}  // namespace simtlab::models
