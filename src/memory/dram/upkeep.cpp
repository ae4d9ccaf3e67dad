#include "memory/dram/upkeep.h"

#include <algorithm>

namespace simtlab::memory::dram {

Upkeep::Upkeep(const device::Technology& technology, const device::MemoryController& controller,
               const TimingState& timing)
    : settings_(controller.upkeep),
      timing_(timing),
      shape_(technology),
      kind_(technology.refresh),
      ranks_(shape_.all_ranks()) {
  if (technology.timing.trefi == 0) kind_ = device::Refresh::none;
  if (kind_ == device::Refresh::all_bank) interval_ = technology.timing.trefi;
  if (kind_ == device::Refresh::per_bank)
    interval_ = std::max(1u, technology.timing.trefi / shape_.rank_banks());
  restart();
}

void Upkeep::restart() {
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    ranks_[r] = {};
    if (kind_ == device::Refresh::none) continue;
    // Staggered: the ranks share the first interval evenly.
    ranks_[r].due = settings_.staggered ? std::max<Cycle>(1, interval_ * (r + 1) / ranks_.size()) : interval_;
  }
  waiting_ = sleeping_ = falling_ = 0;
  planned_ = {};
  stale_ = false;
  set_timer();
}

Cycle Upkeep::sleep_at(const Rank& rank) const {
  if (rank.pending != 0 || rank.refreshing) return never;
  Cycle at = never;
  if (settings_.power_down_after != 0 && rank.state == State::awake && rank.wish == Wish::none)
    at = rank.idle_since + settings_.power_down_after;
  if (settings_.self_refresh_after != 0 && rank.state != State::self_refresh &&
      rank.wish != Wish::self_refresh)
    at = std::min(at, rank.idle_since + settings_.self_refresh_after);
  return at;
}

Cycle Upkeep::deeper_sleep(Cycle now) const {
  Cycle first = never;
  for (const Rank& rank : ranks_)
    for (const Cycle after : {Cycle{settings_.power_down_after}, Cycle{settings_.self_refresh_after}})
      if (after != 0 && rank.idle_since + after >= now) first = std::min(first, rank.idle_since + after);
  return first;
}

void Upkeep::set_timer() {
  timer_ = never;
  for (const Rank& rank : ranks_) {
    if (!rank.refreshing) timer_ = std::min(timer_, rank.due);
    timer_ = std::min(timer_, sleep_at(rank));
  }
}

const std::vector<std::uint32_t>& Upkeep::tick(Cycle now) {
  changed_.clear();
  stale_ = true;
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    Rank& rank = ranks_[r];
    bool change = false;
    if (!rank.refreshing && rank.due <= now) {
      rank.refreshing = true;
      if (rank.wish != Wish::none) rank.wish = Wish::none, --falling_;
      ++waiting_;
      change = true;
    }
    if (sleep_at(rank) <= now) {
      const bool deep =
          settings_.self_refresh_after != 0 && rank.idle_since + settings_.self_refresh_after <= now;
      if (rank.wish == Wish::none) ++falling_;
      rank.wish = deep ? Wish::self_refresh : Wish::power_down;
      change = true;
    }
    if (change) changed_.push_back(r);
  }
  set_timer();
  return changed_;
}

void Upkeep::make_plan(const Queues& queues, Cycle floor) {
  planned_ = wants_commands() ? next(queues) : Next{};
  if (planned_.at != never) planned_.at = std::max(planned_.at, floor);
  stale_ = false;
}

Upkeep::Next Upkeep::next(const Queues& queues) const {
  Next best;
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    const Next next = next_of(r, queues);
    if (next.at < best.at) best = next;
    if (settings_.blocks_channel && ranks_[r].refreshing) break;  // in the order of the ranks
  }
  return best;
}

Upkeep::Next Upkeep::next_of(std::uint32_t r, const Queues& queues) const {
  const Rank& rank = ranks_[r];
  const BankIndex first = r * shape_.rank_banks();
  const auto at = [&](Command command, BankIndex bank) {
    return Next{timing_.earliest(command, bank), command, bank};
  };
  if (rank.state == State::self_refresh) return rank.pending != 0 ? at(Command::srx, first) : Next{};
  if (rank.state == State::power_down)
    return rank.pending != 0 || rank.refreshing || rank.wish == Wish::self_refresh ? at(Command::pdx, first)
                                                                                   : Next{};
  if (rank.refreshing) {
    if (kind_ == device::Refresh::per_bank) {
      const BankIndex bank = first + rank.target;
      return queues.bank(bank).open ? close(bank, 1, queues) : at(Command::refpb, bank);
    }
    return rank.open != 0 ? close(first, shape_.rank_banks(), queues) : at(Command::ref, first);
  }
  if (rank.pending != 0) return {};
  if (rank.wish == Wish::power_down) return at(Command::pde, first);
  if (rank.wish == Wish::self_refresh)
    return rank.open != 0 ? close(first, shape_.rank_banks(), queues) : at(Command::sre, first);
  return {};
}

// Banks with an active request stay open until it is served.
Upkeep::Next Upkeep::close(BankIndex first, std::uint32_t count, const Queues& queues) const {
  const bool all = settings_.precharge_all && count > 1;
  Next best;
  if (all) best = {timing_.earliest(Command::prea, first), Command::prea, first};
  for (BankIndex b = first; b < first + count; ++b) {
    const BankQueue& bank = queues.bank(b);
    if (!bank.open) continue;
    if (bank.active != no_slot) {
      if (all) return {};
      continue;
    }
    const Cycle at = timing_.precharge(b);
    if (!all && at < best.at) best = {at, Command::pre, b};
  }
  return best;
}

bool Upkeep::held_back(BankIndex bank) const {
  const Rank& rank = ranks_[timing_.rank_of(bank)];
  if (rank.state != State::awake) return true;
  if (waiting_ == 0) return false;
  if (settings_.blocks_channel) return true;
  if (!rank.refreshing) return false;
  return kind_ == device::Refresh::all_bank || bank % shape_.rank_banks() == rank.target;
}

void Upkeep::finished(std::uint32_t r, Cycle now) {
  Rank& rank = ranks_[r];
  if (--rank.pending != 0) return;
  rank.idle_since = now;
  if (settings_.power_down_after != 0 || settings_.self_refresh_after != 0) set_timer();
}

void Upkeep::account(Rank& rank, Cycle now) const {
  if (now <= rank.accounted) return;
  const Cycle passed = now - rank.accounted;
  rank.accounted = now;
  RankActivity& a = rank.activity;
  if (rank.state == State::self_refresh)
    a.self_refresh += passed;
  else if (rank.state == State::power_down)
    (rank.open != 0 ? a.active_power_down : a.precharge_power_down) += passed;
  else
    (rank.open != 0 ? a.active_standby : a.precharge_standby) += passed;
}

RankActivity Upkeep::activity(std::uint32_t rank, Cycle end) const {
  Rank copy = ranks_[rank];
  account(copy, end);
  return copy.activity;
}

bool Upkeep::issued(Command command, BankIndex bank, Cycle at) {
  Rank& rank = ranks_[timing_.rank_of(bank)];
  switch (command) {
    case Command::pre: closed(bank, at); return false;
    case Command::prea:
      account(rank, at);
      rank.open = 0;
      return false;
    case Command::ref:
    case Command::refpb:
      ++(command == Command::ref ? rank.activity.refreshes : rank.activity.bank_refreshes);
      rank.refreshing = false;
      --waiting_;
      rank.due += interval_;
      rank.target = (rank.target + 1) % shape_.rank_banks();
      break;
    case Command::pde:
    case Command::sre:
      account(rank, at);
      rank.state = command == Command::pde ? State::power_down : State::self_refresh;
      if (rank.wish != Wish::none) rank.wish = Wish::none, --falling_;
      ++sleeping_;
      if (command == Command::sre) rank.due = never;  // it refreshes itself
      break;
    case Command::act:
    case Command::rd:
    case Command::rda:
    case Command::wr:
    case Command::wra: return false;  // not of upkeep
    case Command::pdx:
    case Command::srx:
      account(rank, at);
      rank.state = State::awake;
      --sleeping_;
      if (command == Command::srx && kind_ != device::Refresh::none) rank.due = at + interval_;
      break;
  }
  set_timer();
  return true;
}

}  // namespace simtlab::memory::dram
