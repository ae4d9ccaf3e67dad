// Greedy, then oldest: the same warp as long as it is ready, else the one that began first (Rogers, O'Connor,
// Aamodt, MICRO 2012).
#include "cache/order.h"
#include "cache/orders/ages.h"

namespace simtlab::cache {
namespace {

class GreedyThenOldest final : public Schedule {
 public:
  explicit GreedyThenOldest(std::uint32_t places) : ages_(places) {}
  void began(std::uint32_t warp) override {
    ages_.began(warp);
    if (warp == last_) last_ = WarpSet::none;
  }
  std::uint32_t pick(const WarpSet& ready) override {
    if (last_ == WarpSet::none || !ready.has(last_)) last_ = ages_.oldest(ready);
    return last_;
  }

 private:
  Ages ages_;
  std::uint32_t last_ = WarpSet::none;
};

std::unique_ptr<Schedule> make_gto(std::uint32_t places) {
  return std::make_unique<GreedyThenOldest>(places);
}

}  // namespace

extern constinit const OrderPolicy order_gto{
    .doc = "Warps: greedy, the same one as long as it is ready, then the oldest", .warps = make_gto};

}  // namespace simtlab::cache
