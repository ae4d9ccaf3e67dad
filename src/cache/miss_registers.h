// The miss registers (MSHRs) of an L1: lines under way, and when their sectors come.
//
// A line keeps the number of the register that it had last; the register says whether it is still of that
// line. So data that comes asks for nothing of the lines.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "cache/lines.h"
#include "cache/time.h"

namespace simtlab::cache {

class MissRegisters {
 public:
  struct Miss {
    Time until = 0;                        // when the last of its outstanding sectors comes
    std::uint32_t line = LineTable::none;  // its place in the table of lines
    std::uint8_t pending = 0;              // sectors outstanding
  };
  // Sectors of a line that come together.
  struct Arrival {
    Time ready;
    std::uint64_t number;  // of the line
    std::uint32_t miss;    // the register
    std::uint8_t sectors;
    bool operator>(const Arrival& o) const { return ready != o.ready ? ready > o.ready : number > o.number; }
  };

  explicit MissRegisters(std::uint32_t entries) : entries_(entries) {}

  bool full() const { return free_.empty(); }
  // What is under way of the line, whose last register was `miss`; without pending sectors if nothing is.
  const Miss& of(std::uint32_t line, std::uint32_t miss) const {
    const Miss& found = misses_[miss];
    return found.line == line ? found : misses_.back();
  }
  // The line's register, which is `miss` unless it needs a new one. There is one, or the line has it.
  std::uint32_t take(std::uint32_t line, std::uint32_t miss) {
    if (misses_[miss].line == line) return miss;
    const std::uint32_t taken = free_.back();
    free_.pop_back();
    misses_[taken] = {.line = line};
    return taken;
  }
  void expect(std::uint32_t miss, std::uint64_t number, std::uint8_t sectors, Time ready) {
    Miss& m = misses_[miss];
    m.pending |= sectors;
    m.until = std::max(m.until, ready);
    outstanding_.push_back({ready, number, miss, sectors});
    std::ranges::push_heap(outstanding_, std::greater{});
  }
  Time next() const { return outstanding_.front().ready; }  // something is under way
  bool arrives(Time now) const { return !outstanding_.empty() && outstanding_.front().ready <= now; }
  // The soonest, which is not under way any more.
  Arrival pop() {
    const Arrival done = outstanding_.front();
    std::ranges::pop_heap(outstanding_, std::greater{});
    outstanding_.pop_back();
    Miss& miss = misses_[done.miss];
    miss.pending = static_cast<std::uint8_t>(miss.pending & ~done.sectors);
    return done;
  }
  // Frees the register if all of its sectors have come.
  bool free_if_complete(std::uint32_t miss) {
    if (misses_[miss].pending != 0) return false;
    misses_[miss].line = LineTable::none;
    free_.push_back(miss);
    return true;
  }
  void restart() {
    outstanding_.clear();
    misses_.assign(std::size_t{entries_} + 1, {});
    free_.resize(entries_);
    std::iota(free_.rbegin(), free_.rend(), 0u);
  }

 private:
  const std::uint32_t entries_;
  std::vector<Arrival> outstanding_;  // a heap, soonest first
  std::vector<Miss> misses_;          // as many as there are registers, and one that is never used
  std::vector<std::uint32_t> free_;
};

}  // namespace simtlab::cache
