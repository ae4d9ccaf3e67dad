// Earliest cycles of every command of a channel, kept up to date incrementally: each issued command pushes the limits
// that it sets at its bank, bank group and rank (for the data bus also at the other ranks); a question reads those three.
//
// Times are clocks of the technology. What is not modelled is in docs/deviations.md (D-DRAM-*).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "device/technology.h"
#include "memory/dram/command.h"

namespace simtlab::memory::dram {

// Flat number of a bank: ((pseudo x ranks + rank) x groups + group) x banks + bank. Groups and ranks are numbered alike;
// a rank of another pseudo-channel is another rank.
using BankIndex = std::uint32_t;

struct Shape {
  std::uint32_t pseudo = 1, ranks = 1, groups = 1, banks = 1;   // ranks of a pseudo-channel, groups of a rank, banks of a group
  explicit Shape(const device::Technology& t)
      : pseudo(t.organisation.pseudo_channels), ranks(t.organisation.ranks), groups(t.organisation.bank_groups),
        banks(t.organisation.banks_per_group) {}
  std::uint32_t all_ranks() const { return pseudo * ranks; }
  std::uint32_t all_groups() const { return all_ranks() * groups; }
  std::uint32_t rank_banks() const { return groups * banks; }
  std::uint32_t all_banks() const { return all_ranks() * rank_banks(); }
};

class TimingState {
 public:
  explicit TimingState(const device::Technology& technology);

  const Shape& shape() const { return shape_; }
  std::uint32_t group_of(BankIndex bank) const { return banks_[bank].group; }
  std::uint32_t rank_of(BankIndex bank) const { return banks_[bank].rank; }

  // First cycle at which the rules of time allow the command. Whether the bank's state allows it (an activation of an open
  // bank...) is for the caller to know, as is the command bus.
  Cycle activate(BankIndex bank) const { return std::max(banks_[bank].act, activate_group(bank)); }
  Cycle activate_bank(BankIndex bank) const { return banks_[bank].act; }   // without limits of rank and group
  Cycle activate_group(BankIndex bank) const {                             // those alone: tRRD, tFAW
    const Bank& b = banks_[bank];
    return std::max(groups_[b.group].act, ranks_[b.rank].act);
  }
  Cycle precharge(BankIndex bank) const { return banks_[bank].pre; }
  Cycle column(BankIndex bank, bool write) const {
    const Bank& b = banks_[bank];
    return std::max(b.column[write], std::max(groups_[b.group].column[write], ranks_[b.rank].column[write]));
  }
  Cycle column_bank(BankIndex bank, bool write) const { return banks_[bank].column[write]; }   // tRCD alone
  // The same for any command; for those of a rank the bank is any of the rank. prea and ref ask all of its banks.
  Cycle earliest(Command command, BankIndex bank) const;

  void issue(Command command, BankIndex bank, Cycle at);
  // issue() for the commands of requests.
  void activated(BankIndex bank, Cycle at);
  void precharged(BankIndex bank, Cycle at) { raise(banks_[bank].act, at + t_.trp); }
  void column_issued(BankIndex bank, bool write, Cycle at, bool close);
  void restart();

 private:
  struct Bank {
    Cycle act = 0, pre = 0;
    std::array<Cycle, 2> column{};   // read, write
    std::uint32_t group = 0, rank = 0;
  };
  struct Group {                     // tRRD_L, tCCD_L, tWTR_L
    Cycle act = 0;
    std::array<Cycle, 2> column{};
  };
  struct Rank {                      // tRRD_S, tFAW, tCCD_S, tWTR_S, the data bus
    Cycle act = 0;
    std::array<Cycle, 2> column{};
    Cycle quiet = 0;                 // the last data of reads and writes is through: power-down may begin
    std::array<Cycle, 4> recent{};   // the last four activations, plus tFAW
    unsigned oldest = 0;
    Cycle wake = 0;                  // end of the shortest power-down or self-refresh
  };
  static void raise(Cycle& limit, Cycle to) { limit = std::max(limit, to); }
  void hold(std::uint32_t rank, Cycle until);   // no command of the rank before
  Cycle latest_act(std::uint32_t rank) const;

  device::Technology::Timing t_;
  Shape shape_;
  // Distances from a column command, by [preceding write][following write].
  std::uint32_t own_rank_[2][2], other_rank_[2][2], own_group_[2][2];
  std::uint32_t to_precharge_[2], to_quiet_[2];   // by [write]
  std::vector<Bank> banks_;
  std::vector<Group> groups_;
  std::vector<Rank> ranks_;
};

inline void TimingState::activated(BankIndex bank, Cycle at) {
  Bank& b = banks_[bank];
  raise(b.act, at + t_.trc);
  raise(b.pre, at + t_.tras);
  raise(b.column[0], at + t_.trcd_read);
  raise(b.column[1], at + t_.trcd_write);
  Rank& r = ranks_[b.rank];
  r.recent[r.oldest] = at + t_.tfaw;
  r.oldest = (r.oldest + 1) % 4;
  raise(r.quiet, at + 1);
  raise(r.act, std::max(at + t_.trrd_s, r.recent[r.oldest]));   // the fourth last, plus tFAW
  raise(groups_[b.group].act, at + t_.trrd_l);
}

inline void TimingState::column_issued(BankIndex bank, bool write, Cycle at, bool close) {
  Bank& b = banks_[bank];
  raise(b.pre, at + to_precharge_[write]);
  if (close) raise(b.act, b.pre + t_.trp);
  Group& group = groups_[b.group];
  raise(group.column[0], at + own_group_[write][0]);
  raise(group.column[1], at + own_group_[write][1]);
  Rank& own = ranks_[b.rank];
  raise(own.quiet, at + to_quiet_[write]);
  raise(own.column[0], at + own_rank_[write][0]);
  raise(own.column[1], at + own_rank_[write][1]);
  if (shape_.ranks == 1) return;
  const std::uint32_t first = b.rank / shape_.ranks * shape_.ranks;
  for (std::uint32_t r = first; r < first + shape_.ranks; ++r) {
    if (r == b.rank) continue;
    raise(ranks_[r].column[0], at + other_rank_[write][0]);
    raise(ranks_[r].column[1], at + other_rank_[write][1]);
  }
}

}  // namespace simtlab::memory::dram
