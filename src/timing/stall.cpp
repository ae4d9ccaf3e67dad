#include "timing/stall.h"

namespace simtlab::timing {

std::string_view name_of(Stall stall) {
  static constexpr std::array<std::string_view, stall_count> names = {
      "selected",         "long_scoreboard", "short_scoreboard", "wait",           "math_pipe_throttle",
      "mio_throttle",     "lg_throttle",     "tex_throttle",     "barrier",        "membar",
      "branch_resolving", "dispatch",        "imc_miss",         "no_instruction", "drain",
      "sleeping",         "no_warp"};
  return names[static_cast<std::size_t>(stall)];
}

// Nsight Compute's split: results of the L1/texture path are the long scoreboard, those of other
// variable-latency units (shared memory, special functions, conversions, shuffles) the short one, fixed
// latencies are `wait`.
Stall dependence_stall(ptx::OpClass op_class) {
  switch (device::traits(op_class).wait) {
    case device::Wait::long_scoreboard: return Stall::long_scoreboard;
    case device::Wait::short_scoreboard: return Stall::short_scoreboard;
    case device::Wait::branch: return Stall::branch_resolving;
    case device::Wait::barrier: return Stall::barrier;
    case device::Wait::fence: return Stall::membar;
    case device::Wait::fixed_latency: break;
  }
  return Stall::wait;
}

}  // namespace simtlab::timing
