// Which thread of an SM accesses next: order.h has the policies.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "cache/schedule.h"

namespace simtlab::cache {

class ThreadOrder {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  // Whether a thread has an access to hand out; if not, it ended or waits for others.
  using Ask = std::function<bool(std::uint32_t thread)>;

  virtual ~ThreadOrder() = default;
  // The thread whose access comes next; none if no thread has one. candidates: those that may have one,
  // numbers below `threads`; asking a thread lets it execute until it has one, and takes it out of the set if
  // it has none.
  virtual std::uint32_t pick(std::uint32_t threads, const WarpSet& candidates, const Ask& ask) = 0;
  // Other blocks have come, and threads have other numbers: by their old ones. Of an order that remembers
  // one.
  virtual void renumbered(std::span<const std::uint32_t> /*new_numbers*/) {}
};

}  // namespace simtlab::cache
