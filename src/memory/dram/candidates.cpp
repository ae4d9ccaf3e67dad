#include "memory/dram/candidates.h"

namespace simtlab::memory::dram {

Candidates::Candidates(const TimingState& timing, const ActiveScheduler& scheduler)
    : timing_(timing),
      order_(scheduler.strict, scheduler.rotates, timing.shape().all_banks()),
      columns_(timing.shape().all_banks()),
      rows_(timing.shape().all_banks()),
      column_set_(timing.shape().all_banks()),
      activation_set_(timing.shape().all_banks()),
      precharge_set_(timing.shape().all_banks()) {}

void Candidates::closed(BankIndex bank, Floors floors) {
  rows_[bank].close = false;
  precharge_set_.assign(bank, false, key_none);
  precharge_set_.invalidate();
  assign_activation(bank, true, floors);
}

void Candidates::activated(BankIndex bank, bool write, Floors floors) {
  columns_[bank] = {rows_[bank].slot, write, rows_[bank].key & ~key_row};
  rows_[bank] = {};
  activation_set_.assign(bank, false, key_none);
  activation_set_.invalidate();
  assign_column(bank, floors);
}

// Strict order: only the oldest request may have a command; the other picks are made anew after it.
void Candidates::keep_oldest() {
  std::uint64_t oldest = key_none;
  CandidateSet* const sets[] = {&column_set_, &activation_set_, &precharge_set_};
  for (const CandidateSet* set : sets)
    if (set->pick().at != never) oldest = std::min(oldest, set->pick().key);
  for (CandidateSet* set : sets)
    if (set->pick().at != never && set->pick().key != oldest && set->pick().key != key_page) set->drop();
}

void Candidates::limits_changed() {
  column_set_.invalidate();
  activation_set_.invalidate();
  precharge_set_.invalidate();
}

void Candidates::restart() {
  order_.restart();
  std::fill(columns_.begin(), columns_.end(), Column{});
  std::fill(rows_.begin(), rows_.end(), Row{});
  for (CandidateSet* set : {&column_set_, &activation_set_, &precharge_set_}) set->restart();
}

}  // namespace simtlab::memory::dram
