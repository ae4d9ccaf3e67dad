// Greedy, then youngest: the same warp as long as it is ready, else the one that began last (Huerta et al.,
// MICRO 2025).
#include "cache/order.h"
#include "cache/orders/ages.h"

namespace simtlab::cache {
namespace {

class GreedyThenYoungest final : public Schedule {
 public:
  explicit GreedyThenYoungest(std::uint32_t places) : ages_(places) {}
  void began(std::uint32_t warp) override {
    ages_.began(warp);
    if (warp == last_) last_ = WarpSet::none;
  }
  std::uint32_t pick(const WarpSet& ready) override {
    if (last_ == WarpSet::none || !ready.has(last_)) last_ = ages_.youngest(ready);
    return last_;
  }

 private:
  Ages ages_;
  std::uint32_t last_ = WarpSet::none;
};

std::unique_ptr<Schedule> make_cggty(std::uint32_t places) {
  return std::make_unique<GreedyThenYoungest>(places);
}

}  // namespace

extern constinit const OrderPolicy order_cggty{
    .doc = "Warps: greedy, the same one as long as it is ready, then the youngest", .warps = make_cggty};

}  // namespace simtlab::cache
