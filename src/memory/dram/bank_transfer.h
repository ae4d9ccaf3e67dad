// Queues of banks: requests wait in the read and write queue of the channel, and one a clock moves to the
// queue of its bank, where it may be scheduled. Reads move; writes do while they are drained: all that wait
// when their queue is full, or when more than the low mark wait and the banks have nothing to do, and the
// last few after some time without a request.
#pragma once

#include "memory/dram/queues.h"
#include "memory/dram/write_drain.h"

namespace simtlab::memory::dram {

class BankTransfer {
 public:
  explicit BankTransfer(const device::MemoryController::Queues& queues)
      : active_(queues.style == device::QueueStyle::per_bank), bank_entries_(queues.bank), marks_(queues) {}

  bool active() const { return active_; }  // the controller has queues of banks
  Cycle next() const { return next_; }     // when a request may move; never: none waits
  void try_at(Cycle at) { next_ = std::min(next_, at); }
  void arrived(Cycle at) { last_arrival_ = at; }

  // The request that moves at `now`, or no_slot.
  Slot select(const Queues& queues, Cycle now);
  // It moved; it was served, which makes room in the queue of its bank.
  void moved(BankQueue& bank, bool write);
  void served(BankQueue& bank, Cycle now);
  void restart();

 private:
  Slot first(const Queues& queues, bool write) const;

  const bool active_;
  const std::uint32_t bank_entries_;
  const WriteMarks marks_;
  Cycle next_ = never;
  Cycle last_arrival_ = 0;
  std::uint32_t moved_ = 0;     // in the queues of banks
  std::uint32_t draining_ = 0;  // writes still to move
};

}  // namespace simtlab::memory::dram
