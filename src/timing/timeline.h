// What one SM did in a window of time, as events for a picture (result/timeline.h).
#pragma once

#include <vector>

#include "machine/code.h"
#include "ptx/module.h"
#include "result/timeline.h"
#include "timing/messages.h"
#include "timing/timing.h"

namespace simtlab::timing {

class TimelineRecorder {
 public:
  TimelineRecorder(std::uint32_t sm, const TimelineWindow& window)
      : sm_(sm),
        window_(window),
        on_(window.to > window.from && (window.sm == TimelineWindow::all_sms || window.sm == sm)) {}

  void begin(Cycle epoch) {
    epoch_ = epoch;
    blocks_.clear();
    states_.clear();
    open_ = 0;
  }
  // States of warps are asked for, and the window is not over, or what was begun in it has not ended.
  bool states(Cycle now) const { return on_ && window_.states && (epoch_ + now < window_.to || open_ != 0); }
  // The warp is in this state from now on; empty: it is no more.
  void state(std::uint32_t warp, std::string_view name, Cycle now) {
    if (states_.size() <= warp) states_.resize(std::size_t{warp} + 1);
    auto& [is, since] = states_[warp];
    if (epoch_ + now >= window_.to) name = {};
    if (is == name) return;
    const Cycle from = std::max(epoch_ + since, window_.from), to = std::min(epoch_ + now, window_.to);
    if (!is.empty() && to > from)
      add({result::TimelineEvent::Kind::state, is, sm_, warp, from, to - from, 0, 0, 0});
    open_ += (name.empty() ? 0 : 1) - (is.empty() ? 0 : 1);
    is = name, since = now;
  }
  void issued(std::uint32_t warp, const ptx::Function& function, std::uint32_t pc, unsigned lanes,
              Cycle now) {
    if (!on_ || !window_.events || !inside(now)) return;
    const ptx::Inst& inst = function.code[pc];
    add({result::TimelineEvent::Kind::instruction, name_of(function, pc), sm_, warp, epoch_ + now, 1,
         inst.line, inst.source_line, lanes, function.machine != nullptr});
  }
  void load(std::uint32_t warp, const ptx::Function& function, std::uint32_t pc, Cycle from, Cycle to) {
    if (!on_ || !window_.events || !inside(from)) return;
    const ptx::Inst& inst = function.code[pc];
    add({result::TimelineEvent::Kind::load, name_of(function, pc), sm_, warp, epoch_ + from, to - from,
         inst.line, inst.source_line, 0, function.machine != nullptr});
  }
  void block_begins(std::uint32_t slot, std::uint64_t block, Cycle now) {
    if (!on_) return;
    if (blocks_.size() <= slot) blocks_.resize(std::size_t{slot} + 1);
    blocks_[slot] = {block, now};
  }
  // A block is there whenever it touches the window.
  void block_ends(std::uint32_t slot, Cycle now) {
    if (!on_ || slot >= blocks_.size()) return;
    const auto [block, since] = blocks_[slot];
    if (epoch_ + now < window_.from || epoch_ + since >= window_.to) return;
    add({result::TimelineEvent::Kind::block, {}, sm_, slot, epoch_ + since, now - since, 0, 0, block});
  }

  // Hands over what was recorded; more than the limit was left out.
  void move_to(result::Timeline& out) {
    for (result::TimelineEvent& event : events_) out.events.push_back(std::move(event));
    out.left_out += left_out_;
    events_.clear();
    left_out_ = 0;
  }

 private:
  struct BlockStart {
    std::uint64_t block = 0;
    Cycle since = 0;
  };
  static constexpr std::size_t most_events = 1u << 20;  // of an SM
  // Of machine code the mnemonic, which lives as long as the tables of forms: to the end.
  static std::string_view name_of(const ptx::Function& function, std::uint32_t pc) {
    return function.machine ? function.machine->instructions[pc].mnemonic()
                            : ptx::name_of(function.code[pc].op);
  }
  bool inside(Cycle now) const { return epoch_ + now >= window_.from && epoch_ + now < window_.to; }
  void add(const result::TimelineEvent& event) {
    if (events_.size() < most_events)
      events_.push_back(event);
    else
      ++left_out_;
  }

  std::uint32_t sm_;
  TimelineWindow window_;
  bool on_;
  Cycle epoch_ = 0;
  std::vector<BlockStart> blocks_;
  struct WarpState {
    std::string_view name;
    Cycle since = 0;
  };
  std::vector<WarpState> states_;  // by warp
  int open_ = 0;                   // warps that are in one
  std::vector<result::TimelineEvent> events_;
  std::uint64_t left_out_ = 0;
};

}  // namespace simtlab::timing
