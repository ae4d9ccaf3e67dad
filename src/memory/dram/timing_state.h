// Earliest cycles of every command of a channel, kept up to date incrementally: each issued command pushes the limits
// that it sets, nothing is ever searched. Rules between commands of a rank or of the data bus are kept at the bank groups
// they reach, so that a question reads two places: the bank and its group.
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
  std::uint32_t group_of(BankIndex bank) const { return group_of_[bank]; }
  std::uint32_t rank_of(BankIndex bank) const { return rank_of_[bank]; }

  // First cycle at which the rules of time allow the command. Whether the bank's state allows it (an activation of an open
  // bank...) is for the caller to know, as is the command bus.
  Cycle activate(BankIndex bank) const { return std::max(banks_[bank].act, groups_[group_of_[bank]].act); }
  Cycle activate_bank(BankIndex bank) const { return banks_[bank].act; }               // without limits of rank and group
  Cycle activate_group(BankIndex bank) const { return groups_[group_of_[bank]].act; }  // those alone: tRRD, tFAW
  Cycle precharge(BankIndex bank) const { return banks_[bank].pre; }
  Cycle column(BankIndex bank, bool write) const {
    return std::max(banks_[bank].column[write], groups_[group_of_[bank]].column[write]);
  }
  Cycle column_bank(BankIndex bank, bool write) const { return banks_[bank].column[write]; }   // tRCD alone
  // The same for any command; for those of a rank the bank is any of the rank. prea and ref ask all of its banks.
  Cycle earliest(Command command, BankIndex bank) const;

  void issue(Command command, BankIndex bank, Cycle at);
  void restart();

 private:
  struct Bank {
    Cycle act = 0, pre = 0;
    std::array<Cycle, 2> column{};   // read, write
  };
  struct Group {
    Cycle act = 0;
    std::array<Cycle, 2> column{};
  };
  struct Rank {
    std::array<Cycle, 4> recent{};   // the last four activations, plus tFAW
    unsigned oldest = 0;
    Cycle wake = 0;                  // end of the shortest power-down or self-refresh
    Cycle quiet = 0;                 // the last data of reads and writes is through: power-down may begin
  };
  void activated(BankIndex bank, Cycle at);
  void read(BankIndex bank, Cycle at, bool close);
  void written(BankIndex bank, Cycle at, bool close);
  void columns_after(BankIndex bank, Cycle at, bool write);
  void hold(std::uint32_t rank, Cycle until);   // no command of the rank before
  Cycle latest_act(std::uint32_t rank) const;

  device::Technology::Timing t_;
  Shape shape_;
  // Distances from a column command, by [same or other rank][preceding write][following write].
  std::uint32_t own_rank_[2][2], other_rank_[2][2], own_group_[2][2];
  std::vector<Bank> banks_;
  std::vector<Group> groups_;
  std::vector<Rank> ranks_;
  std::vector<std::uint32_t> group_of_, rank_of_;
};

}  // namespace simtlab::memory::dram
