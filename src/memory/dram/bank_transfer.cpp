#include "memory/dram/bank_transfer.h"

#include <algorithm>

namespace simtlab::memory::dram {
namespace {

// Writes that nothing else drains (too few, and no reads) go after so many clocks without a request.
constexpr Cycle last_drain = 512;

}  // namespace

Slot BankTransfer::select(const Queues& queues, Cycle now) {
  const std::uint32_t writes = queues.waiting(true);
  next_ = never;
  if (draining_ == 0) {
    const bool full = writes >= std::max(marks_.high, 1u), calm = writes > marks_.low && moved_ == 0;
    if (full || calm) draining_ = writes;
    if (draining_ == 0 && writes != 0 && moved_ == 0 && queues.waiting(false) == 0) {
      if (now >= last_arrival_ + last_drain)
        draining_ = writes;
      else
        next_ = last_arrival_ + last_drain;
    }
  }
  const Slot slot = first(queues, draining_ != 0);
  if (slot != no_slot) next_ = now + 1;
  return slot;
}

// The first that waits and whose bank has room. A write lets an older read of its address go first.
Slot BankTransfer::first(const Queues& queues, bool write) const {
  for (Slot s = queues.first_waiting(write); s != no_slot; s = queues[s].queue_next) {
    const Request& r = queues[s];
    if (queues.bank(r.bank).moved >= bank_entries_) continue;
    if (!write || !r.after_read) return s;
    const Slot read = queues.find(r.bank, false, r.row, r.column);
    if (read == no_slot) return s;
    if (!queues[read].moved) return read;
  }
  return no_slot;
}

void BankTransfer::moved(BankQueue& bank, bool write) {
  if (write) --draining_;
  ++bank.moved;
  ++moved_;
}

void BankTransfer::served(BankQueue& bank, Cycle now) {
  --bank.moved;
  --moved_;
  try_at(now);
}

void BankTransfer::restart() {
  next_ = never;
  last_arrival_ = 0;
  moved_ = draining_ = 0;
}

}  // namespace simtlab::memory::dram
