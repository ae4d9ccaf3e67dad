// Split queues: reads go until the writes reach their high mark, then writes until they are below the low
// mark, so that the data bus turns round seldom. Writes also go while there is nothing to read.
#pragma once

#include <algorithm>
#include <cmath>

#include "device/memory_controller.h"
#include "memory/dram/scheduler.h"

namespace simtlab::memory::dram {

// Requests of the write queue above which a drain begins, and below which it ends.
struct WriteMarks {
  explicit WriteMarks(const device::MemoryController::Queues& queues)
      : high(static_cast<std::uint32_t>(std::floor(queues.high * queues.write))),
        low(static_cast<std::uint32_t>(std::ceil(queues.low * queues.write))) {}
  std::uint32_t high, low;
};

class WriteDrain {
 public:
  explicit WriteDrain(const device::MemoryController::Queues& queues)
      : split_(queues.style == device::QueueStyle::split), marks_(queues) {
    restart();
  }

  // What schedulers look at.
  BankView::Lists lists() const { return lists_; }
  bool writing() const { return writing_; }
  // True: with so many reads and writes in the queues, the direction changes.
  bool update(std::uint32_t reads, std::uint32_t writes) {
    if (!split_) return false;
    const bool turns = writing_ ? writes < std::max(marks_.low, 1u) && reads != 0
                                : writes > marks_.high || (reads == 0 && writes != 0);
    if (!turns) return false;
    writing_ = !writing_;
    lists_ = writing_ ? BankView::Lists::writes : BankView::Lists::reads;
    return true;
  }
  void restart() {
    writing_ = false;
    lists_ = split_ ? BankView::Lists::reads : BankView::Lists::both;
  }

 private:
  const bool split_;
  const WriteMarks marks_;
  bool writing_ = false;
  BankView::Lists lists_ = BankView::Lists::both;
};

}  // namespace simtlab::memory::dram
