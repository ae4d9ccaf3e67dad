#include "exec/block_turns.h"

#include <algorithm>
#include <utility>

#include "exec/state.h"

namespace simtlab::exec {

std::uint64_t whole_clusters(const Launch::Impl& launch, std::uint64_t resident) {
  const std::uint64_t blocks = launch.params.cluster.count();
  return resident == 0 ? 0 : std::max(resident / blocks * blocks, blocks);
}

std::optional<BlockTurns::Place> BlockTurns::fresh() {
  if (next_ == end_ || (resident_ != 0 && parked_.size() >= resident_)) return std::nullopt;
  if (free_.empty()) free_.push_back(places_++);
  const Place place = free_.back();
  free_.pop_back();
  begin(place, next_++);
  return place;
}

// The first parked block that is not stuck, or not any more.
std::optional<BlockTurns::Place> BlockTurns::awake() {
  who_.clear();
  for (auto at = parked_.begin(); at != parked_.end(); ++at) {
    const Place place = at->place;
    if (at->stuck && stuck(place, Lookout::longest, who_)) continue;
    parked_.erase(at);
    return place;
  }
  return std::nullopt;
}

bool BlockTurns::go_on() {
  // One that has ended has done what it had to: others may have waited for it. One that is stuck waits for
  // others: a new one is the cheapest guess.
  for (bool ended_one = true;;) {
    std::optional<Place> place = ended_one ? awake() : std::nullopt;
    if (!place) place = fresh();
    if (!place && !ended_one) place = awake();
    if (!place) return parked_.empty();
    ended_one = run(*place);
    if (ended_one) {
      free_.push_back(*place);
      ended();
    } else {
      const bool stuck = !std::exchange(handed_over_, false);
      parked_.push_back({*place, stuck});
      (stuck ? parked_before_ : handed_before_) = true;
    }
  }
}

}  // namespace simtlab::exec
