// Where the bandwidth of a data bus goes: every clock carries data or is lost to exactly one reason, so the
// shares add up to 1.
//
// A gap on the bus ends with the data of some request. The clocks of the gap, moved back by the latency of
// that request's column command, are the clocks in which the command could have been sent and was not; each
// is charged to what held the request back then. Where several things did, the first of this list counts:
// idle (the channel had nothing to do), refresh, power-down, turnaround between reads and writes, switch of
// ranks, distance of column commands (tCCD: bank groups), row. Of the clocks lost to the row, as many as its
// activation was late because of tRRD or tFAW while the bank itself was ready are "activation", as many as it
// was late for no rule are "command", the rest (precharge, activation, tRAS, tWR, tRC...) are "row_miss".
// Clocks in which nothing held the request back are "command" too: the command bus or the scheduler served
// something else.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "memory/dram/timing_state.h"

namespace simtlab::memory::dram {

enum class Loss : std::uint8_t {
  idle,
  refresh,
  power_down,
  turnaround,
  rank,
  bank_group,
  activation,
  row_miss,
  command
};
inline constexpr unsigned loss_count = 9;

constexpr std::string_view name(Loss loss) {
  constexpr std::string_view names[loss_count] = {"idle",       "refresh",  "power_down",
                                                  "turnaround", "rank",     "bank_group",
                                                  "activation", "row_miss", "command"};
  return names[static_cast<unsigned>(loss)];
}

struct BusTime {
  Cycle data = 0;
  std::array<Cycle, loss_count> lost{};
  Cycle total() const {
    Cycle sum = data;
    for (const Cycle c : lost) sum += c;
    return sum;
  }
};

class LossMeter {
 public:
  explicit LossMeter(std::shared_ptr<const TimingRules> rules);

  [[gnu::always_inline]] void expect(BankIndex bank) const { __builtin_prefetch(&banks_[bank], 1); }
  // A bank is closed to requests from `from` on because of a refresh, or of power-down; until it is over.
  void held_for_refresh(BankIndex bank, Cycle from) { banks_[bank].refresh_from = from; }
  void refreshed(BankIndex bank, Cycle until) { banks_[bank].refresh_until = until; }
  void woken(BankIndex bank, Cycle until) { banks_[bank].awake = until; }
  // before issue() of the timing state: `bank_ready` and `group_ready` are what the bank and its group
  // allowed.
  void activated(BankIndex bank, Cycle at, Cycle bank_ready, Cycle group_ready);
  // The bus had nothing to do before `until`.
  void idle_until(std::uint32_t pseudo, Cycle until) { buses_[pseudo].idle_until = until; }
  void column(BankIndex bank, bool write, Cycle at, Cycle request_arrived);
  // The time of a bus from 0 to `end`, or to its last data where that is later; clocks after the last data
  // are idle if nothing waits, else a row miss.
  BusTime report(std::uint32_t pseudo, Cycle end, bool pending) const;
  // What refreshes and sleep change, to an IdlePattern.
  template <class Visitor>
  void show(Visitor& to) {
    for (Bank& bank : banks_) to.time(bank.refresh_from), to.time(bank.refresh_until), to.time(bank.awake);
  }
  void restart();

 private:
  struct Bank {
    Cycle refresh_from = 0, refresh_until = 0;
    Cycle awake = 0;
    Cycle activated = 0, bank_ready = 0, group_ready = 0;
  };
  struct Bus {
    BusTime time;
    Cycle end = 0;  // of the last data
    Cycle idle_until = 0;
  };
  struct Last {  // column commands of a group or rank plus 1; 0: none yet
    std::array<Cycle, 2> at{};
  };
  struct Window;
  void charge_gap(BankIndex bank, bool write, Cycle at, Cycle gap, Cycle arrived);
  Cycle turnaround_end(BankIndex bank, bool write) const;
  Cycle rank_end(BankIndex bank, bool write) const;
  Cycle group_end(BankIndex bank, bool write) const;

  const std::shared_ptr<const TimingRules> rules_;
  std::vector<Bank> banks_;
  std::vector<Bus> buses_;
  std::vector<Last> groups_, ranks_;
};

}  // namespace simtlab::memory::dram
