#include "memory/dram/loss.h"

#include <algorithm>

namespace simtlab::memory::dram {

// The clocks of a gap. Refresh cuts out a span; everything else counts from the left or lies within what is
// left.
struct LossMeter::Window {
  Cycle from, until;  // not charged yet, less the refresh
  Cycle cut_from = 0, cut_until = 0;
  BusTime& time;

  Cycle length(Cycle a, Cycle b) const {
    if (a >= b) return 0;
    const Cycle low = std::max(a, cut_from), high = std::min(b, cut_until);
    return b - a - (low < high ? high - low : 0);
  }
  void charge(Cycle clocks, Loss reason) { time.lost[static_cast<unsigned>(reason)] += clocks; }
  void take_until(Cycle end, Loss reason) {
    end = std::min(end, until);
    if (end <= from) return;
    charge(length(from, end), reason);
    from = end;
  }
  void cut(Cycle a, Cycle b, Loss reason) {
    a = std::max(a, from);
    b = std::min(b, until);
    if (a >= b) return;
    charge(b - a, reason);
    cut_from = a;
    cut_until = b;
  }
};

LossMeter::LossMeter(std::shared_ptr<const TimingRules> rules)
    : rules_(std::move(rules)),
      banks_(rules_->shape.all_banks()),
      buses_(rules_->shape.pseudo),
      groups_(rules_->shape.all_groups()),
      ranks_(rules_->shape.all_ranks()) {}

void LossMeter::restart() {
  std::fill(banks_.begin(), banks_.end(), Bank{});
  std::fill(buses_.begin(), buses_.end(), Bus{});
  std::fill(groups_.begin(), groups_.end(), Last{});
  std::fill(ranks_.begin(), ranks_.end(), Last{});
}

void LossMeter::activated(BankIndex bank, Cycle at, Cycle bank_ready, Cycle group_ready) {
  Bank& b = banks_[bank];
  b.activated = at;
  b.bank_ready = bank_ready;
  b.group_ready = group_ready;
}

void LossMeter::column(BankIndex bank, bool write, Cycle at, Cycle arrived) {
  const std::uint32_t rank = rules_->rank_of[bank], pseudo = rules_->pseudo_of[bank];
  Bus& bus = buses_[pseudo];
  const Cycle first = at + (write ? rules_->timing.cwl : rules_->timing.cl);
  if (first > bus.end) charge_gap(bank, write, at, first - bus.end, arrived);
  bus.time.data += rules_->timing.burst;
  bus.end = first + rules_->timing.burst;
  groups_[rules_->group_of[bank]].at[write] = at + 1;
  ranks_[rank].at[write] = at + 1;
}

void LossMeter::charge_gap(BankIndex bank, bool write, Cycle at, Cycle gap, Cycle arrived) {
  Bus& bus = buses_[rules_->pseudo_of[bank]];
  const Bank& b = banks_[bank];
  // Before the first command of all, a gap can begin before cycle 0: that much was lost to nothing but the
  // start.
  const Cycle before = gap > at ? gap - at : 0;
  bus.time.lost[static_cast<unsigned>(Loss::idle)] += before;
  Window window{at - (gap - before), at, 0, 0, bus.time};
  window.take_until(bus.idle_until, Loss::idle);
  window.cut(b.refresh_from, b.refresh_until, Loss::refresh);
  window.take_until(b.awake, Loss::power_down);
  window.take_until(turnaround_end(bank, write), Loss::turnaround);
  if (rules_->shape.ranks > 1) window.take_until(rank_end(bank, write), Loss::rank);
  window.take_until(group_end(bank, write), Loss::bank_group);
  if (window.from == at) return;
  // The row: until it is open, and as long as the request had not come, others waited for their rows. Of
  // these clocks the row would have been open sooner by those that its activation waited for tRRD and tFAW,
  // and by those in which the controller could have activated it and did something else.
  const Cycle from = window.from;
  window.from = std::clamp(
      std::max(b.activated + (write ? rules_->timing.trcd_write : rules_->timing.trcd_read), arrived), from,
      at);
  const Cycle row = window.length(from, window.from);
  const Cycle wanted = std::max(b.bank_ready, arrived), allowed = std::max(wanted, b.group_ready);
  const auto between = [&](Cycle begin, Cycle end) { return begin < end ? end - begin : 0; };
  const Cycle limited = std::min(row, between(wanted, std::min(allowed, b.activated)));
  const Cycle passed = std::min(row - limited, between(allowed, b.activated));
  window.charge(limited, Loss::activation);
  window.charge(passed, Loss::command);
  window.charge(row - limited - passed, Loss::row_miss);
  window.take_until(at, Loss::command);
}

Cycle LossMeter::turnaround_end(BankIndex bank, bool write) const {
  const std::uint32_t rank = rules_->rank_of[bank], first = rank / rules_->shape.ranks * rules_->shape.ranks;
  Cycle end = 0;
  const auto after = [&](Cycle last, std::uint32_t distance) {
    if (last != 0) end = std::max(end, last - 1 + distance);
  };
  for (std::uint32_t r = first; r < first + rules_->shape.ranks; ++r)
    after(ranks_[r].at[!write],
          (r == rank ? rules_->distances.own_rank : rules_->distances.other_rank)[!write][write]);
  after(groups_[rules_->group_of[bank]].at[!write], rules_->distances.own_group[!write][write]);
  return end;
}

Cycle LossMeter::rank_end(BankIndex bank, bool write) const {
  const std::uint32_t rank = rules_->rank_of[bank], first = rank / rules_->shape.ranks * rules_->shape.ranks;
  Cycle end = 0;
  for (std::uint32_t r = first; r < first + rules_->shape.ranks; ++r)
    if (r != rank && ranks_[r].at[write] != 0)
      end = std::max(end, ranks_[r].at[write] - 1 + rules_->distances.other_rank[write][write]);
  return end;
}

Cycle LossMeter::group_end(BankIndex bank, bool write) const {
  const Cycle own = groups_[rules_->group_of[bank]].at[write], any = ranks_[rules_->rank_of[bank]].at[write];
  Cycle end = 0;
  if (own != 0) end = own - 1 + rules_->distances.own_group[write][write];
  if (any != 0) end = std::max(end, any - 1 + rules_->distances.own_rank[write][write]);
  return end;
}

BusTime LossMeter::report(std::uint32_t pseudo, Cycle end, bool pending) const {
  const Bus& bus = buses_[pseudo];
  BusTime time = bus.time;
  if (end > bus.end) time.lost[static_cast<unsigned>(pending ? Loss::row_miss : Loss::idle)] += end - bus.end;
  return time;
}

}  // namespace simtlab::memory::dram
