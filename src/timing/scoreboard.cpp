#include "timing/scoreboard.h"

namespace simtlab::timing {

void Scoreboard::begin(std::uint32_t warps) {
  warps_ = warps;
  slots_ = 0;
  entries_.clear();
  folded_.resize(std::size_t{warps} * most_folded);
  folded_count_.assign(warps, 0);
  pending_.assign(std::size_t{warps} * control_counters, {});
  holders_.begin(warps * control_counters);
}

void Scoreboard::widen(std::uint32_t slots) {
  if (slots <= slots_) return;
  std::vector<std::uint64_t> wide(std::size_t{warps_} * slots);
  for (std::size_t warp = 0; slots_ != 0 && warp < warps_; ++warp)
    std::copy_n(&entries_[warp * slots_], slots_, &wide[warp * slots]);
  entries_ = std::move(wide);
  slots_ = slots;
}

void Scoreboard::clear(std::uint32_t first_warp, std::uint32_t warps) {
  const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(std::size_t{first_warp} * slots_);
  std::fill_n(first, std::size_t{warps} * slots_, 0);
  std::fill_n(folded_count_.begin() + first_warp, warps, std::uint8_t{0});
  std::fill_n(pending_.begin() + static_cast<std::ptrdiff_t>(std::size_t{first_warp} * control_counters),
              std::size_t{warps} * control_counters, Pending{});
  holders_.clear(first_warp * control_counters, warps * control_counters);
}

void Scoreboard::raise(std::uint32_t warp, const Program& program, const InstInfo& info,
                       std::uint64_t value) {
  std::uint64_t* const board = of(warp);
  for (const std::uint16_t slot : program.registers(info).first(info.dst_count)) {
    if (program.waits_in_part())
      holders_.hold(warp * control_counters + slot, &info, value, cycle_of(value) == no_cycle);
    Pending& p = pending(warp, slot);
    if (cycle_of(value) == no_cycle) {
      if (p.loads++ == 0) p.latest = board[slot];
      board[slot] = value;
    } else if (p.loads > 0) {
      p.latest = std::max(p.latest, value);
    } else {
      board[slot] = std::max(board[slot], value);
    }
  }
}

void Scoreboard::lower(std::uint32_t warp, const Program& program, const InstInfo& info,
                       std::uint64_t value) {
  std::uint64_t* const board = of(warp);
  for (const std::uint16_t slot : program.registers(info).first(info.dst_count)) {
    if (program.waits_in_part()) holders_.let_go(warp * control_counters + slot, &info, value);
    Pending& p = pending(warp, slot);
    p.latest = std::max(p.latest, value);
    if (--p.loads == 0) board[slot] = p.latest;
  }
}

std::optional<std::uint64_t> Scoreboard::fold(std::uint32_t warp, const Program& program,
                                              const InstInfo& info, bool answers_under_way) {
  const std::uint64_t* const board = of(warp);
  // The answer of an atomic comes to its register at the end of a quantum, on top of what is there: also one
  // that nobody reads, whose register others use already.
  if (answers_under_way)
    for (const std::uint16_t slot : program.registers(info).first(info.dst_count))
      if (cycle_of(board[slot]) == no_cycle) return std::nullopt;
  Folded later{.program = &program, .info = &info};
  std::uint64_t latest = 0;
  for (const std::uint16_t slot : program.registers(info).subspan(info.dst_count)) {
    latest = std::max(latest, board[slot]);
    if (cycle_of(board[slot]) != no_cycle) {
      later.latest = std::max(later.latest, board[slot]);
    } else {
      if (answers_under_way || folded_count_[warp] == most_folded || later.count == later.open.size())
        return std::nullopt;
      later.open[later.count++] = slot;
    }
  }
  if (later.count > 0) folded_[std::size_t{warp} * most_folded + folded_count_[warp]++] = later;
  return latest;
}

void Scoreboard::resolve(std::uint32_t warp) {
  const std::uint64_t* const board = of(warp);
  Folded* const waiting = &folded_[std::size_t{warp} * most_folded];
  std::uint8_t left = 0;
  for (unsigned i = 0; i < folded_count_[warp]; ++i) {
    Folded f = waiting[i];
    unsigned open = 0;
    for (unsigned k = 0; k < f.count; ++k) {
      const std::uint64_t value = board[f.open[k]];
      if (cycle_of(value) == no_cycle)
        f.open[open++] = f.open[k];
      else
        f.latest = std::max(f.latest, value);
    }
    f.count = static_cast<std::uint8_t>(open);
    if (open == 0)
      set_destinations(warp, *f.program, *f.info, f.latest);
    else
      waiting[left++] = f;
  }
  folded_count_[warp] = left;
}

}  // namespace simtlab::timing
