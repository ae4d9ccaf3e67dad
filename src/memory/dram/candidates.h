// What every bank of a channel would do next (a column command, a row command), and which of these commands
// goes first.
//
// Column commands, activations and precharges are sets of their own: a column command changes only the limits
// of column commands (and of its own bank), a row command only those of row commands, so each repeats only
// its own search.
#pragma once

#include <algorithm>
#include <vector>

#include "memory/dram/candidate_set.h"
#include "memory/dram/timing_state.h"

namespace simtlab::memory::dram {

class Candidates {
 public:
  struct Column {
    Slot slot = no_slot;
    bool write = false;
    std::uint64_t key = key_none;
    bool writes() const { return slot != no_slot && write; }
  };
  struct Row {
    Slot slot = no_slot;  // no_slot with key_page is the page policy's
    bool close = false;   // precharge, else activation
    Cycle not_before = 0;
    std::uint64_t key = key_none;
  };
  // No command before these cycles: now, and when the command bus is free.
  struct Floors {
    Cycle column = 0, row = 0;
  };
  enum class Kind : std::uint8_t { none, column, row };

  Candidates(const TimingState& timing, const ActiveScheduler& scheduler);

  const Column& column(BankIndex bank) const { return columns_[bank]; }
  const Row& row(BankIndex bank) const { return rows_[bank]; }
  bool has_column(BankIndex bank) const { return column_set_.has(bank); }

  // What the bank would do next, as its scheduler or page policy chose it.
  bool has_other_column(BankIndex bank, Slot slot, std::uint64_t key) const {
    return columns_[bank].slot != slot || columns_[bank].key != key;
  }
  void set_column(BankIndex bank, const Column& column, Floors floors) {
    writes_ += std::uint32_t{column.writes()} - std::uint32_t{columns_[bank].writes()};
    columns_[bank] = column;
    column_set_.assign(bank, column.slot != no_slot, column.key);
    column_set_.offer(order_, bank, timing_.column(bank, column.write), floors.column);
  }
  void set_row(BankIndex bank, const Row& row, Floors floors);
  // What the two would be told for a scheduler whose choice stays with the request, after its row was closed
  // or activated.
  void closed(BankIndex bank, Floors floors);
  void activated(BankIndex bank, bool write, Floors floors);

  // Brings all picks up to date: the earliest command of each kind.
  void refresh(Floors floors);
  Cycle next_column() const { return column_set_.pick().at; }
  Cycle next_row() const { return std::min(activation_set_.pick().at, precharge_set_.pick().at); }
  // The column command that goes next, or the activation if there is none.
  const Pick& next_pick() const {
    return column_set_.pick().at != never ? column_set_.pick() : activation_set_.pick();
  }
  // Which command goes at `now`, and its bank and key: of a bank that rotates a row command goes before a
  // column command.
  struct First {
    Kind kind = Kind::none;
    BankIndex bank = 0;
    std::uint64_t key = key_none;
  };
  First first(Cycle now) const;

  // A command of the bank was issued; the bus is taken until the cycles in `free`.
  void column_issued(BankIndex bank) {
    order_.issued(bank);
    // Limits of column commands have changed, of all ranks on the data bus.
    const std::uint32_t ranks = timing_.shape().ranks;
    column_set_.invalidate(ranks == 1 ? timing_.rank_of(bank) : timing_.rank_of(bank) / ranks * ranks, ranks);
  }
  void row_issued(BankIndex bank) { order_.issued(bank); }
  void activation_issued() { activation_set_.invalidate(); }  // limits of activations have changed
  void precharge_delayed(BankIndex bank) { precharge_set_.invalidate_if_of(bank); }
  void bus_taken(Floors free);
  void limits_changed();  // all of them: a command of a rank
  void restart();

 private:
  void keep_oldest();
  void refresh_columns(Cycle floor);
  Cycle precharge_ready(BankIndex bank) const {
    return later(timing_.precharge(bank), rows_[bank].not_before);
  }
  void assign_activation(BankIndex bank, bool candidate, Floors floors) {
    activation_set_.assign(bank, candidate, rows_[bank].key);
    activation_set_.offer(order_, bank, timing_.activate(bank), floors.row);
  }
  void assign_precharge(BankIndex bank, bool candidate, Floors floors) {
    precharge_set_.assign(bank, candidate, rows_[bank].key);
    precharge_set_.offer(order_, bank, precharge_ready(bank), floors.row);
  }

  const TimingState& timing_;
  PickOrder order_;
  std::vector<Column> columns_;  // by bank
  std::uint32_t writes_ = 0;     // of them
  std::vector<Row> rows_;
  CandidateSet column_set_, activation_set_, precharge_set_;
};

inline void Candidates::set_row(BankIndex bank, const Row& row, Floors floors) {
  Row& mine = rows_[bank];
  if (mine.slot == row.slot && mine.key == row.key && mine.close == row.close &&
      mine.not_before == row.not_before)
    return;
  const bool any = row.key != key_none, had = mine.key != key_none;
  const bool acts = any && !row.close, closes = any && row.close;
  const bool acted = had && !mine.close, closed = had && mine.close;
  mine = row;
  if (acts || acted) assign_activation(bank, acts, floors);
  if (closes || closed) assign_precharge(bank, closes, floors);
}

inline Candidates::First Candidates::first(Cycle now) const {
  const Pick &column = column_set_.pick(), &activation = activation_set_.pick(),
             &precharge = precharge_set_.pick();
  const Pick* row = &precharge;
  if (activation.at <= now && !(precharge.at <= now && precharge.key < activation.key)) row = &activation;
  const bool any_column = column.at <= now, any_row = row->at <= now;
  if (any_row && !(any_column && column.key < row->key)) return {Kind::row, row->bank, row->key};
  if (any_column) return {Kind::column, column.bank, column.key};
  return {};
}

inline void Candidates::bus_taken(Floors free) {
  if (order_.rotates()) return limits_changed();  // the next bank's turn
  column_set_.invalidate_before(free.column);
  activation_set_.invalidate_before(free.row);
  precharge_set_.invalidate_before(free.row);
}

inline void Candidates::refresh(Floors floors) {
  if (column_set_.stale()) refresh_columns(floors.column);
  activation_set_.refresh(order_, floors.row, [this](BankIndex bank) { return timing_.activate(bank); });
  precharge_set_.refresh(order_, floors.row, [this](BankIndex bank) { return precharge_ready(bank); });
  if (order_.strict()) keep_oldest();
}

}  // namespace simtlab::memory::dram
