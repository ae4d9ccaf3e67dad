// Memory first: of the warps that could issue, one whose next instruction goes to global memory, so that its
// long wait begins early and the arithmetic of the others hides it. The oldest of them; without any, the
// oldest of all.
#include "timing/scheduler.h"

namespace simtlab::timing {
namespace {

class MemoryFirst final : public WarpPolicy {
 public:
  unsigned select_warp(const WarpScheduler& scheduler, WarpMask eligible, Cycle) override {
    const WarpMask memory = eligible & scheduler.next_pipe[static_cast<std::size_t>(Pipe::lg)];
    return oldest_of(scheduler, memory != 0 ? memory : eligible);
  }
};

}  // namespace

extern constinit const SchedulerPolicy scheduler_memory_first =
    policy_entry<MemoryFirst>("The oldest ready warp that accesses global memory next, else the oldest");

}  // namespace simtlab::timing
