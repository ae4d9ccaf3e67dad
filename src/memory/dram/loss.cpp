#include "memory/dram/loss.h"

#include <algorithm>

namespace simtlab::memory::dram {

// The clocks that are not charged yet: a few spans in order.
struct LossMeter::Window {
  std::array<Span, 12> spans{};
  unsigned count = 0;
  BusTime& time;

  Window(Span all, BusTime& to) : time(to) {
    if (all.from < all.until) spans[count++] = all;
  }
  bool done() const { return count == 0; }
  void take(Cycle from, Cycle until, Loss reason) {
    if (count == 0 || from >= until) return;
    std::array<Span, 12> left{};
    unsigned kept = 0;
    Cycle taken = 0;
    for (unsigned i = 0; i < count; ++i) {
      const Span s = spans[i];
      const Cycle a = std::max(s.from, from), b = std::min(s.until, until);
      if (a >= b) {
        left[kept++] = s;
        continue;
      }
      taken += b - a;
      if (s.from < a) left[kept++] = {s.from, a};
      if (b < s.until) left[kept++] = {b, s.until};
    }
    time.lost[static_cast<unsigned>(reason)] += taken;
    spans = left;
    count = kept;
  }
};

LossMeter::LossMeter(const device::Technology& technology)
    : t_(technology.timing), shape_(technology), banks_(shape_.all_banks()), buses_(shape_.pseudo), groups_(shape_.all_groups()),
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
  // Before the first command of all, a gap can begin before cycle 0: that much was lost to nothing but the start.
  const Cycle before = gap > at ? gap - at : 0;
  bus.time.lost[static_cast<unsigned>(Loss::idle)] += before;
  Window window({at - (gap - before), at}, bus.time);
  window.take(0, bus.idle_until, Loss::idle);
  window.take(b.refresh_from, b.refresh_until, Loss::refresh);
  window.take(0, b.awake, Loss::power_down);
  if (window.done()) return;
  window.take(0, turnaround_end(bank, write), Loss::turnaround);
  window.take(0, rank_end(bank, write), Loss::rank);
  window.take(0, group_end(bank, write), Loss::bank_group);
  if (window.done()) return;
  const Cycle limited = std::min(b.group_ready, b.activated);
  window.take(std::max(b.bank_ready, arrived), limited, Loss::activation);
  const Cycle free = std::max({b.bank_ready, b.group_ready, arrived});
  window.take(free, b.activated, Loss::command);   // the row could have been opened and was not
  // Until the row is open, and as long as the request had not come, others waited for their rows.
  window.take(0, std::max(b.activated + (write ? t_.trcd_write : t_.trcd_read), arrived), Loss::row_miss);
  window.take(0, at, Loss::command);
}

Cycle LossMeter::turnaround_end(BankIndex bank, bool write) const {
  const std::uint32_t rank = bank / shape_.rank_banks(), first = rank / shape_.ranks * shape_.ranks;
  Cycle end = 0;
  for (std::uint32_t r = first; r < first + shape_.ranks; ++r) {
    const Cycle last = ranks_[r].at[!write];
    if (last == 0) continue;
    if (write)
      end = std::max(end, last - 1 + t_.cl + t_.burst + t_.trtrs - std::min<Cycle>(t_.cwl, t_.cl + t_.burst + t_.trtrs));
    else if (r == rank)
      end = std::max(end, last - 1 + t_.cwl + t_.burst + t_.twtr_s);
    else
      end = std::max(end, last - 1 + t_.cwl + t_.burst + t_.trtrs - std::min<Cycle>(t_.cl, t_.cwl + t_.burst + t_.trtrs));
  }
  const Cycle own = groups_[bank / shape_.banks].at[1];
  if (!write && own != 0) end = std::max(end, own - 1 + t_.cwl + t_.burst + t_.twtr_l);
  return end;
}

Cycle LossMeter::rank_end(BankIndex bank, bool write) const {
  const std::uint32_t rank = bank / shape_.rank_banks(), first = rank / shape_.ranks * shape_.ranks;
  Cycle end = 0;
  for (std::uint32_t r = first; r < first + shape_.ranks; ++r)
    if (r != rank && ranks_[r].at[write] != 0) end = std::max(end, ranks_[r].at[write] - 1 + t_.burst + t_.trtrs);
  return end;
}

Cycle LossMeter::group_end(BankIndex bank, bool write) const {
  const Cycle own = groups_[bank / shape_.banks].at[write], any = ranks_[bank / shape_.rank_banks()].at[write];
  Cycle end = 0;
  if (own != 0) end = own - 1 + t_.tccd_l;
  if (any != 0) end = std::max(end, any - 1 + t_.tccd_s);
  return end;
}

BusTime LossMeter::report(std::uint32_t pseudo, Cycle end, bool pending) const {
  const Bus& bus = buses_[pseudo];
  BusTime time = bus.time;
  if (end > bus.end) time.lost[static_cast<unsigned>(pending ? Loss::row_miss : Loss::idle)] += end - bus.end;
  return time;
}

}  // namespace simtlab::memory::dram
