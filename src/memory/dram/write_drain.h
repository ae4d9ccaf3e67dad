// Split queues: reads go until the writes reach their high mark, then writes until they are below the low
// mark, so that the data bus turns round seldom. Writes also go while there is nothing to read.
//
// At a mark the bus need not turn round at once: some accesses of open rows still go in the old direction
// while the other banks open the rows of the new one, which is then ready.
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
  // ahead: so many accesses go between the mark and the turn.
  WriteDrain(const device::MemoryController::Queues& queues, std::uint32_t ahead)
      : split_(queues.style == device::QueueStyle::split), marks_(queues), ahead_(ahead) {
    restart();
  }

  // What schedulers look at; and after the turn.
  BankView::Lists lists() const { return lists_; }
  BankView::Lists other_lists() const { return writing_ ? BankView::Lists::reads : BankView::Lists::writes; }
  bool writing() const { return writing_; }
  bool turning() const { return turning_; }  // between a mark and the turn
  bool spent() const { return left_ == 0; }  // turning: the accesses before the turn have gone

  enum class Change : std::uint8_t { none, begins, turned };
  // With so many reads and writes in the queues.
  Change update(std::uint32_t reads, std::uint32_t writes) {
    if (!split_) return Change::none;
    const bool more = (writing_ ? writes : reads) != 0, others = (writing_ ? reads : writes) != 0;
    const bool marked = writing_ ? writes < std::max(marks_.low, 1u) : writes > marks_.high || !more;
    if (!others || !(turning_ || marked)) return Change::none;
    if (!more || ahead_ == 0) return turn();
    if (turning_) return Change::none;
    turning_ = true;
    left_ = ahead_;
    return Change::begins;
  }
  void sent() {  // an access went
    if (left_ != 0) --left_;
  }
  Change turn() {
    writing_ = !writing_;
    turning_ = false;
    lists_ = writing_ ? BankView::Lists::writes : BankView::Lists::reads;
    return Change::turned;
  }
  void restart() {
    writing_ = turning_ = false;
    left_ = 0;
    lists_ = split_ ? BankView::Lists::reads : BankView::Lists::both;
  }

 private:
  const bool split_;
  const WriteMarks marks_;
  const std::uint32_t ahead_;
  bool writing_ = false, turning_ = false;
  std::uint32_t left_ = 0;
  BankView::Lists lists_ = BankView::Lists::both;
};

}  // namespace simtlab::memory::dram
