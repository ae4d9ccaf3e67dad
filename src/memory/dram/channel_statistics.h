// What a channel did and how long its requests took, counted as it happens: requests, bursts, rows, the parts
// of the latency of reads, commands of each bank, and where the time of the data buses went.
#pragma once

#include <vector>

#include "memory/dram/activity.h"
#include "memory/dram/loss.h"
#include "memory/dram/queues.h"

namespace simtlab::memory::dram {

struct ChannelStatistics {
  std::uint64_t reads = 0, writes = 0;  // requests taken
  std::uint64_t forwarded = 0, merged_reads = 0, merged_writes = 0;
  std::uint64_t read_bursts = 0, write_bursts = 0;  // column commands
  std::uint64_t row_hits = 0, row_misses = 0, row_conflicts = 0;
  // Sums over reads that reached the memory, in clocks; together the whole latency.
  std::uint64_t latency_queue = 0;     // until the first command on their behalf
  std::uint64_t latency_row = 0;       // from then until their row was open
  std::uint64_t latency_bus = 0;       // until their column command
  std::uint64_t latency_transfer = 0;  // until the answer: CL, the burst, the controller's own share
};

struct BankActivity {
  std::uint64_t activations = 0, reads = 0, writes = 0;
};

class ChannelCounters {
 public:
  // transfer: clocks from the column command of a read to its answer.
  ChannelCounters(std::shared_ptr<const TimingRules> rules, std::uint32_t transfer)
      : rules_(std::move(rules)),
        transfer_(transfer),
        banks_(rules_->shape.all_banks()),
        pending_(rules_->shape.pseudo),
        loss_(rules_) {}

  ChannelStatistics& requests() { return requests_; }
  const ChannelStatistics& requests() const { return requests_; }
  const std::vector<BankActivity>& banks() const { return banks_; }
  LossMeter& loss() { return loss_; }
  BusTime bus_time(std::uint32_t pseudo, Cycle end) const {
    return loss_.report(pseudo, end, pending_[pseudo] != 0);
  }
  [[gnu::always_inline]] void expect(BankIndex bank) const {
    __builtin_prefetch(&banks_[bank], 1);
    loss_.expect(bank);
  }
  // Commands of requests of a rank.
  void add_commands(std::uint32_t rank, RankActivity& activity) const;

  // The data bus of the bank has one request more to serve.
  void waits(BankIndex bank, Cycle at) {
    if (pending_[bus_of(bank)]++ == 0) loss_.idle_until(bus_of(bank), at);
  }
  void column_issued(const Request& r, Cycle at, Cycle row_ready) {
    --pending_[bus_of(r.bank)];
    loss_.column(r.bank, r.write, at, r.arrived);
    if (!r.write) add_latency(r, at, row_ready);
    ++(r.result == RowResult::hit    ? requests_.row_hits
       : r.result == RowResult::miss ? requests_.row_misses
                                     : requests_.row_conflicts);
    ++(r.write ? requests_.write_bursts : requests_.read_bursts);
    ++(r.write ? banks_[r.bank].writes : banks_[r.bank].reads);
  }
  // Before TimingState::activated().
  void activated(BankIndex bank, Cycle at, const TimingState& timing) {
    loss_.activated(bank, at, timing.activate_bank(bank), timing.activate_group(bank));
    ++banks_[bank].activations;
  }
  void restart();

 private:
  std::uint32_t bus_of(BankIndex bank) const { return rules_->pseudo_of[bank]; }
  void add_latency(const Request& r, Cycle at, Cycle row_ready);

  const std::shared_ptr<const TimingRules> rules_;
  const std::uint32_t transfer_;
  ChannelStatistics requests_;
  std::vector<BankActivity> banks_;
  std::vector<std::uint32_t> pending_;  // requests by data bus (pseudo-channel)
  LossMeter loss_;
};

}  // namespace simtlab::memory::dram
