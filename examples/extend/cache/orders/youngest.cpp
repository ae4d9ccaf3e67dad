// Youngest first: of the ready warps of an SM, the one that began last, so that old ones starve until it
// waits. No hardware does this; it shows how much a kernel's reuse owes to warps of about the same age
// running together.
#include <vector>

#include "cache/order.h"

namespace simtlab::cache {
namespace {

class Youngest final : public Schedule {
 public:
  explicit Youngest(std::uint32_t places) : began_(places, 0) {}
  void began(std::uint32_t warp) override { began_[warp] = ++count_; }
  std::uint32_t pick(const WarpSet& ready) override {
    std::uint32_t best = WarpSet::none;
    for (std::uint32_t warp = 0; warp < began_.size(); ++warp)
      if (ready.has(warp) && (best == WarpSet::none || began_[warp] > began_[best])) best = warp;
    return best;
  }

 private:
  std::vector<std::uint64_t> began_;  // 1, 2, 3 ... by place
  std::uint64_t count_ = 0;
};

std::unique_ptr<Schedule> make(std::uint32_t places) { return std::make_unique<Youngest>(places); }

}  // namespace

extern constinit const OrderPolicy order_youngest{.doc = "Warps: the ready one that began last",
                                                  .warps = make};

}  // namespace simtlab::cache
