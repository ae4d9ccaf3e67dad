// Memory first: of the warps that could issue, one whose next instruction goes to global memory, so that its
// long wait begins early and the arithmetic of the others hides it. The oldest of them; without any, the
// oldest of all.
#include "timing/scheduler.h"

namespace simtlab::timing {
namespace {

unsigned pick(const WarpScheduler& scheduler, WarpScheduler::Mask eligible) {
  const WarpScheduler::Mask memory = eligible & scheduler.next_pipe[static_cast<std::size_t>(Pipe::lg)];
  return oldest_of(scheduler, memory != 0 ? memory : eligible);
}

}  // namespace

extern constinit const SchedulerPolicy scheduler_memory_first{
    "The oldest ready warp that accesses global memory next, else the oldest", pick};

}  // namespace simtlab::timing
