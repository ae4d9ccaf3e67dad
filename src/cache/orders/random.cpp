// A thread by chance, equally likely each of those that have an access. The same seed gives the same order.
#include "base/rng.h"
#include "cache/order.h"

namespace simtlab::cache {
namespace {

class Random final : public ThreadOrder {
 public:
  explicit Random(std::uint64_t seed) : rng_(seed) {}
  std::uint32_t pick(std::uint32_t, const WarpSet& candidates, const Ask& ask) override {
    while (const std::uint32_t count = candidates.count()) {
      const std::uint32_t thread = candidates.at(static_cast<std::uint32_t>(rng_.below(count)));
      if (ask(thread)) return thread;
    }
    return none;
  }

 private:
  Rng rng_;
};

std::unique_ptr<ThreadOrder> make_random(std::uint64_t seed) { return std::make_unique<Random>(seed); }

}  // namespace

extern constinit const OrderPolicy order_random{
    .doc = "Threads: one by chance (--seed)", .threads = make_random, .by_chance = true};

}  // namespace simtlab::cache
