// Earliest cycles of every command of a channel, kept up to date incrementally: each issued command pushes
// the limits that it sets at its bank and at the bank groups that its rank and the data bus reach; a question
// reads those two.
//
// Times are clocks of the technology. What is not modelled is in docs/reference/deviations.md (D-DRAM-*).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/technology.h"
#include "memory/dram/command.h"

namespace simtlab::memory::dram {

// Flat number of a bank: ((pseudo x ranks + rank) x groups + group) x banks + bank. Groups and ranks are
// numbered alike; a rank of another pseudo-channel is another rank.
using BankIndex = std::uint32_t;

struct Shape {
  // Ranks of a pseudo-channel, groups of a rank, banks of a group
  std::uint32_t pseudo = 1, ranks = 1, groups = 1, banks = 1;
  explicit Shape(const device::Technology& t)
      : pseudo(t.organisation.pseudo_channels),
        ranks(t.organisation.ranks),
        groups(t.organisation.bank_groups),
        banks(t.organisation.banks_per_group) {}
  std::uint32_t all_ranks() const { return pseudo * ranks; }
  std::uint32_t all_groups() const { return all_ranks() * groups; }
  std::uint32_t rank_banks() const { return groups * banks; }
  std::uint32_t all_banks() const { return all_ranks() * rank_banks(); }
};

// Clocks between two column commands, by [preceding write][following write]: in one bank group, in one rank,
// in two ranks of a pseudo-channel. At least 1.
struct ColumnDistances {
  std::uint32_t own_group[2][2], own_rank[2][2], other_rank[2][2];
  explicit ColumnDistances(const device::Technology::Timing& timing);
};

// What the times of a technology come to: the same for all channels, which therefore share one. (A GPU has
// dozens of channels: what each of them had of its own would drive the rest from the host's caches.)
struct TimingRules {
  explicit TimingRules(const device::Technology& technology);

  const device::Technology::Timing timing;
  const Shape shape;
  const ColumnDistances distances;
  const std::uint32_t to_precharge[2], to_quiet[2];         // from a read, a write
  std::vector<std::uint16_t> group_of, rank_of, pseudo_of;  // by bank
};

// By value: std::max, which returns references, keeps compilers from conditional moves.
inline Cycle later(Cycle a, Cycle b) { return a > b ? a : b; }

class TimingState {
 public:
  explicit TimingState(std::shared_ptr<const TimingRules> rules);
  explicit TimingState(const device::Technology& technology)
      : TimingState(std::make_shared<TimingRules>(technology)) {}

  const std::shared_ptr<const TimingRules>& rules() const { return rules_; }
  const Shape& shape() const { return rules_->shape; }
  std::uint32_t group_of(BankIndex bank) const { return rules_->group_of[bank]; }
  std::uint32_t rank_of(BankIndex bank) const { return rules_->rank_of[bank]; }

  // First cycle at which the rules of time allow the command. Whether the bank's state allows it (an
  // activation of an open bank...) is for the caller to know, as is the command bus.
  Cycle activate(BankIndex bank) const { return later(act_[bank], group_act_[group_of(bank)]); }
  // Without limits of rank and group
  Cycle activate_bank(BankIndex bank) const { return act_[bank]; }
  // Those alone: tRRD, tFAW
  Cycle activate_group(BankIndex bank) const { return group_act_[group_of(bank)]; }
  Cycle precharge(BankIndex bank) const { return pre_[bank]; }
  Cycle column(BankIndex bank, bool write) const {
    return later(column_[write][bank], group_column_[write][group_of(bank)]);
  }
  Cycle column_bank(BankIndex bank, bool write) const { return column_[write][bank]; }  // tRCD alone
  Cycle column_group(std::uint32_t group, bool write) const { return group_column_[write][group]; }
  // The same for any command; for those of a rank the bank is any of the rank. prea and ref ask all of its
  // banks.
  Cycle earliest(Command command, BankIndex bank) const;

  void issue(Command command, BankIndex bank, Cycle at);
  // issue() for the commands of requests.
  void activated(BankIndex bank, Cycle at);
  void precharged(BankIndex bank, Cycle at) { raise(act_[bank], at + rules_->timing.trp); }
  void column_issued(BankIndex bank, bool write, Cycle at, bool close);
  // What commands without a request change, to an IdlePattern.
  template <class Visitor>
  void show(Visitor& to) {
    for (Limits* limits : {&act_, &pre_, &column_[0], &column_[1]})
      for (Cycle& limit : *limits) to.time(limit);
    for (Rank& rank : ranks_) to.time(rank.quiet), to.time(rank.wake);
  }
  void restart();

 private:
  struct Rank {
    std::array<Cycle, 4> recent{};  // the last four activations, plus tFAW
    unsigned oldest = 0;
    Cycle quiet = 0;  // the last data of reads and writes is through: power-down may begin
    Cycle wake = 0;   // end of the shortest power-down or self-refresh
  };
  using Limits = std::vector<Cycle>;
  static void raise(Cycle& limit, Cycle to) { limit = later(limit, to); }
  static void raise(Limits& limits, std::uint32_t first, std::uint32_t count, Cycle to) {
    for (Cycle *limit = &limits[first], *end = limit + count; limit != end; ++limit) raise(*limit, to);
  }
  void hold(std::uint32_t rank, Cycle until);  // no command of the rank before
  Cycle latest_act(std::uint32_t rank) const;

  std::shared_ptr<const TimingRules> rules_;
  // Limits by kind and bank or group, each in an array of its own: the channel looks at one kind of many
  // banks.
  Limits act_, pre_, column_[2];        // of the bank; column: by [write]
  Limits group_act_, group_column_[2];  // of its group, its rank, and the data bus
  std::vector<Rank> ranks_;
};

inline void TimingState::activated(BankIndex bank, Cycle at) {
  const device::Technology::Timing& t = rules_->timing;
  const Shape& shape = rules_->shape;
  raise(act_[bank], at + t.trc);
  raise(pre_[bank], at + t.tras);
  raise(column_[0][bank], at + t.trcd_read);
  raise(column_[1][bank], at + t.trcd_write);
  const std::uint32_t rank = rank_of(bank);
  Rank& r = ranks_[rank];
  r.recent[r.oldest] = at + t.tfaw;
  r.oldest = (r.oldest + 1) % 4;
  raise(r.quiet, at + 1);
  // The fourth last, plus tFAW
  raise(group_act_, rank * shape.groups, shape.groups, later(at + t.trrd_s, r.recent[r.oldest]));
  raise(group_act_[group_of(bank)], at + t.trrd_l);
}

// Always inline: compilers that think it too long for that cost 2 % of a stream.
[[gnu::always_inline]] inline void TimingState::column_issued(BankIndex bank, bool write, Cycle at,
                                                              bool close) {
  const TimingRules& rules = *rules_;
  const Shape& shape = rules.shape;
  raise(pre_[bank], at + rules.to_precharge[write]);
  if (close) raise(act_[bank], pre_[bank] + rules.timing.trp);
  const std::uint32_t group = group_of(bank), rank = rank_of(bank);
  raise(ranks_[rank].quiet, at + rules.to_quiet[write]);
  for (unsigned next = 0; next < 2; ++next) {
    raise(group_column_[next], rank * shape.groups, shape.groups, at + rules.distances.own_rank[write][next]);
    raise(group_column_[next][group], at + rules.distances.own_group[write][next]);
  }
  if (shape.ranks == 1) return;
  const std::uint32_t first = rank / shape.ranks * shape.ranks;
  for (std::uint32_t r = first; r < first + shape.ranks; ++r)
    for (unsigned next = 0; next < 2 && r != rank; ++next)
      raise(group_column_[next], r * shape.groups, shape.groups,
            at + rules.distances.other_rank[write][next]);
}

}  // namespace simtlab::memory::dram
