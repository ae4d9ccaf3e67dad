// Who holds the counters of machine code, in the order of issue, in which they let go of them: for DEPBAR.LE
// of Maxwell and Pascal, which waits for the first ones alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

namespace simtlab::timing {

class CounterHolders {
 public:
  void begin(std::uint32_t counters) {
    counters_ = counters;
    holders_.clear();
  }
  void clear(std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t k = first; !holders_.empty() && k < first + count; ++k) holders_[k].clear();
  }

  // `who` holds the counter until the entry's cycle (scoreboard.h), or until let_go() where it is open.
  void hold(std::uint32_t counter, const void* who, std::uint64_t entry, bool open) {
    if (holders_.empty()) holders_.resize(counters_);
    std::deque<Holder>& holders = holders_[counter];
    while (holders.size() >= most && !holders.front().open) holders.pop_front();
    holders.push_back({who, entry, open});
  }
  void let_go(std::uint32_t counter, const void* who, std::uint64_t entry) {
    for (Holder& h : holders_[counter])
      if (h.open && h.who == who) {
        h = {who, entry, false};
        return;
      }
  }
  // The latest entry of all holders but the last `left`.
  std::uint64_t all_but(std::uint32_t counter, std::size_t left) const {
    std::uint64_t out = 0;
    if (holders_.empty()) return out;
    const std::deque<Holder>& holders = holders_[counter];
    for (std::size_t k = 0; k + left < holders.size(); ++k) out = std::max(out, holders[k].entry);
    return out;
  }

 private:
  struct Holder {
    const void* who = nullptr;
    std::uint64_t entry = 0;
    bool open = false;
  };
  static constexpr std::size_t most = 63;  // that a counter counts to

  std::uint32_t counters_ = 0;
  std::vector<std::deque<Holder>> holders_;  // empty until somebody holds one
};

}  // namespace simtlab::timing
