#include "report/because.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "report/format.h"
#include "report/hits.h"
#include "result/gains.h"

namespace simtlab::report {
namespace {

// The figures behind each estimate of result/gains.h.
class Grounds {
 public:
  explicit Grounds(const result::Metrics& metrics) : m_(metrics), waits_(result::waits_of(metrics)) {}

  std::string perfect_l1() const {
    return fmt::format("{} of the slots with warps wait for memory, and L1 has {}",
                       format_share(waits_.loads + waits_.queue), format_hits(m_, "l1"));
  }
  std::string infinite_dram_bandwidth() const {
    const double waiting =
        get("load.latency.dram_queue") + get("load.latency.dram_bank") + get("load.latency.dram_bus");
    return fmt::format("DRAM moves {} of what a copy can reach, {} of a load's time is waiting for it",
                       format_share(result::dram_use(m_)), share(waiting, get("load.latency")));
  }
  std::string no_bank_conflicts() const {
    return fmt::format("{} of the passes of shared memory are conflicts",
                       share(get("shared.bank_conflicts"), get("shared.wavefronts")));
  }
  std::string perfect_coalescing() const {
    return fmt::format("{} of the sectors that loads and stores touch could be spared",
                       format_share(result::spare_sectors(m_)));
  }
  std::string double_occupancy() const {
    return fmt::format(
        "{} of the slots with warps wait for results, and there are more blocks than fit at once",
        format_share(waits_.loads + waits_.on_chip));
  }
  std::string double_math() const {
    return fmt::format("{} of the slots wait for an arithmetic pipeline, the busiest has {} of its peak",
                       format_share(get("stall.math_pipe_throttle")), format_share(get("sol.compute")));
  }
  std::string zero_launch_cost() const {
    return fmt::format("launching costs {} beside {} of execution", format_time(get("gpu.launch_overhead")),
                       format_time(get("gpu.time")));
  }
  std::string perfect_fetch() const {
    return fmt::format(
        "{} of the slots wait for instructions, and {} of the lines of code that warps come to are not in "
        "the "
        "first instruction cache",
        format_share(get("stall.no_instruction")),
        share(get("instruction.l0.misses"), get("instruction.l0.accesses")));
  }
  std::string no_register_conflicts() const {
    const double cycles = get("register.bank_conflicts");
    return fmt::format(
        "operands that lie in one bank of registers hold schedulers up for {} cycles, {} of their slots",
        format_count(cycles), share(cycles, get("scheduler.slots")));
  }
  std::string unlimited_tags() const {
    return fmt::format(
        "{} of the slots with warps wait for the queue of loads and stores, and L1 looks up tags or moves "
        "data in {} of the cycles",
        format_share(waits_.queue), format_share(get("l1.utilisation")));
  }
  std::string wide_writes() const {
    const result::Masks masks = result::masks_of(m_);
    return fmt::format(
        "{} of the sectors that SMs write come with a mask, masks are {} of what SMs send, and {} of the "
        "slots with warps wait for the queue of loads and stores or for stores to end",
        format_share(masks.of_sectors), format_share(masks.of_flits),
        format_share(waits_.queue + waits_.stores));
  }
  std::string alone() const {
    return fmt::format("kernels of other streams ran in {} of its time", format_share(get("gpu.overlap")));
  }

 private:
  double get(const char* name) const { return m_.get(name).value_or(0); }
  static std::string share(double part, double all) { return format_share(all > 0 ? part / all : 0); }

  const result::Metrics& m_;
  result::Waits waits_;
};

}  // namespace

std::string because(const result::Metrics& metrics, std::string_view what_if) {
  // A row for each of device::what_ifs(); a test compares the names.
  using Clause = std::pair<std::string_view, std::string (Grounds::*)() const>;
  static constexpr Clause clauses[] = {{"perfect-l1", &Grounds::perfect_l1},
                                       {"infinite-dram-bandwidth", &Grounds::infinite_dram_bandwidth},
                                       {"no-bank-conflicts", &Grounds::no_bank_conflicts},
                                       {"perfect-coalescing", &Grounds::perfect_coalescing},
                                       {"double-occupancy", &Grounds::double_occupancy},
                                       {"double-math", &Grounds::double_math},
                                       {"zero-launch-cost", &Grounds::zero_launch_cost},
                                       {"perfect-fetch", &Grounds::perfect_fetch},
                                       {"no-register-conflicts", &Grounds::no_register_conflicts},
                                       {"unlimited-tags", &Grounds::unlimited_tags},
                                       {"wide-writes", &Grounds::wide_writes},
                                       {"alone", &Grounds::alone}};
  const Clause* const found = std::ranges::find(clauses, what_if, &Clause::first);
  return found == std::end(clauses) ? std::string() : (Grounds(metrics).*found->second)();
}

}  // namespace simtlab::report
