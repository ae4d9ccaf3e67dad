// One thread after another, each as far as it comes: to its end or to a barrier. One that spins on what
// another thread will write must not keep it from running: after 65536 accesses it is the next thread's turn.
#include "cache/order.h"

namespace simtlab::cache {
namespace {

class Sequential final : public ThreadOrder {
 public:
  std::uint32_t pick(std::uint32_t, const WarpSet& candidates, const Ask& ask) override {
    if (turn_ == longest_turn || !candidates.has(current_)) advance(candidates);
    for (; current_ != none; advance(candidates))
      if (ask(current_)) {
        ++turn_;
        return current_;
      }
    current_ = 0;
    return none;
  }
  void renumbered(std::span<const std::uint32_t> new_numbers) override { current_ = new_numbers[current_]; }

 private:
  static constexpr std::uint32_t longest_turn = 1u << 16;

  void advance(const WarpSet& candidates) {
    current_ = candidates.next_around(current_);
    turn_ = 0;
  }

  std::uint32_t current_ = 0, turn_ = 0;
};

std::unique_ptr<ThreadOrder> make_sequential(std::uint64_t) { return std::make_unique<Sequential>(); }

}  // namespace

extern constinit const OrderPolicy order_sequential{
    .doc = "Threads: one after another, each to its end or to a barrier", .threads = make_sequential};

}  // namespace simtlab::cache
