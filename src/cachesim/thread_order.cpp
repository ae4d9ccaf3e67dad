#include "cachesim/thread_order.h"

#include "base/error.h"

namespace simtlab::cachesim {

std::unique_ptr<ThreadOrder> make_thread_order(Order order, std::uint64_t seed) {
  switch (order) {
    case Order::sequential:
      return make_sequential();
    case Order::round_robin:
      return make_round_robin();
    case Order::random:
      return make_random(seed);
    default:
      break;
  }
  assertion_failed("threads", __FILE__, __LINE__, "a schedule of warps is no order of threads");
}

}  // namespace simtlab::cachesim
