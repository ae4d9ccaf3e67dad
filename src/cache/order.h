// Orders of a study by their names (Options::order): one file a policy, orders/NAME.cpp, which gives an
// OrderPolicy order_NAME. A new one is a new file: the build makes the list (cmake/registry.cmake).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/named.h"
#include "cache/schedule.h"
#include "cache/thread_order.h"

namespace simtlab::cache {

// Of warps, or of single threads: one of the two is not null.
struct OrderPolicy {
  std::string_view doc;                                                // one sentence
  std::unique_ptr<Schedule> (*warps)(std::uint32_t places) = nullptr;  // places: of warps of an SM
  std::unique_ptr<ThreadOrder> (*threads)(std::uint64_t seed) = nullptr;
  bool by_chance = false;  // the numbers of the threads mean nothing to it
};
std::span<const Named<OrderPolicy>> order_policies();    // in the order of the names
const OrderPolicy& order_policy(std::string_view name);  // one that parse_options() lets pass

}  // namespace simtlab::cache
