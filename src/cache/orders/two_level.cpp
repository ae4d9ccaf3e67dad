// Two levels: round-robin among a few active warps; one that waits for data leaves them, and the ready warp
// that has been out longest comes in (Narasiman et al., MICRO 2011; Gebhart et al., ISCA 2011, which keeps 8
// active).
#include <algorithm>

#include "cache/order.h"

namespace simtlab::cache {
namespace {

class TwoLevel final : public Schedule {
 public:
  explicit TwoLevel(std::uint32_t places) : active_(places), out_since_(places, 0) {}
  void fetch_group(std::uint32_t warps) override { most_active_ = warps; }
  void began(std::uint32_t warp) override { leave(warp); }
  void waits(std::uint32_t warp) override { leave(warp); }

  std::uint32_t pick(const WarpSet& ready) override {
    for (std::uint32_t warp; count_ < most_active_ && (warp = longest_out(ready)) != WarpSet::none; ++count_)
      active_.add(warp);
    // Active warps are ready, or they would have left; only those that ended are not.
    std::uint32_t warp = last_;
    for (std::uint32_t tries = 0; tries <= most_active_; ++tries) {
      warp = active_.next_around(warp);
      if (warp == WarpSet::none || ready.has(warp)) break;
      leave(warp);
    }
    return last_ = warp == WarpSet::none || !ready.has(warp) ? ready.next_around(last_) : warp;
  }

 private:
  void leave(std::uint32_t warp) {
    out_since_[warp] = ++clock_;
    if (!active_.has(warp)) return;
    active_.remove(warp);
    --count_;
  }
  std::uint32_t longest_out(const WarpSet& ready) const {
    std::uint32_t best = WarpSet::none;
    for (std::uint32_t warp = ready.next(0); warp != WarpSet::none;
         warp = warp + 1 < out_since_.size() ? ready.next(warp + 1) : WarpSet::none)
      if (!active_.has(warp) && (best == WarpSet::none || out_since_[warp] < out_since_[best])) best = warp;
    return best;
  }

  WarpSet active_;
  std::vector<std::uint64_t> out_since_;
  std::uint64_t clock_ = 0;
  std::uint32_t most_active_ = 8;
  std::uint32_t count_ = 0, last_ = WarpSet::none - 1;
};

std::unique_ptr<Schedule> make_two_level(std::uint32_t places) { return std::make_unique<TwoLevel>(places); }

}  // namespace

extern constinit const OrderPolicy order_two_level{
    .doc = "Warps: round-robin among eight (--fetch-group), of which one that waits is replaced",
    .warps = make_two_level};

}  // namespace simtlab::cache
