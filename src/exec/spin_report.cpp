// The error text about warps that can never go on.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "exec/spin.h"
#include "exec/state.h"
#include "ptx/machine_ops.h"
#include "ptx/shared_names.h"

namespace simtlab::exec {
namespace {

std::string tuple(const Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

// Warps that wait for the same in the same place.
struct Group {
  const Stuck* first = nullptr;
  std::uint64_t warps = 0;
};

std::vector<Group> grouped(std::span<const Stuck> who) {
  std::vector<Group> out;
  for (const Stuck& s : who) {
    const auto same = std::ranges::find_if(out, [&](const Group& g) {
      return g.first->inst == s.inst && g.first->why == s.why && g.first->address == s.address &&
             g.first->launch == s.launch;
    });
    if (same == out.end())
      out.push_back({&s, 1});
    else
      ++same->warps;
  }
  // Spinning warps come first: the other warps wait for them.
  std::ranges::stable_partition(out, [](const Group& g) { return g.first->why != Stuck::Why::barrier; });
  return out;
}

std::string shared_of(const Stuck& s) {
  const std::optional<ptx::SharedPlace> at = ptx::shared_place(
      *s.launch->module->module, *s.launch->entry->function, s.address % ptx::cluster_stride);
  return at ? fmt::format("byte {} of shared variable '{}'", at->offset, at->variable)
            : fmt::format("byte {:#x} of shared memory", s.address);
}

std::string allocation_of(const Stuck& s) {
  if (s.space == ptx::Space::shared) return fmt::format("shared memory ({})", shared_of(s));
  const Allocation* const in = s.launch->memory->find(s.address, s.bytes);
  if (in == nullptr) return "global memory";
  return fmt::format("global memory (byte {} of {})", s.address - in->address,
                     in->what.empty() ? "an allocation" : in->what);
}

std::string barrier_text(std::uint64_t state) {
  const std::uint32_t expected = ptx::expected_arrivals(state), pending = ptx::pending_arrivals(state);
  const std::int32_t bytes = ptx::bytes_under_way(state);
  std::string text = fmt::format("{} of {} arrivals are missing", pending, expected);
  if (bytes > 0) text += fmt::format(", {} bytes have not come", bytes);
  if (bytes < 0) text += fmt::format(", {} bytes came that nobody expected", -bytes);
  return text;
}

std::string wait_of(const Group& g) {
  const Stuck& s = *g.first;
  const char* const verb = g.warps > 1 ? "" : "s";
  switch (s.why) {
    case Stuck::Why::barrier:
      if (s.barrier == cluster_barrier)
        return fmt::format("wait{} at the barrier of the cluster ({} of {} threads arrived)", verb, s.arrived,
                           s.expected);
      return fmt::format("wait{} at barrier {} ({} of {} warps arrived)", verb, s.barrier, s.arrived,
                         s.expected);
    case Stuck::Why::read:
      if (s.space == ptx::Space::shared && (s.inst->mods.video & ptx::asks_barrier) != 0 &&
          s.inst->op == ptx::Op::ld)
        return fmt::format("wait{} for a phase of the barrier in shared memory ({}), where {} (thread {})",
                           verb, shared_of(s), barrier_text(s.value),
                           tuple(thread_of(*s.launch, s.warp, s.lane)));
      return fmt::format("read{} {} bytes at {:#x} of {} again and again, which stay {:#x} (thread {})", verb,
                         s.bytes, s.address, allocation_of(s), s.value,
                         tuple(thread_of(*s.launch, s.warp, s.lane)));
    case Stuck::Why::loop: break;
  }
  return fmt::format("go{} round a loop that reads nothing", g.warps > 1 ? "" : "es");
}

std::string describe(const Group& g) {
  const Stuck& s = *g.first;
  std::string text =
      fmt::format("warp {} of block {}", s.warp, tuple(block_at(s.launch->params.grid, s.block)));
  if (g.warps > 1) text += fmt::format(" and {} more", g.warps - 1);
  text += " " + wait_of(g) + " in " + kernel_name(*s.launch, *s.inst);
  if (s.waiting_lanes != 0)
    text += fmt::format(", while {} lanes of the same warp wait for the others", s.waiting_lanes);
  return text;
}

std::string hint_of(const Stuck& first, bool blocks_left) {
  if (first.why == Stuck::Why::loop)
    return "the loop has no end; if it is to wait for memory, read that by volatile or atomic accesses: "
           "others may be taken out of a loop";
  if (blocks_left)
    return "a block that waits for another needs it to be resident: launch no more blocks than fit the GPU, "
           "or let those that have begun do the work";
  if (first.waiting_lanes != 0)
    return "lanes of a warp that wait for each other: one side of a branch runs before the other (D-EXEC-1), "
           "so let the side that is waited for come first";
  return "who writes the word must be able to get there: not behind a barrier, a lock or an end that waits "
         "for the reader";
}

}  // namespace

Dim3 block_at(const Dim3& grid, std::uint64_t index) {
  return {static_cast<std::uint32_t>(index % grid.x), static_cast<std::uint32_t>(index / grid.x % grid.y),
          static_cast<std::uint32_t>(index / grid.x / grid.y)};
}

std::string not_started(const std::string& kernel, const Dim3& grid, std::uint64_t first,
                        std::uint64_t count) {
  if (count == 0) return {};
  return fmt::format(
      "; {} blocks of kernel {}, from block {} on, are not resident and cannot begin before one of these "
      "ends",
      count, kernel, tuple(block_at(grid, first)));
}

void report_stuck(std::span<const Stuck> who, const std::string& left) {
  SIMTLAB_ASSERT(!who.empty(), "somebody is stuck");
  constexpr std::size_t most = 8;
  const std::vector<Group> groups = grouped(who);
  std::string list;
  for (std::size_t i = 0; i < groups.size() && i < most; ++i) list += "; " + describe(groups[i]);
  if (groups.size() > most) list += fmt::format("; {} other waits", groups.size() - most);
  const Stuck& first = *groups.front().first;
  const std::string all = who.size() == 1 ? "the only warp that is there waits"
                                          : fmt::format("all {} warps that are there wait", who.size());
  throw Fault(Fault::Kind::deadlock, "deadlock",
              diagnose(*first.launch->module->module, *first.launch->entry->function, *first.inst,
                       fmt::format("Deadlock in kernel {}: {} for what nobody is left to change{}{}",
                                   first.launch->entry->function->name, all, list, left),
                       hint_of(first, !left.empty())));
}

}  // namespace simtlab::exec
