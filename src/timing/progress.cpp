// Does the program get anywhere, is it within its limits, has nothing been lost?
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/pulse.h"
#include "timing/gpu_impl.h"

namespace simtlab::timing {

// The GPU is idle: everything that was sent has arrived, every slot is accounted for. What does not hold is a fault of the simulator.
void Gpu::Impl::check_end(Cycle end) const {
  SlotCounts slots{};
  for (const Sm& sm : sms) {
    SIMTLAB_ASSERT(sm.unfinished().empty(), sm.unfinished().c_str());
    sm.add_slots(end, slots);
  }
  SIMTLAB_ASSERT(memory.unfinished().empty(), memory.unfinished().c_str());
  SIMTLAB_ASSERT(listener.replies_left() == 0, "every observed reply reached its SM");
  std::uint64_t all = 0;
  for (const std::uint64_t count : slots) all += count;
  SIMTLAB_ASSERT(all == end * device.sm.count * device.sm.schedulers, "every scheduler slot has exactly one reason");
}

// In the second half of what --max-cycles allows, at most that many cycles.
void Gpu::Impl::watch(Cycle now) {
  constexpr Cycle longest = 1'000'000;
  const Cycle after = options.max_cycles - std::min(options.max_cycles / 2, longest);
  if (watching || std::ranges::none_of(active, [&](const auto& launch) { return now >= launch->begun + after; })) return;
  watching = true;
  for (Sm& sm : sms) sm.begin_watch();
}

// Throws if no warp can ever go on: the program's fault, not that of the limit.
void Gpu::Impl::check_locked() const {
  std::vector<Wait> waits;
  for (const Sm& sm : sms)
    if (!sm.locked(waits)) return;
  if (waits.empty()) return;
  constexpr std::size_t most = 16;
  std::uint64_t warps = 0;
  std::string list;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const Wait& w = waits[i];
    warps += w.warps;
    if (i >= most) continue;
    const std::string who = fmt::format("warp {} of block {}{}", w.first_warp, w.first_block, w.warps > 1 ? fmt::format(" and {} more", w.warps - 1) : "");
    const ptx::Module& module = w.launch->module();
    const std::string what = w.barrier ? std::string("a barrier") : fmt::format("the word at {:#x} ({})", w.address, ptx::name_of(w.inst->op));
    list += fmt::format("; {} for {} at {}:{}", who, what, module.name, w.inst->line);
    if (const auto file = module.files.find(w.inst->file); w.inst->source_line != 0 && file != module.files.end())
      list += fmt::format(" ({}:{})", file->second, w.inst->source_line);
  }
  if (waits.size() > most) list += fmt::format("; {} other waits", waits.size() - most);
  const auto poll = std::ranges::find(waits, false, &Wait::barrier);
  if (poll == waits.end()) return;
  const ptx::Module& module = poll->launch->module();
  throw exec::Fault(exec::Fault::Kind::deadlock, "livelock",
                    module.diagnostic(poll->inst->line, poll->inst->column,
                                      fmt::format("kernel '{}' has locked itself: all {} warps that are there ask for the same words again and again or wait "
                                                  "at barriers, and none writes{}",
                                                  poll->launch->function().name, warps, list),
                                      "blocks that wait for others need those to be resident; lanes of a warp that take a lock must be able to release it"));
}

void Gpu::Impl::check_limits(Cycle now) const {
  const auto where = [&](const ActiveLaunch& launch) {
    for (const Sm& sm : sms)
      if (std::string text = sm.whereabouts(&launch.context); !text.empty()) return text;
    return "kernel " + launch.context.launch->function().name;
  };
  if (options.interrupt != nullptr && *options.interrupt) throw Error(ExitCode::interrupted, "interrupted", where(*active.front()));
  if (options.max_cycles == 0) return;
  const auto over = std::ranges::find_if(active, [&](const auto& launch) { return now >= launch->begun + options.max_cycles; });
  if (over == active.end()) return;
  check_locked();
  throw Error(ExitCode::failure, "limit-cycles",
              fmt::format("kernel '{}' reached the limit of {} cycles: {}", (*over)->context.launch->function().name, options.max_cycles, where(**over)),
              "raise --max-cycles, or shrink the problem");
}

// The SMs' counters are added up once in a while only: there may be many.
void Gpu::Impl::beat(Cycle now) {
  constexpr std::uint64_t seldom = 256;
  const ActiveLaunch& launch = *active.front();
  const bool other = std::exchange(told, launch.id) != launch.id;
  if (other) options.pulse->begin_kernel(launch.context.launch->function().name, launch.grid.blocks);
  if (other || ++beats % seldom == 0) tell(launch, now);
}

void Gpu::Impl::tell(const ActiveLaunch& launch, Cycle now) const {
  std::uint64_t instructions = 0;
  for (const Sm& sm : sms) instructions += sm.counters().warp_instructions;
  options.pulse->at(launch.ended_blocks, launch.grid.blocks, now, instructions);
}

// Nothing can happen any more, and blocks are there. A deadlock of the program is thrown as one; anything else is our fault.
void Gpu::Impl::stuck() const {
  for (const Sm& sm : sms) {
    sm.check_progress();
    SIMTLAB_ASSERT(sm.idle(), ("an SM with resident blocks has something to do: " + sm.unfinished()).c_str());
  }
  SIMTLAB_ASSERT(active.empty(), "a launch with blocks left has an SM that takes them");
}

}  // namespace simtlab::timing
