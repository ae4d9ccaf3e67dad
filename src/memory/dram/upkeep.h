// Refresh, power-down and self-refresh of the ranks of a channel: what is due, which command comes next, and
// how long each rank has been in which state. The channel issues the commands.
#pragma once

#include <vector>

#include "device/memory_controller.h"
#include "memory/dram/activity.h"
#include "memory/dram/queues.h"

namespace simtlab::memory::dram {

class Upkeep {
 public:
  Upkeep(const device::Technology& technology, const device::MemoryController& controller,
         const TimingState& timing);

  // Next cycle at which tick() has something to do.
  Cycle timer() const { return timer_; }
  // Starts what is due at or before `now`. Returns the ranks whose banks may be held or free now.
  const std::vector<std::uint32_t>& tick(Cycle now);

  // The next command of upkeep and the earliest cycle for it.
  struct Next {
    Cycle at = never;
    Command command = Command::ref;
    BankIndex bank = 0;
  };
  // Kept until something changes that it depends on. floor: the command bus is free.
  void plan(const Queues& queues, Cycle floor) {
    if (stale_) make_plan(queues, floor);
  }
  const Next& planned() const { return planned_; }
  bool stale() const { return stale_; }
  void invalidate() { stale_ = true; }
  // A command of the channel was sent: banks are closed now, or the bus is taken.
  void command_sent() { stale_ = stale_ || waiting_ != 0 || planned_.at != never; }

  // A command of upkeep was issued. True: the rank's banks may be held or free now.
  bool issued(Command command, BankIndex bank, Cycle at);
  void opened(BankIndex bank, Cycle at) {
    Rank& rank = ranks_[timing_.rank_of(bank)];
    if (rank.open++ == 0) account(rank, at);
  }
  void closed(BankIndex bank, Cycle at) {
    Rank& rank = ranks_[timing_.rank_of(bank)];
    if (rank.open == 1) account(rank, at);
    --rank.open;
  }
  // A request came for the rank, or its last one is gone.
  void arrived(std::uint32_t rank) {
    Rank& r = ranks_[rank];
    if (r.pending++ == 0 && r.wish != Wish::none) r.wish = Wish::none, --falling_;
    stale_ = stale_ || wants_commands() || planned_.at != never;  // it may wish to sleep no more
  }
  void finished(std::uint32_t rank, Cycle now);
  // Requests may not use the bank now (an active one excepted while a refresh waits).
  bool held(BankIndex bank) const { return (waiting_ | sleeping_) != 0 && held_back(bank); }
  bool busy() const { return waiting_ != 0; }  // some rank waits for a command
  // The banks of a rank that may be held or free after tick().
  struct Banks {
    BankIndex first, end;
  };
  Banks ticked(std::uint32_t rank) const {
    const BankIndex first = rank * shape_.rank_banks();
    if (!refreshes_one() || ranks_[rank].state != State::awake) return {first, first + shape_.rank_banks()};
    return {first + ranks_[rank].target, first + ranks_[rank].target + 1};
  }
  // A refresh holds one bank and lets the others go on.
  bool refreshes_one() const { return kind_ == device::Refresh::per_bank && !settings_.blocks_channel; }
  RankActivity activity(std::uint32_t rank, Cycle end) const;
  // Clocks after which a channel without requests does the same again; never: it refreshes nothing.
  Cycle period() const {
    return kind_ == device::Refresh::per_bank ? interval_ * shape_.rank_banks() : interval_;
  }
  // The first cycle from `now` on at which an idle rank goes to sleep or sleeps deeper; never: none does.
  Cycle deeper_sleep(Cycle now) const;
  template <class Visitor>
  void show(Visitor& to);  // to an IdlePattern
  void restart();

 private:
  enum class State : std::uint8_t { awake, power_down, self_refresh };
  enum class Wish : std::uint8_t { none, power_down, self_refresh };
  struct Rank {
    Cycle due = never;  // next refresh
    Cycle idle_since = 0;
    Cycle accounted = 0;        // activity is complete up to here
    std::uint32_t pending = 0;  // requests
    std::uint32_t open = 0;     // banks
    BankIndex target = 0;       // bank of the rank to be refreshed next (per bank)
    State state = State::awake;
    Wish wish = Wish::none;
    bool refreshing = false;  // a refresh is due and not issued
    RankActivity activity;
  };
  void make_plan(const Queues& queues, Cycle floor);
  Next next(const Queues& queues) const;
  Next next_of(std::uint32_t rank, const Queues& queues) const;
  Next close(BankIndex first, std::uint32_t count, const Queues& queues) const;
  bool held_back(BankIndex bank) const;
  void account(Rank& rank, Cycle now) const;
  void set_timer();
  Cycle sleep_at(const Rank& rank) const;
  bool wants_commands() const { return waiting_ != 0 || sleeping_ != 0 || falling_ != 0; }

  const device::MemoryController::Upkeep settings_;
  const TimingState& timing_;
  Shape shape_;
  device::Refresh kind_;
  Cycle interval_ = never;  // between two refreshes of a rank
  std::vector<Rank> ranks_;
  unsigned waiting_ = 0, sleeping_ = 0, falling_ = 0;  // ranks with a refresh due; asleep; that wish to be
  Cycle timer_ = never;
  Next planned_;
  bool stale_ = false;                  // to be planned anew
  std::vector<std::uint32_t> changed_;  // by the last tick
};

template <class Visitor>
void Upkeep::show(Visitor& to) {
  for (Rank& rank : ranks_) {
    to.time(rank.due);
    to.time(rank.accounted);
    to.same(rank.open);
    to.same(rank.target);
    to.same(static_cast<std::uint64_t>(rank.state));
    to.same(static_cast<std::uint64_t>(rank.wish));
    to.same(rank.refreshing);
    RankActivity& a = rank.activity;
    for (std::uint64_t* n : {&a.refreshes, &a.bank_refreshes, &a.active_standby, &a.precharge_standby,
                             &a.active_power_down, &a.precharge_power_down, &a.self_refresh})
      to.count(*n);
  }
  to.time(timer_);
  stale_ = true;
}

}  // namespace simtlab::memory::dram
