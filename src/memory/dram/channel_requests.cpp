// The requests of a channel: how they come in, are answered from the queues, move to queues of banks, and
// leave.
#include <algorithm>

#include "memory/dram/channel.h"

namespace simtlab::memory::dram {
namespace {

// Writes that nothing else drains (per_bank: too few, and no reads) go after so many clocks without a
// request.
constexpr Cycle last_drain = 512;

}  // namespace

bool Channel::accepts(const Access& access) const {
  if (controller_.queues.style == device::QueueStyle::unified)
    return held_[0] + held_[1] < capacity_[0] + capacity_[1];
  return held_[access.write] < capacity_[access.write];
}

void Channel::add(const Access& access, Cycle at) {
  if (at > now_) run(at);
  const Place place = mapping_.decode_local(access.address);
  const Shape& shape = timing_.shape();
  const auto bank = static_cast<std::uint16_t>(
      ((place.pseudo * shape.ranks + place.rank) * shape.groups + place.group) * shape.banks + place.bank);
  ++(access.write ? statistics_.writes : statistics_.reads);
  last_arrival_ = at;
  if (answered_by_queue(access, bank, place, at)) {
    next_event_ = std::min(next_event_, next_done_);
    return;
  }
  const Slot slot = queues_.take();
  Request& r = queues_[slot];
  r.tag = access.tag;
  r.order = order_++;
  r.arrived = at;
  r.row = place.row;
  r.column = place.column;
  r.source = access.source;
  r.write = access.write;
  r.bank = bank;
  insert(slot, at);
}

// The common case of a request that queues up behind others: what its bank would do next stays what it is.
bool Channel::changes_nothing(const Request& r) const {
  if (!steady_ || !loaded_.test(r.bank)) return false;
  if (r.write != write_mode_) return true;
  if (has_column_.test(r.bank)) return true;
  const BankQueue& q = queues_.bank(r.bank);
  return rows_[r.bank].slot != no_slot && !(q.open && q.row == r.row);
}

// A queued write answers reads of its address and absorbs writes of it; a queued read answers equal reads.
bool Channel::answered_by_queue(const Access& access, BankIndex bank, const Place& place, Cycle at) {
  const auto find = [&](bool write) { return queues_.find(bank, write, place.row, place.column); };
  const auto& settings = controller_.queues;
  if (!access.write) {
    if (find(true) != no_slot) {
      push_done(forwards_done_, {at + controller_.latency.forward, access.tag, number_, false});
      ++statistics_.forwarded;
      return true;
    }
    if (!settings.merge_reads) return false;
  } else if (!settings.merge_writes) {
    return false;
  }
  const Slot same = find(access.write);
  if (same == no_slot) return false;
  ++(access.write ? statistics_.merged_writes : statistics_.merged_reads);
  if (access.write && controller_.latency.write_done == device::WriteDone::accepted) {
    push_done(writes_done_, {at + 1, access.tag, number_, true});
    return true;
  }
  const Slot slot = queues_.take();  // done together with the other
  queues_[slot].tag = access.tag;
  queues_[slot].merged = queues_[same].merged;
  queues_[same].merged = slot;
  return true;
}

void Channel::insert(Slot slot, Cycle at) {
  Request& r = queues_[slot];
  const BankIndex bank = r.bank;
  const std::uint32_t rank = timing_.rank_of(bank);
  if (r.write) {
    r.after_read = queues_.find(bank, false, r.row, r.column) != no_slot;
    if (controller_.latency.write_done == device::WriteDone::accepted)
      push_done(writes_done_, {at + 1, r.tag, number_, true});
  }
  queues_.append(slot);
  const bool quiet = changes_nothing(r);
  ++held_[r.write];
  ++alive_;
  loaded_.set(bank);
  upkeep_.arrived(rank);
  // It may wish to sleep no more
  if (upkeep_.wants_commands() || upkeep_pick_.at != never) upkeep_dirty_ = true;
  if (per_bank_) {
    queues_.wait(slot);
    if (!r.write) busy(rank / timing_.shape().ranks, at);
    transfer_at_ = std::min(transfer_at_, std::max(at, now_));
    return update_next_event();
  }
  busy(rank / timing_.shape().ranks, at);
  if (pages_.listens(page_on_arrival)) pages_.policy->arrived(queues_, slot, at);
  const bool all = scheduler_.listens(on_arrival) && scheduler_.policy->arrived(queues_, slot, at);
  if (set_write_mode(at) || all)
    choose_loaded();
  else if (!quiet)
    choose(bank);
  else if (controller_.latency.write_done != device::WriteDone::accepted && !upkeep_dirty_)
    return;
  update_next_event();
}

void Channel::busy(std::uint32_t pseudo, Cycle at) {
  if (pending_[pseudo]++ == 0) loss_.idle_until(pseudo, at);
}

// Split queues: writes are drained from above `high` to below `low`, and while there is nothing to read.
bool Channel::set_write_mode(Cycle now) {
  if (lists_ == BankView::Lists::both) return false;
  const bool before = write_mode_;
  if (!write_mode_)
    write_mode_ = held_[1] > high_ || (held_[0] == 0 && held_[1] != 0);
  else if (held_[1] < std::max(low_, 1u) && held_[0] != 0)
    write_mode_ = false;
  lists_ = write_mode_ ? BankView::Lists::writes : BankView::Lists::reads;
  if (write_mode_ == before) return false;
  if (scheduler_.listens(on_turn)) scheduler_.policy->turned(write_mode_, now);
  return true;
}

// Moves at most one request to the queue of its bank; called again in the next cycle if it did.
void Channel::transfer(Cycle now) {
  const std::uint32_t writes = queues_.waiting(true);
  transfer_at_ = never;
  if (draining_ == 0) {
    const bool full = writes >= std::max(high_, 1u), calm = writes > low_ && moved_ == 0;
    if (full || calm) draining_ = writes;
    if (draining_ == 0 && writes != 0 && moved_ == 0 && queues_.waiting(false) == 0) {
      if (now >= last_arrival_ + last_drain)
        draining_ = writes;
      else
        transfer_at_ = last_arrival_ + last_drain;
    }
  }
  if (transfer_first(draining_ != 0)) transfer_at_ = now + 1;
}

bool Channel::transfer_first(bool write) {
  for (Slot s = queues_.first_waiting(write); s != no_slot; s = queues_[s].queue_next) {
    const Request& r = queues_[s];
    if (queues_.bank(r.bank).moved >= controller_.queues.bank) continue;
    if (!write || !r.after_read) return move(s), true;
    const Slot read = queues_.find(r.bank, false, r.row, r.column);
    if (read == no_slot) return move(s), true;
    if (!queues_[read].moved) return move(read), true;  // the older read of its address goes first
  }
  return false;
}

void Channel::move(Slot slot) {
  Request& r = queues_[slot];
  if (r.write) {
    --draining_;
    busy(timing_.rank_of(r.bank) / timing_.shape().ranks, now_);
  }
  queues_.stop_waiting(slot);
  r.order = order_++;
  --held_[r.write];
  ++queues_.bank(r.bank).moved;
  ++moved_;
  if (pages_.listens(page_on_arrival)) pages_.policy->arrived(queues_, slot, now_);
  if (scheduler_.listens(on_move) && scheduler_.policy->moved(queues_, slot, now_)) choose_loaded();
  choose(r.bank);
}

void Channel::complete(const Request& request, Cycle issued) {
  using device::WriteDone;
  const WriteDone when = controller_.latency.write_done;
  const bool write = request.write;
  Cycle at = issued + t_.cl + t_.burst + controller_.latency.read;
  if (write) at = when == WriteDone::issued ? issued : issued + t_.cwl + t_.burst;
  auto& ring = write ? writes_done_ : reads_done_;
  if (!write || when != WriteDone::accepted) push_done(ring, {at, request.tag, number_, write});
  for (Slot s = request.merged; s != no_slot;) {
    const Slot next = queues_[s].merged;
    push_done(ring, {at, queues_[s].tag, number_, write});
    queues_.give_back(s);
    s = next;
  }
}

// Its column command was issued.
void Channel::leave(Slot slot, Cycle now) {
  const Request& r = queues_[slot];
  const BankIndex bank = r.bank;
  BankQueue& q = queues_.bank(bank);
  const std::uint32_t rank = timing_.rank_of(bank);
  if (q.active == slot) {
    q.active = no_slot;
  } else {
    queues_.remove(slot);
    if (!per_bank_) --held_[r.write];
  }
  --alive_;
  if (q.empty()) loaded_.reset(bank);
  --pending_[rank / timing_.shape().ranks];
  upkeep_.finished(rank, now);
  if (per_bank_) {
    --q.moved;
    --moved_;
    transfer_at_ = std::min(transfer_at_, now);
  }
  if (pages_.listens(page_on_service)) pages_.policy->served(queues_, slot, now);
  const bool all = scheduler_.listens(on_service) && scheduler_.policy->served(queues_, slot, now);
  queues_.give_back(slot);
  if (set_write_mode(now) || all) choose_loaded();
}

void Channel::report(Cycle end, std::vector<Completion>& done) {
  while (next_done_ < end) {
    next_done_ = never;
    Ring<Completion>* first = nullptr;
    for (Ring<Completion>* ring : {&forwards_done_, &reads_done_, &writes_done_}) {
      if (ring->empty() || ring->front().at >= next_done_) continue;
      next_done_ = ring->front().at;
      first = ring;
    }
    if (next_done_ >= end) return;
    done.push_back(first->front());
    first->pop();
    next_done_ = 0;  // looked up again
  }
}

}  // namespace simtlab::memory::dram
