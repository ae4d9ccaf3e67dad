#include "check/readers.h"

namespace simtlab::check {

Readers::Id Readers::add(Id list, Half half, std::uint32_t lanes) {
  constexpr std::uint32_t longest = 4096;
  if (list != 0) {
    const Node head = nodes_[list];
    if ((head.half ^ half) >> instance_shift == 0 && thread_of(head.half) / 32 == thread_of(half) / 32 &&
        time_of(head.half) == time_of(half) && site_of(head.half) == site_of(half)) {
      if ((lanes & ~head.lanes) == 0) return list;
      list = head.next;
      lanes |= head.lanes;
    } else if (head.length >= longest || nodes_.size() >= list_mask) {
      cut_ = true;
      return list;
    }
  }
  const auto [at, fresh] = known_.try_emplace({half, lanes, list}, static_cast<Id>(nodes_.size()));
  if (fresh) nodes_.push_back({half, lanes, list, nodes_[list].length + 1});
  return at->second;
}

void Readers::clear() {
  nodes_.resize(1);
  known_.clear();
}

}  // namespace simtlab::check
