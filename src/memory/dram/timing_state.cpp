#include "memory/dram/timing_state.h"

namespace simtlab::memory::dram {
namespace {

void raise(Cycle& limit, Cycle to) { limit = std::max(limit, to); }

// Clocks between two column commands whose data must not meet: the first ends `gap` clocks before the second begins.
std::uint32_t bus_distance(std::uint32_t first_latency, std::uint32_t burst, std::uint32_t gap, std::uint32_t second_latency) {
  const std::int64_t distance = std::int64_t{first_latency} + burst + gap - second_latency;
  return static_cast<std::uint32_t>(std::max<std::int64_t>(distance, 1));
}

}  // namespace

TimingState::TimingState(const device::Technology& technology)
    : t_(technology.timing), shape_(technology), banks_(shape_.all_banks()), groups_(shape_.all_groups()), ranks_(shape_.all_ranks()) {
  for (BankIndex bank = 0; bank < shape_.all_banks(); ++bank) {
    group_of_.push_back(bank / shape_.banks);
    rank_of_.push_back(bank / shape_.rank_banks());
  }
  const std::uint32_t turn = bus_distance(t_.cl, t_.burst, t_.trtrs, t_.cwl);
  const std::uint32_t ccd = std::max(t_.tccd_s, t_.burst);
  const std::uint32_t after_write = t_.cwl + t_.burst;
  own_rank_[0][0] = own_rank_[1][1] = ccd;
  own_rank_[0][1] = turn;
  own_rank_[1][0] = after_write + t_.twtr_s;
  own_group_[0][0] = own_group_[1][1] = std::max(t_.tccd_l, ccd);
  own_group_[0][1] = turn;
  own_group_[1][0] = after_write + t_.twtr_l;
  other_rank_[0][0] = other_rank_[1][1] = t_.burst + t_.trtrs;
  other_rank_[0][1] = turn;
  other_rank_[1][0] = bus_distance(t_.cwl, t_.burst, t_.trtrs, t_.cl);
}

void TimingState::restart() {
  std::fill(banks_.begin(), banks_.end(), Bank{});
  std::fill(groups_.begin(), groups_.end(), Group{});
  std::fill(ranks_.begin(), ranks_.end(), Rank{});
}

Cycle TimingState::latest_act(std::uint32_t rank) const {
  Cycle latest = 0;
  const BankIndex first = rank * shape_.rank_banks();
  for (BankIndex b = first; b < first + shape_.rank_banks(); ++b) raise(latest, banks_[b].act);
  return latest;
}

Cycle TimingState::earliest(Command command, BankIndex bank) const {
  const std::uint32_t rank = rank_of_[bank];
  const BankIndex first = rank * shape_.rank_banks();
  Cycle at = 0;
  switch (command) {
    case Command::act:
      return activate(bank);
    case Command::pre:
      return precharge(bank);
    case Command::prea:
      for (BankIndex b = first; b < first + shape_.rank_banks(); ++b) raise(at, banks_[b].pre);
      return at;
    case Command::rd:
    case Command::rda:
      return column(bank, false);
    case Command::wr:
    case Command::wra:
      return column(bank, true);
    case Command::ref:
    case Command::sre:
      return std::max(latest_act(rank), command == Command::sre ? ranks_[rank].quiet : 0);
    case Command::refpb:
      return banks_[bank].act;
    case Command::pde:
      return ranks_[rank].quiet;
    case Command::pdx:
    case Command::srx:
      return ranks_[rank].wake;
  }
  return at;
}

void TimingState::issue(Command command, BankIndex bank, Cycle at) {
  const std::uint32_t rank = rank_of_[bank];
  const BankIndex first = rank * shape_.rank_banks();
  switch (command) {
    case Command::act:
      activated(bank, at);
      break;
    case Command::pre:
      raise(banks_[bank].act, at + t_.trp);
      break;
    case Command::prea:
      for (BankIndex b = first; b < first + shape_.rank_banks(); ++b) raise(banks_[b].act, at + t_.trp);
      break;
    case Command::rd:
    case Command::rda:
      read(bank, at, command == Command::rda);
      break;
    case Command::wr:
    case Command::wra:
      written(bank, at, command == Command::wra);
      break;
    case Command::ref:
      for (BankIndex b = first; b < first + shape_.rank_banks(); ++b) raise(banks_[b].act, at + t_.trfc);
      raise(ranks_[rank].quiet, at + t_.trfc);
      break;
    case Command::refpb:
      raise(banks_[bank].act, at + t_.trfc_pb);
      raise(ranks_[rank].quiet, at + t_.trfc_pb);
      break;
    case Command::pde:
    case Command::sre:
      ranks_[rank].wake = at + std::max(t_.tcke, 1u);
      break;
    case Command::pdx:
      hold(rank, at + t_.txp);
      break;
    case Command::srx:
      hold(rank, at + t_.txs);
      break;
  }
}

void TimingState::activated(BankIndex bank, Cycle at) {
  Bank& b = banks_[bank];
  raise(b.act, at + t_.trc);
  raise(b.pre, at + t_.tras);
  b.column = {std::max(b.column[0], at + t_.trcd_read), std::max(b.column[1], at + t_.trcd_write)};
  const std::uint32_t rank = rank_of_[bank];
  Rank& r = ranks_[rank];
  r.recent[r.oldest] = at + t_.tfaw;
  r.oldest = (r.oldest + 1) % 4;
  raise(r.quiet, at + 1);
  const Cycle next = std::max(at + t_.trrd_s, t_.tfaw == 0 ? 0 : r.recent[r.oldest]);
  Group* groups = &groups_[rank * shape_.groups];
  for (std::uint32_t g = 0; g < shape_.groups; ++g) raise(groups[g].act, next);
  raise(groups_[group_of_[bank]].act, at + t_.trrd_l);
}

void TimingState::read(BankIndex bank, Cycle at, bool close) {
  Bank& b = banks_[bank];
  raise(b.pre, at + t_.trtp);
  if (close) raise(b.act, b.pre + t_.trp);
  raise(ranks_[rank_of_[bank]].quiet, at + t_.cl + t_.burst);
  columns_after(bank, at, false);
}

void TimingState::written(BankIndex bank, Cycle at, bool close) {
  Bank& b = banks_[bank];
  raise(b.pre, at + t_.cwl + t_.burst + t_.twr);
  if (close) raise(b.act, b.pre + t_.trp);
  raise(ranks_[rank_of_[bank]].quiet, at + t_.cwl + t_.burst + t_.twr);
  columns_after(bank, at, true);
}

void TimingState::columns_after(BankIndex bank, Cycle at, bool write) {
  const std::uint32_t rank = rank_of_[bank], own = group_of_[bank];
  const std::uint32_t first_rank = rank / shape_.ranks * shape_.ranks;
  for (std::uint32_t r = first_rank; r < first_rank + shape_.ranks; ++r) {
    const auto& distance = r == rank ? own_rank_[write] : other_rank_[write];
    Group* groups = &groups_[r * shape_.groups];
    for (std::uint32_t g = 0; g < shape_.groups; ++g) {
      raise(groups[g].column[0], at + distance[0]);
      raise(groups[g].column[1], at + distance[1]);
    }
  }
  raise(groups_[own].column[0], at + own_group_[write][0]);
  raise(groups_[own].column[1], at + own_group_[write][1]);
}

void TimingState::hold(std::uint32_t rank, Cycle until) {
  const BankIndex first = rank * shape_.rank_banks();
  for (BankIndex b = first; b < first + shape_.rank_banks(); ++b) {
    raise(banks_[b].act, until);
    raise(banks_[b].pre, until);
    raise(banks_[b].column[0], until);
    raise(banks_[b].column[1], until);
  }
  raise(ranks_[rank].quiet, until);
}

}  // namespace simtlab::memory::dram
