#include "cachesim/schedule.h"

#include "base/error.h"

namespace simtlab::cachesim {

std::unique_ptr<Schedule> make_schedule(Order order, std::uint32_t places) {
  switch (order) {
    case Order::lrr:
      return make_lrr();
    case Order::gto:
      return make_gto(places);
    case Order::oldest:
      return make_oldest(places);
    case Order::two_level:
      return make_two_level(places);
    default:
      break;
  }
  assertion_failed("warps", __FILE__, __LINE__, "an order of threads is no schedule of warps");
}

}  // namespace simtlab::cachesim
