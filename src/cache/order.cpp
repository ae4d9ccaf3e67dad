#include "cache/order.h"

#include "base/error.h"

namespace simtlab::cache {

const OrderPolicy& order_policy(std::string_view name) {
  const OrderPolicy* const policy = find_named(order_policies(), name);
  SIMTLAB_ASSERT(policy != nullptr, "options name an order that there is");
  return *policy;
}

bool orders_threads(std::string_view order) {
  return !order.empty() && order_policy(order).threads != nullptr;
}

}  // namespace simtlab::cache
