// One access of each thread in turn.
#include "cache/order.h"

namespace simtlab::cache {
namespace {

class RoundRobin final : public ThreadOrder {
 public:
  std::uint32_t pick(std::uint32_t, const WarpSet& candidates, const Ask& ask) override {
    while ((last_ = candidates.next_around(last_)) != none)
      if (ask(last_)) return last_;
    return none;
  }
  void renumbered(std::span<const std::uint32_t> new_numbers) override {
    if (last_ < new_numbers.size()) last_ = new_numbers[last_];
  }

 private:
  std::uint32_t last_ = none - 1;  // the first pick is from 0
};

std::unique_ptr<ThreadOrder> make_round_robin(std::uint64_t) { return std::make_unique<RoundRobin>(); }

}  // namespace

extern constinit const OrderPolicy order_round_robin{.doc = "Threads: one access of each in turn",
                                                     .threads = make_round_robin};

}  // namespace simtlab::cache
