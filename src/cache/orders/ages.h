// When the warps of an SM began.
#pragma once

#include <functional>

#include "cache/schedule.h"

namespace simtlab::cache {

class Ages {
 public:
  explicit Ages(std::uint32_t places) : began_(places, 0) {}
  void began(std::uint32_t warp) { began_[warp] = ++count_; }
  std::uint32_t oldest(const WarpSet& ready) const { return first(ready, std::less<>()); }
  std::uint32_t youngest(const WarpSet& ready) const { return first(ready, std::greater<>()); }

 private:
  template <class Before>
  std::uint32_t first(const WarpSet& ready, Before before) const {
    std::uint32_t best = ready.next(0);
    for (std::uint32_t warp = best; warp != WarpSet::none; warp = ready.next(warp + 1)) {
      if (before(began_[warp], began_[best])) best = warp;
      if (warp + 1 == began_.size()) break;
    }
    return best;
  }

  std::vector<std::uint64_t> began_;
  std::uint64_t count_ = 0;
};

}  // namespace simtlab::cache
