// What refreshes change in a channel without requests: a period of it taken down, so that many more like it
// are added at once instead of being gone through command by command.
//
// The parts of the channel show their state to a pattern in a fixed order: times, counts, and what has to be
// the same. A period later they show it again. Where every time has moved by the period or stands still, and
// all else is the same, the next period is like the last one; skip() then moves the times on and adds to the
// counts as often as asked. A time that stands still has to be over, or never.
#pragma once

#include <vector>

#include "memory/time.h"

namespace simtlab::memory::dram {

class IdlePattern {
 public:
  // What a part shows its state to. Times and counts are changed by skip() alone.
  class Visitor {
   public:
    void time(Cycle& value) { pattern_.see(value, Kind::time); }
    void count(std::uint64_t& value) { pattern_.see(value, Kind::count); }
    void same(std::uint64_t value) { pattern_.see(value, Kind::same); }

   private:
    friend class IdlePattern;
    explicit Visitor(IdlePattern& pattern) : pattern_(pattern) {}
    IdlePattern& pattern_;
  };

  // show(Visitor&): calls for every part, always in the same order.
  template <class Show>
  void begin(Cycle now, Show show) {
    from_ = now;
    seen_.clear();
    run(Pass::begin, show);
  }
  // A period after begin(): whether it repeats itself.
  template <class Show>
  bool repeats(Cycle period, Show show) {
    period_ = period;
    repeats_ = true;
    run(Pass::compare, show);
    return repeats_;
  }
  // After repeats(): so many periods more.
  template <class Show>
  void skip(std::uint64_t periods, Show show) {
    periods_ = periods;
    run(Pass::skip, show);
  }

 private:
  enum class Kind : std::uint8_t { time, count, same };
  enum class Pass : std::uint8_t { begin, compare, skip };

  template <class Show>
  void run(Pass pass, Show show) {
    pass_ = pass;
    next_ = 0;
    Visitor visitor(*this);
    show(visitor);
  }
  void see(std::uint64_t& value, Kind kind) {
    if (pass_ == Pass::begin) return seen_.push_back(value);
    const std::uint64_t change = value - seen_[next_++];
    if (pass_ == Pass::skip)
      value += periods_ * change;
    else if (kind == Kind::same)
      repeats_ = repeats_ && change == 0;
    else if (kind == Kind::time)
      repeats_ = repeats_ && (change == 0 ? value <= from_ || value == never : change == period_);
  }

  std::vector<std::uint64_t> seen_;  // of begin(), in the order of showing
  std::size_t next_ = 0;
  Pass pass_ = Pass::begin;
  Cycle from_ = 0, period_ = 0;
  std::uint64_t periods_ = 0;
  bool repeats_ = false;
};

}  // namespace simtlab::memory::dram
