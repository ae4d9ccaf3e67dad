// Cache-conscious wavefront scheduling (Rogers et al., MICRO 2012): the number of warps that may load from
// global memory follows from how much locality they take from each other.
//
// Each warp remembers the sectors that it fetched last. When it fetches one of them again, the sector was
// thrown out of L1 in between: the warp has lost locality. Its score then rises to `throttle` * (losses of
// the scheduler) / (instructions of the scheduler) * (the sum of all base scores), and falls by one a cycle
// down to `base`. The warps are put in the order of their scores, highest first, and get the sum of all base
// scores to share: those that lie beyond it may not access global memory. So a warp that loses locality
// pushes others out until it finds its lines in L1 again.
//
// What differs from the paper: each scheduler scores its own warps, and the lines that a warp remembers
// include those that are still in L1, where the victim tag arrays of the paper hold only lines that have
// left. Hence more of them by default (the paper has 16).
#include <algorithm>
#include <array>
#include <vector>

#include "timing/scheduler.h"

namespace simtlab::timing {
namespace {

using device::whole_parameter;

constexpr device::SchedulerParameter parameters[] = {
    whole_parameter("tags", 64, 1, 4096, "Lines that each warp remembers to have fetched"),
    whole_parameter("base", 100, 1, 100000, "Score of a warp that has lost no locality"),
    whole_parameter("throttle", 8, 1, 100000, "Weight of lost locality in the score"),
};

class CacheConscious final : public WarpPolicy {
 public:
  explicit CacheConscious(const device::SchedulerValues& values)
      : tags_(values.whole("tags")), base_(values.whole("base")), throttle_(values.whole("throttle")) {}

  void begin() override {
    warps_.assign(max_scheduler_warps, Warp{});
    fetched_.assign(max_scheduler_warps * tags_, Fetched{});
    losses_ = instructions_ = 0;
  }

  unsigned select_warp(const WarpScheduler& scheduler, WarpMask eligible, Cycle now) override {
    const WarpMask memory = eligible & scheduler.next_pipe[static_cast<std::size_t>(Pipe::lg)];
    const WarpMask allowed = memory == 0 ? eligible : eligible & ~(memory & beyond_cutoff(scheduler, now));
    if (allowed == 0) return nobody;
    return (allowed & warp_bit(scheduler.last)) != 0 ? scheduler.last : oldest_of(scheduler, allowed);
  }
  // Scores fall every cycle.
  Cycle ask_again(Cycle now) const override { return now + 1; }

  void issued(unsigned, Cycle) override { ++instructions_; }

  void load_missed(unsigned warp, std::uint64_t line, std::uint8_t sectors, Cycle now) override {
    Fetched* const mine = &fetched_[warp * tags_];
    Fetched* known = std::find_if(mine, mine + tags_, [&](const Fetched& one) { return one.line == line; });
    if (known == mine + tags_) {
      known = &mine[warps_[warp].next_tag++ % tags_];
      *known = {line, 0};
    }
    const bool lost = (known->sectors & sectors) != 0;
    known->sectors = static_cast<std::uint8_t>(known->sectors | sectors);
    if (!lost) return;
    ++losses_;
    const std::uint64_t raised = throttle_ * losses_ * budget_ / std::max<std::uint64_t>(1, instructions_);
    warps_[warp].score = std::max(score(warp, now), std::min(raised, budget_));
    warps_[warp].scored_at = now;
  }

  // The warps' places are taken by others, who have fetched nothing yet.
  void block_started(WarpMask warps, Cycle) override {
    for (; warps != 0; warps &= warps - 1) {
      const auto warp = static_cast<unsigned>(std::countr_zero(warps));
      warps_[warp] = {};
      std::fill_n(&fetched_[warp * tags_], tags_, Fetched{});
    }
  }

 private:
  struct Warp {
    std::uint64_t score = 0;  // at scored_at; it falls from then on
    Cycle scored_at = 0;
    std::uint64_t next_tag = 0;  // place of the next line that it fetches
  };
  struct Fetched {
    std::uint64_t line = ~std::uint64_t{0};
    std::uint8_t sectors = 0;
  };

  std::uint64_t score(unsigned warp, Cycle now) const {
    const Cycle since = now - std::min(now, warps_[warp].scored_at);
    const std::uint64_t left = warps_[warp].score > since ? warps_[warp].score - since : 0;
    return std::max(base_, left);
  }

  // The warps that get nothing of the sum of all base scores, which is shared in the order of scores, and of
  // age among equals.
  WarpMask beyond_cutoff(const WarpScheduler& scheduler, Cycle now) {
    struct Ranked {
      std::uint64_t score, age;
      unsigned warp;
    };
    std::array<Ranked, max_scheduler_warps> ranked;
    std::size_t count = 0;
    for (WarpMask rest = scheduler.resident; rest != 0; rest &= rest - 1) {
      const auto warp = static_cast<unsigned>(std::countr_zero(rest));
      ranked[count++] = {score(warp, now), scheduler.age[warp], warp};
    }
    budget_ = count * base_;
    const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(count);
    std::sort(ranked.begin(), end, [](const Ranked& a, const Ranked& b) {
      return a.score != b.score ? a.score > b.score : a.age < b.age;
    });
    WarpMask beyond = 0;
    std::uint64_t sum = 0;
    for (auto at = ranked.begin(); at != end; ++at) {
      sum += at->score;
      if (sum > budget_ && at != ranked.begin()) beyond |= warp_bit(at->warp);
    }
    return beyond;
  }

  std::uint64_t tags_, base_, throttle_;
  std::uint64_t losses_ = 0, instructions_ = 0;  // of all warps of the scheduler
  std::uint64_t budget_ = 0;                     // the sum of all base scores
  std::vector<Warp> warps_;
  std::vector<Fetched> fetched_;  // warps x tags
};

}  // namespace

extern constinit const SchedulerPolicy scheduler_ccws = policy_entry<CacheConscious>(
    "Cache-conscious wavefront scheduling: fewer warps load while they take each other's lines from L1",
    parameters);

}  // namespace simtlab::timing
