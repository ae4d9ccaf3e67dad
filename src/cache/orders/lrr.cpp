// Loose round-robin: the next ready warp after the last one.
#include "cache/order.h"

namespace simtlab::cache {
namespace {

class LooseRoundRobin final : public Schedule {
 public:
  std::uint32_t pick(const WarpSet& ready) override { return last_ = ready.next_around(last_); }

 private:
  std::uint32_t last_ = WarpSet::none - 1;  // the first pick is from 0
};

std::unique_ptr<Schedule> make_lrr(std::uint32_t) { return std::make_unique<LooseRoundRobin>(); }

}  // namespace

extern constinit const OrderPolicy order_lrr{
    .doc = "Warps: loose round-robin, the next ready one after the last", .warps = make_lrr};

}  // namespace simtlab::cache
