// The commands of a channel: what each changes in the banks, the queues and the accounts.
#include <algorithm>

#include "memory/dram/channel.h"

namespace simtlab::memory::dram {

void Channel::write_record(Command command, BankIndex bank, Cycle now, std::uint32_t row,
                           std::uint32_t column) {
  const Shape& shape = timing_.shape();
  const std::uint32_t group = timing_.group_of(bank), rank = timing_.rank_of(bank);
  CommandRecord record;
  record.at = now;
  record.command = command;
  record.channel = number_;
  record.pseudo = static_cast<std::uint8_t>(rank / shape.ranks);
  record.rank = static_cast<std::uint8_t>(rank % shape.ranks);
  const bool of_bank =
      is_column(command) || command == Command::act || command == Command::pre || command == Command::refpb;
  if (of_bank) {
    record.group = static_cast<std::uint8_t>(group % shape.groups);
    record.bank = static_cast<std::uint8_t>(bank % shape.banks);
  }
  record.row = row;
  record.column = column;
  sink_->command(record);
}

// Picks that would have gone in this cycle are made anew, for the bus is taken.
void Channel::after_command(Cycle now, bool column, std::uint32_t clocks) {
  if (column || !dual_issue_) column_bus_ = now + clocks;
  if (!column || !dual_issue_) row_bus_ = now + clocks;
  if (column_pick_.at < column_bus_) column_dirty_ = true;
  if (act_pick_.at < row_bus_) act_dirty_ = true;
  if (close_pick_.at < row_bus_) close_dirty_ = true;
  if (upkeep_.busy() || upkeep_pick_.at != never) upkeep_dirty_ = true;
  if (rotates_) column_dirty_ = act_dirty_ = close_dirty_ = true;  // the next bank's turn
}

void Channel::issue_column(BankIndex bank, Cycle now) {
  const Slot slot = columns_[bank].slot;
  const Request& r = queues_[slot];
  const bool write = r.write;
  BankQueue& q = queues_.bank(bank);
  const Cycle row_ready = timing_.column_bank(bank, write);
  loss_.column(bank, write, now, r.arrived);
  if (!write) count_latency(r, now, row_ready);
  ++(r.result == RowResult::hit    ? statistics_.row_hits
     : r.result == RowResult::miss ? statistics_.row_misses
                                   : statistics_.row_conflicts);
  ++(write ? statistics_.write_bursts : statistics_.read_bursts);
  ++(write ? bank_activity_[bank].writes : bank_activity_[bank].reads);
  const std::uint32_t row = r.row, column = r.column;
  complete(r, now);
  ++q.hits;
  q.used = now;
  last_bank_ = bank;
  leave(slot, now);  // r is gone
  const bool close = pages_.closes_with(queues_, bank);
  const Command command = write ? (close ? Command::wra : Command::wr) : (close ? Command::rda : Command::rd);
  timing_.column_issued(bank, write, now, close);
  send(command, bank, now, row, column);
  if (close) {
    upkeep_.closed(bank, now);
    q.open = false;
    if (tell_closed(bank, Closing::with_access, now)) choose_loaded();
  }
  after_command(now, true, column_clocks_);
  column_dirty_ = true;  // limits of column commands have changed
  choose(bank);
  if (close_pick_.bank == bank) close_dirty_ = true;  // its precharge may have become later
}

void Channel::count_latency(const Request& r, Cycle now, Cycle row_ready) {
  const Cycle begun = std::min(r.begun, now);
  const Cycle row = std::clamp(row_ready, begun, now) - begun;
  statistics_.latency_queue += begun - r.arrived;
  statistics_.latency_row += r.begun == never ? 0 : row;
  statistics_.latency_bus += now - begun - (r.begun == never ? 0 : row);
  statistics_.latency_transfer += t_.cl + t_.burst + controller_.latency.read;
}

void Channel::issue_row(BankIndex bank, Cycle now) {
  const Slot slot = rows_[bank].slot;
  BankQueue& q = queues_.bank(bank);
  if (slot != no_slot) queues_[slot].begun = std::min(queues_[slot].begun, now);
  last_bank_ = bank;
  bool all = false;  // banks choose again
  if (!q.open) {
    all = activate(bank, slot, now);
  } else {
    if (slot != no_slot) queues_[slot].result = RowResult::conflict;
    timing_.precharged(bank, now);
    upkeep_.closed(bank, now);
    send(Command::pre, bank, now, 0, 0);
    all = close_bank(bank, slot != no_slot ? Closing::conflict : Closing::unused, now);
  }
  after_command(now, false, q.open ? act_clocks_ : 1);
  if (all) choose_loaded();
  if (!steady_ || slot == no_slot)
    choose(bank);
  else if (q.open)
    row_to_column(bank, slot);
  else
    row_to_activate(bank);
}

// What choose() would find, for a scheduler whose choice stays with the request.
void Channel::row_to_activate(BankIndex bank) {
  rows_[bank].close = false;
  has_close_.reset(bank);
  close_dirty_ = true;
  has_act_.set(bank);
  offer_activation(bank);
}

void Channel::row_to_column(BankIndex bank, Slot slot) {
  columns_[bank] = {slot, queues_[slot].write, false, 0};
  column_keys_[bank] = row_keys_[bank] & ~key_row;
  rows_[bank] = {};
  row_keys_[bank] = key_none;
  has_act_.reset(bank);
  act_dirty_ = true;
  has_column_.set(bank);
  offer_column(bank);
}

bool Channel::activate(BankIndex bank, Slot slot, Cycle now) {
  BankQueue& q = queues_.bank(bank);
  Request& r = queues_[slot];
  loss_.activated(bank, now, timing_.activate_bank(bank), timing_.activate_group(bank));
  pages_.opened(bank, r.row, now);
  timing_.activated(bank, now);
  upkeep_.opened(bank, now);
  send(Command::act, bank, now, r.row, 0);
  act_dirty_ = true;  // limits of activations have changed
  ++bank_activity_[bank].activations;
  q.open = true;
  q.row = r.row;
  q.hits = 0;
  q.used = now;
  if (r.result == RowResult::hit) r.result = RowResult::miss;
  const bool all = scheduler_.listens(on_opening) && scheduler_.policy->opened(queues_, bank, now);
  if (!controller_.queues.frees_at_activation || per_bank_) return all;
  queues_.remove(slot);
  q.active = slot;
  --held_[r.write];
  if (set_write_mode(now)) choose_loaded();
  return all;
}

// True: every bank has to choose again.
bool Channel::close_bank(BankIndex bank, Closing why, Cycle now) {
  BankQueue& q = queues_.bank(bank);
  const bool was_open = q.open;
  q.open = false;
  q.hits = 0;
  q.used = now;
  return was_open && tell_closed(bank, why, now);
}

bool Channel::tell_closed(BankIndex bank, Closing why, Cycle now) {
  pages_.closed(bank, queues_.bank(bank).row, why, now);
  return scheduler_.listens(on_closing) && scheduler_.policy->closed(queues_, bank, now);
}

void Channel::issue_upkeep(const Upkeep::Next& next, Cycle now) {
  const Command command = next.command;
  const Shape& shape = timing_.shape();
  const std::uint32_t rank = timing_.rank_of(next.bank);
  const BankIndex first = rank * shape.rank_banks();
  timing_.issue(command, next.bank, now);
  const bool changes = upkeep_.issued(command, next.bank, now);
  send(command, next.bank, now, 0, 0);
  bool all = false;
  if (command == Command::pre) all = close_bank(next.bank, Closing::bank_upkeep, now);
  if (command == Command::prea)
    for (BankIndex b = first; b < first + shape.rank_banks(); ++b)
      all = close_bank(b, Closing::rank_upkeep, now) || all;
  if (command == Command::refpb) loss_.refreshed(next.bank, now + t_.trfc_pb);
  if (command == Command::ref)
    for (BankIndex b = first; b < first + shape.rank_banks(); ++b) loss_.refreshed(b, now + t_.trfc);
  if (command == Command::pdx || command == Command::srx)
    for (BankIndex b = first; b < first + shape.rank_banks(); ++b)
      loss_.woken(b, now + (command == Command::pdx ? t_.txp : t_.txs));
  after_command(now, false, 1);
  column_dirty_ = act_dirty_ = close_dirty_ = upkeep_dirty_ = true;
  choose_rank(rank);
  if (all) choose_loaded();
  if (!changes || !controller_.upkeep.blocks_channel || upkeep_.busy()) return;
  // The channel is free again; for other ranks the refresh ends here.
  for (BankIndex b = 0; b < shape.all_banks(); ++b)
    if (timing_.rank_of(b) != rank) loss_.refreshed(b, now);
  choose_loaded();
}

}  // namespace simtlab::memory::dram
