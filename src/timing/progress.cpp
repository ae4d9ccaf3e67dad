// Does the program get anywhere, is it within its limits, has nothing been lost?
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/pulse.h"
#include "exec/spin.h"
#include "timing/cycle_gpu_impl.h"

namespace simtlab::timing {

// The GPU is idle: everything that was sent has arrived, every slot is accounted for. What does not hold is a
// fault of the simulator.
void CycleGpu::Impl::check_end(Cycle end) const {
  SlotCounts slots{};
  for (const Sm& sm : sms) {
    SIMTLAB_ASSERT(sm.unfinished().empty(), sm.unfinished().c_str());
    sm.add_slots(end, slots);
  }
  SIMTLAB_ASSERT(memory.unfinished().empty(), memory.unfinished().c_str());
  SIMTLAB_ASSERT(listener.replies_left() == 0, "every observed reply reached its SM");
  std::uint64_t all = 0;
  for (const std::uint64_t count : slots) all += count;
  SIMTLAB_ASSERT(all == end * device.sm.count * device.sm.schedulers,
                 "every scheduler slot has exactly one reason");
}

// Can anybody ever go on? Asked seldom, and less and less often, unless blocks come and go.
void CycleGpu::Impl::look_ahead(Cycle until) {
  if (!watch.begin_quantum()) return;
  std::uint64_t instructions = 0, blocks = 0;
  for (const Sm& sm : sms) instructions += sm.accounts().warp_instructions();
  for (const auto& launch : active) blocks += launch->grid.next + launch->ended_blocks;
  const std::uint64_t work = watch.work(instructions);
  if (!watch.due(work, blocks)) return;
  check_stuck(watch.steps(), until);
  watch.looked(work);
}

// Throws if every warp that is there spins or waits at a barrier, and neither a block nor anybody outside can
// come in between: memory is as all have left it, for this is between quanta. until: when the next launch or
// copy comes; never: none does before a launch has ended.
void CycleGpu::Impl::check_stuck(std::uint32_t steps, Cycle until) {
  if (until != never) return;
  std::vector<exec::Stuck> who;
  for (Sm& sm : sms)
    if (!sm.stuck(steps, who)) return;
  if (who.empty()) return;
  std::string left;
  for (const auto& launch : active) {
    const stream::WarpSource& source = *launch->context.launch;
    const Grid& grid = launch->grid;
    if (launch->left_out != 0)
      throw Error(
          ExitCode::unsupported, "sampling-waits",
          fmt::format("blocks of kernel '{}' wait for what others do, and sampling has left {} blocks out",
                      source.function().name, launch->left_out),
          "run it without --sample");
    if (!grid.all_handed_out())
      left += exec::not_started(source.function().name, source.grid(), source.block_number(grid.next),
                                grid.blocks - grid.next);
  }
  exec::report_stuck(who, left);
}

void CycleGpu::Impl::check_limits(Cycle now, Cycle until) {
  const auto where = [&](const ActiveLaunch& launch) {
    for (const Sm& sm : sms)
      if (std::string text = sm.blocks().whereabouts(&launch.context); !text.empty()) return text;
    return "kernel " + launch.context.launch->function().name;
  };
  if (options.interrupt != nullptr && *options.interrupt)
    throw Error(ExitCode::interrupted, "interrupted", where(*active.front()));
  if (options.max_cycles == 0) return;
  const auto over = std::ranges::find_if(
      active, [&](const auto& launch) { return now >= launch->begun + options.max_cycles; });
  if (over == active.end()) return;
  check_stuck(exec::Lookout::longest, until);  // the program's fault, not that of the limit
  throw Error(ExitCode::failure, "limit-cycles",
              fmt::format("kernel '{}' reached the limit of {} cycles: {}",
                          (*over)->context.launch->function().name, options.max_cycles, where(**over)),
              "raise --max-cycles, or shrink the problem");
}

// The SMs' counters are added up once in a while only: there may be many.
void CycleGpu::Impl::beat(Cycle now) {
  const ActiveLaunch& launch = *active.front();
  const bool other = watch.changes_to(launch.id);
  if (other) options.pulse->begin_kernel(launch.context.launch->function().name, launch.grid.blocks);
  if (other || watch.begin_beat()) tell(launch, now);
}

void CycleGpu::Impl::tell(const ActiveLaunch& launch, Cycle now) const {
  std::uint64_t instructions = 0;
  for (const Sm& sm : sms) instructions += sm.accounts().counters().warp_instructions;
  options.pulse->at(launch.ended_blocks, launch.grid.blocks, now, instructions);
}

// Nothing can happen any more, and blocks are there. A deadlock of the program is thrown as one; anything
// else is our fault.
void CycleGpu::Impl::stuck() const {
  for (const Sm& sm : sms) {
    sm.blocks().check_progress();
    SIMTLAB_ASSERT(sm.idle(), ("an SM with resident blocks has something to do: " + sm.unfinished()).c_str());
  }
  SIMTLAB_ASSERT(active.empty(), "a launch with blocks left has an SM that takes them");
}

}  // namespace simtlab::timing
