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
  using enum ptx::OpClass;
  switch (op_class) {
    case load:
    case store:
    case atomic:
    case texture:
    case async_copy: return Stall::long_scoreboard;
    case sfu:
    case convert64:
    case shuffle:
    case shared:
    case shared_atomic:
    case constant: return Stall::short_scoreboard;
    case control: return Stall::branch_resolving;
    case barrier: return Stall::barrier;
    case fence: return Stall::membar;
    default: return Stall::wait;
  }
}

}  // namespace simtlab::timing
