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

LossMeter::LossMeter(const device::Technology& technology)
    : t_(technology.timing),
      distances_(t_),
      shape_(technology),
      banks_(shape_.all_banks()),
      buses_(shape_.pseudo),
      groups_(shape_.all_groups()),
      ranks_(shape_.all_ranks()) {}

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
  const std::uint32_t rank = bank / shape_.rank_banks(), pseudo = rank / shape_.ranks;
  Bus& bus = buses_[pseudo];
  const Cycle first = at + (write ? t_.cwl : t_.cl);
  if (first > bus.end) charge_gap(bank, write, at, first - bus.end, arrived);
  bus.time.data += t_.burst;
  bus.end = first + t_.burst;
  groups_[bank / shape_.banks].at[write] = at + 1;
  ranks_[rank].at[write] = at + 1;
}

void LossMeter::charge_gap(BankIndex bank, bool write, Cycle at, Cycle gap, Cycle arrived) {
  const std::uint32_t rank = bank / shape_.rank_banks();
  Bus& bus = buses_[rank / shape_.ranks];
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
  if (shape_.ranks > 1) window.take_until(rank_end(bank, write), Loss::rank);
  window.take_until(group_end(bank, write), Loss::bank_group);
  if (window.from == at) return;
  // The row: until it is open, and as long as the request had not come, others waited for their rows. Of
  // these clocks the row would have been open sooner by those that its activation waited for tRRD and tFAW,
  // and by those in which the controller could have activated it and did something else.
  const Cycle from = window.from;
  window.from = std::clamp(std::max(b.activated + (write ? t_.trcd_write : t_.trcd_read), arrived), from, at);
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
  const std::uint32_t rank = bank / shape_.rank_banks(), first = rank / shape_.ranks * shape_.ranks;
  Cycle end = 0;
  const auto after = [&](Cycle last, std::uint32_t distance) {
    if (last != 0) end = std::max(end, last - 1 + distance);
  };
  for (std::uint32_t r = first; r < first + shape_.ranks; ++r)
    after(ranks_[r].at[!write], (r == rank ? distances_.own_rank : distances_.other_rank)[!write][write]);
  after(groups_[bank / shape_.banks].at[!write], distances_.own_group[!write][write]);
  return end;
}

Cycle LossMeter::rank_end(BankIndex bank, bool write) const {
  const std::uint32_t rank = bank / shape_.rank_banks(), first = rank / shape_.ranks * shape_.ranks;
  Cycle end = 0;
  for (std::uint32_t r = first; r < first + shape_.ranks; ++r)
    if (r != rank && ranks_[r].at[write] != 0)
      end = std::max(end, ranks_[r].at[write] - 1 + distances_.other_rank[write][write]);
  return end;
}

Cycle LossMeter::group_end(BankIndex bank, bool write) const {
  const Cycle own = groups_[bank / shape_.banks].at[write],
              any = ranks_[bank / shape_.rank_banks()].at[write];
  Cycle end = 0;
  if (own != 0) end = own - 1 + distances_.own_group[write][write];
  if (any != 0) end = std::max(end, any - 1 + distances_.own_rank[write][write]);
  return end;
}

BusTime LossMeter::report(std::uint32_t pseudo, Cycle end, bool pending) const {
  const Bus& bus = buses_[pseudo];
  BusTime time = bus.time;
  if (end > bus.end) time.lost[static_cast<unsigned>(pending ? Loss::row_miss : Loss::idle)] += end - bus.end;
  return time;
}

}  // namespace simtlab::memory::dram
