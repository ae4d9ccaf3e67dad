#include "memory/dram/timing_state.h"

namespace simtlab::memory::dram {
namespace {

// Clocks between two column commands whose data must not meet: the first ends `gap` clocks before the second
// begins.
std::uint32_t bus_distance(std::uint32_t first_latency, std::uint32_t burst, std::uint32_t gap,
                           std::uint32_t second_latency) {
  const std::int64_t distance = std::int64_t{first_latency} + burst + gap - second_latency;
  return static_cast<std::uint32_t>(std::max<std::int64_t>(distance, 1));
}

}  // namespace

ColumnDistances::ColumnDistances(const device::Technology::Timing& t) {
  const std::uint32_t ccd = std::max(t.tccd_s, t.burst);
  const std::uint32_t after_write = t.cwl + t.burst;
  own_rank[0][0] = own_rank[1][1] = ccd;
  own_rank[0][1] = static_cast<std::uint32_t>(std::max<std::int64_t>(t.read_to_write(), 1));
  own_rank[1][0] = after_write + t.twtr_s;
  own_group[0][0] = std::max(t.tccd_l, ccd);
  own_group[1][1] = std::max(t.write_distance(), ccd);
  own_group[0][1] = own_rank[0][1];
  own_group[1][0] = after_write + t.twtr_l;
  other_rank[0][0] = t.burst + t.trtrs;
  other_rank[1][1] = t.burst;  // the controller drives the bus for both
  other_rank[0][1] = bus_distance(t.cl, t.burst, t.trtrs, t.cwl);
  other_rank[1][0] = bus_distance(t.cwl, t.burst, t.trtrs, t.cl);
}

TimingRules::TimingRules(const device::Technology& technology)
    : timing(technology.timing),
      shape(technology),
      distances(timing),
      to_precharge{timing.trtp, timing.cwl + timing.burst + timing.twr},
      to_quiet{timing.cl + timing.burst, timing.cwl + timing.burst + timing.twr} {
  for (BankIndex bank = 0; bank < shape.all_banks(); ++bank) {
    const std::uint32_t rank = bank / shape.rank_banks();
    group_of.push_back(static_cast<std::uint16_t>(bank / shape.banks));
    rank_of.push_back(static_cast<std::uint16_t>(rank));
    pseudo_of.push_back(static_cast<std::uint16_t>(rank / shape.ranks));
  }
}

TimingState::TimingState(std::shared_ptr<const TimingRules> rules)
    : rules_(std::move(rules)), ranks_(shape().all_ranks()) {
  for (Limits* limits : {&act_, &pre_, &column_[0], &column_[1]}) limits->resize(shape().all_banks());
  for (Limits* limits : {&group_act_, &group_column_[0], &group_column_[1]})
    limits->resize(shape().all_groups());
}

void TimingState::restart() {
  for (Limits* limits :
       {&act_, &pre_, &column_[0], &column_[1], &group_act_, &group_column_[0], &group_column_[1]})
    std::fill(limits->begin(), limits->end(), Cycle{0});
  std::fill(ranks_.begin(), ranks_.end(), Rank{});
}

Cycle TimingState::latest_act(std::uint32_t rank) const {
  Cycle latest = 0;
  const BankIndex first = rank * shape().rank_banks();
  for (BankIndex b = first; b < first + shape().rank_banks(); ++b) raise(latest, act_[b]);
  return latest;
}

Cycle TimingState::earliest(Command command, BankIndex bank) const {
  const std::uint32_t rank = rank_of(bank);
  const BankIndex first = rank * shape().rank_banks();
  Cycle at = 0;
  switch (command) {
    case Command::act: return activate(bank);
    case Command::pre: return precharge(bank);
    case Command::prea:
      for (BankIndex b = first; b < first + shape().rank_banks(); ++b) raise(at, pre_[b]);
      return at;
    case Command::rd:
    case Command::rda: return column(bank, false);
    case Command::wr:
    case Command::wra: return column(bank, true);
    case Command::ref:
    case Command::sre: return std::max(latest_act(rank), command == Command::sre ? ranks_[rank].quiet : 0);
    case Command::refpb: return act_[bank];
    case Command::pde: return ranks_[rank].quiet;
    case Command::pdx:
    case Command::srx: return ranks_[rank].wake;
  }
  return at;
}

void TimingState::issue(Command command, BankIndex bank, Cycle at) {
  const std::uint32_t rank = rank_of(bank);
  const BankIndex first = rank * shape().rank_banks();
  switch (command) {
    case Command::act: activated(bank, at); break;
    case Command::pre: precharged(bank, at); break;
    case Command::prea:
      for (BankIndex b = first; b < first + shape().rank_banks(); ++b)
        raise(act_[b], at + rules_->timing.trp);
      break;
    case Command::rd:
    case Command::rda: column_issued(bank, false, at, command == Command::rda); break;
    case Command::wr:
    case Command::wra: column_issued(bank, true, at, command == Command::wra); break;
    case Command::ref:
      for (BankIndex b = first; b < first + shape().rank_banks(); ++b)
        raise(act_[b], at + rules_->timing.trfc);
      raise(ranks_[rank].quiet, at + rules_->timing.trfc);
      break;
    case Command::refpb:
      raise(act_[bank], at + rules_->timing.trfc_pb);
      raise(ranks_[rank].quiet, at + rules_->timing.trfc_pb);
      break;
    case Command::pde:
    case Command::sre: ranks_[rank].wake = at + std::max(rules_->timing.tcke, 1u); break;
    case Command::pdx: hold(rank, at + rules_->timing.txp); break;
    case Command::srx: hold(rank, at + rules_->timing.txs); break;
  }
}

void TimingState::hold(std::uint32_t rank, Cycle until) {
  const BankIndex first = rank * shape().rank_banks();
  for (BankIndex b = first; b < first + shape().rank_banks(); ++b) {
    raise(act_[b], until);
    raise(pre_[b], until);
    raise(column_[0][b], until);
    raise(column_[1][b], until);
  }
  raise(ranks_[rank].quiet, until);
}

}  // namespace simtlab::memory::dram
