// The last queued access of a row closes it with an automatic precharge.
#include "memory/dram/page_policy.h"

namespace simtlab::memory::dram {
namespace {

class PageClosed final : public PagePolicy {
 public:
  bool closes_with(const Queues& queues, BankIndex bank) const override {
    const BankQueue& b = queues.bank(bank);
    if (b.active != no_slot && queues[b.active].row == b.row) return false;
    for (const Slot head : b.head)
      for (Slot s = head; s != no_slot; s = queues[s].next)
        if (queues[s].row == b.row) return false;
    return true;
  }
};

}  // namespace

std::unique_ptr<PagePolicy> make_page_closed() { return std::make_unique<PageClosed>(); }

}  // namespace simtlab::memory::dram
