// First ready, first come, first served (Rixner et al., ISCA 2000): accesses of open rows first, then the
// oldest.
//
// With a cap, a row that has served so many accesses since it was opened gives way to an older request for
// another row.
#pragma once

#include "memory/dram/scheduler.h"

namespace simtlab::memory::dram {

class FrFcfs : public Scheduler {
 public:
  explicit FrFcfs(std::uint32_t cap) : cap_(cap) {}

  void choose(BankView view, Choice& choice) const override {
    const Queued* const oldest = view.entry();
    if (oldest == nullptr) return;
    const bool tired = view.bank().hits >= cap_ && !view.hits(*oldest);
    if (view.bank().open && !tired) {
      for (const Queued* q = oldest; q != nullptr; view.advance(), q = view.entry()) {
        if (!view.hits(*q)) continue;
        choice.column = q->slot;
        choice.column_key = key_waits | q->order;
        return;
      }
    }
    choice.row = oldest->slot;
    choice.row_key = key_waits | key_row | oldest->order;
  }

  bool steady() const override { return true; }

 private:
  std::uint32_t cap_;
};

}  // namespace simtlab::memory::dram
