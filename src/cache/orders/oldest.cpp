// The ready warp that began first.
#include "cache/order.h"
#include "cache/orders/ages.h"

namespace simtlab::cache {
namespace {

class Oldest final : public Schedule {
 public:
  explicit Oldest(std::uint32_t places) : ages_(places) {}
  void began(std::uint32_t warp) override { ages_.began(warp); }
  std::uint32_t pick(const WarpSet& ready) override { return ages_.oldest(ready); }

 private:
  Ages ages_;
};

std::unique_ptr<Schedule> make_oldest(std::uint32_t places) { return std::make_unique<Oldest>(places); }

}  // namespace

extern constinit const OrderPolicy order_oldest{.doc = "Warps: the ready one that began first",
                                                .warps = make_oldest};

}  // namespace simtlab::cache
