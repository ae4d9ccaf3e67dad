#include "exec/calls.h"

#include <bit>

namespace simtlab::exec {

void Calls::clear() {
  if (open_ == 0) return;
  for (Lane& lane : lanes_) {
    lane.level = 0;
    lane.words.clear();
  }
  open_ = 0;
}

std::uint32_t Calls::back(unsigned lane) const {
  const std::vector<std::uint32_t>& words = lanes_[lane].words;
  return words[words.size() - 2];
}

void Calls::enter(std::span<LaneSets> views, std::uint32_t lanes, unsigned used, std::uint32_t back) {
  lanes_.resize(views.front().size());
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    std::vector<std::uint32_t>& words = lanes_[lane].words;
    for (unsigned barrier = 0; barrier < used; ++barrier) words.push_back(views[barrier][lane]);
    words.push_back(views.back()[lane]);
    words.push_back(back);
    words.push_back(used);
    views.back()[lane] = lanes;
    ++lanes_[lane].level;
    ++open_;
  }
}

void Calls::leave(std::span<LaneSets> views, std::uint32_t lanes) {
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    std::vector<std::uint32_t>& words = lanes_[lane].words;
    const std::size_t used = words.back(), first = words.size() - used - words_beside;
    for (std::size_t barrier = 0; barrier < used; ++barrier) views[barrier][lane] = words[first + barrier];
    views.back()[lane] = words[first + used];
    words.resize(first);
    --lanes_[lane].level;
    --open_;
  }
}

void Calls::forget(std::span<LaneSets> views, unsigned barrier, std::uint32_t level, std::uint32_t lanes) {
  for (std::size_t other = 0; other < lanes_.size(); ++other) {
    Lane& lane = lanes_[other];
    if (lane.level == level) views[barrier][other] &= ~lanes;
    if (lane.level <= level) continue;
    // It has gone deeper: what it will see when it is back.
    std::size_t end = lane.words.size();
    for (std::uint32_t at = lane.level - 1; at > level; --at) end -= lane.words[end - 1] + words_beside;
    const std::size_t used = lane.words[end - 1], first = end - used - words_beside;
    if (barrier + 1 == views.size())
      lane.words[first + used] &= ~lanes;
    else if (barrier < used)
      lane.words[first + barrier] &= ~lanes;
  }
}

}  // namespace simtlab::exec
