// When the warps of an SM began.
#pragma once

#include "cache/schedule.h"

namespace simtlab::cache {

class Ages {
 public:
  explicit Ages(std::uint32_t places) : began_(places, 0) {}
  void began(std::uint32_t warp) { began_[warp] = ++count_; }
  std::uint32_t oldest(const WarpSet& ready) const {
    std::uint32_t best = ready.next(0);
    for (std::uint32_t warp = best; warp != WarpSet::none; warp = ready.next(warp + 1)) {
      if (began_[warp] < began_[best]) best = warp;
      if (warp + 1 == began_.size()) break;
    }
    return best;
  }

 private:
  std::vector<std::uint64_t> began_;
  std::uint64_t count_ = 0;
};

}  // namespace simtlab::cache
