#include "memory/dram/candidates.h"

#include <utility>

namespace simtlab::memory::dram {

Candidates::Candidates(const TimingState& timing, const ActiveScheduler& scheduler)
    : timing_(timing),
      order_(scheduler.strict, scheduler.rotates, timing.shape().all_banks()),
      columns_(timing.shape().all_banks()),
      rows_(timing.shape().all_banks()),
      column_set_(timing.shape(), order_, true),
      activation_set_(timing.shape(), order_, false),
      precharge_set_(timing.shape(), order_, false) {}

// While requests stream nearly all banks have a column command to issue, all in one direction.
void Candidates::refresh_columns(Cycle floor) {
  const bool write = writes_ != 0;
  if (!order_.plain() || (write && writes_ != column_set_.count()) ||
      column_set_.count() * 2 < timing_.shape().all_banks())
    return column_set_.refresh(order_, floor,
                               [this](BankIndex bank) { return timing_.column(bank, columns_[bank].write); });
  column_set_.refresh_full(
      order_, floor, [this, write](std::uint32_t group) { return timing_.column_group(group, write); },
      [this, write](BankIndex bank) { return timing_.column_bank(bank, write); });
}

void Candidates::closed(BankIndex bank, Floors floors) {
  rows_[bank].close = false;
  precharge_set_.assign(bank, false, key_none);
  precharge_set_.invalidate();
  assign_activation(bank, true, floors);
}

void Candidates::activated(BankIndex bank, bool write, Floors floors) {
  const Row row = std::exchange(rows_[bank], Row{});
  activation_set_.assign(bank, false, key_none);
  activation_set_.invalidate();
  set_column(bank, {row.slot, write, row.key & ~key_row}, floors);
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
  writes_ = 0;
  std::fill(rows_.begin(), rows_.end(), Row{});
  for (CandidateSet* set : {&column_set_, &activation_set_, &precharge_set_}) set->restart();
}

}  // namespace simtlab::memory::dram
