// Looking for something for some microseconds before falling asleep for it.
//
// Between two processors a sleep costs two wake-ups, and one of a processor that has nothing else to do is
// long: 20 to 25 us each on a virtual machine, where the work between them takes 5. So it pays to look, as
// long as what is waited for is prepared on another processor. Where it would have to be prepared on this
// one, or comes much later, looking only takes time from others. Nobody says which it is, so it is learned: a
// look that finds nothing, or during which somebody else had this processor, lets the next 1, 2, 4, ... 512
// go by; one that finds something makes up for all of them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "corun/live/clock.h"

namespace simtlab::corun::live {

class Lookout {
 public:
  static constexpr std::uint64_t longest_ns = 50'000, away_ns = 15'000;
  static constexpr std::uint32_t most_passed = 512;

  // True: `there` came true. False: the caller sleeps, without or after a look.
  template <class There>
  bool look(There&& there, std::uint64_t (*clock)() = clock_ns) {
    if (pass_ != 0) return --pass_, false;
    if (there()) return true;  // that says nothing
    bool found = false, away = false;
    for (std::uint64_t begin = clock(), last = begin; !found && !away && last - begin <= longest_ns;) {
      found = there();
      const std::uint64_t now = clock();
      away = now - last > away_ns;
      last = now;
    }
    misses_ = found && !away ? 0 : std::min(most_passed, std::max(1u, 2 * misses_));
    pass_ = misses_;
    return found;
  }

 private:
  std::uint32_t misses_ = 0, pass_ = 0;
};

}  // namespace simtlab::corun::live
