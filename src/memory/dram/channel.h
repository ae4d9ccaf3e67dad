// One DRAM channel behind its controller, event-driven: after each command the channel works out the next
// cycle at which anything can happen, and nothing is done in between.
//
// The channel owns its parts and lets them meet: a request comes in (Admission, Queues), every bank says what
// it would do next (scheduler and page policy), the first of these commands goes (Candidates, CommandBus),
// and what it changes is told to the bank timing, to refresh and power-down (Upkeep), to the policies, and to
// those who count and record.
#pragma once

#include <memory>
#include <vector>

#include "memory/dram/address_mapping.h"
#include "memory/dram/admission.h"
#include "memory/dram/answers.h"
#include "memory/dram/bank_transfer.h"
#include "memory/dram/candidates.h"
#include "memory/dram/channel_statistics.h"
#include "memory/dram/channels.h"
#include "memory/dram/command_bus.h"
#include "memory/dram/command_recorder.h"
#include "memory/dram/idle_pattern.h"
#include "memory/dram/page_policy.h"
#include "memory/dram/scheduler.h"
#include "memory/dram/upkeep.h"
#include "memory/dram/write_drain.h"

namespace simtlab::memory::dram {

class Channel {
 public:
  // What channels have in common outlives them.
  Channel(std::uint32_t number, const device::Technology& technology,
          const device::MemoryController& controller, std::shared_ptr<const TimingRules> rules,
          const AddressMapping& mapping);

  bool accepts(const Access& access) const { return admission_.accepts(access.write); }
  // As Channels::accepts_by() and await_room() need it.
  void catch_up(Cycle at) {
    if (at > now_) run(at);
    update_next_event();
  }
  void await_room(bool waits) {
    waited_.for_room = waits;
    update_next_event();
  }
  void add(const Access& access, Cycle at);
  // Earliest cycle at which advance() does something that is seen from outside; never: no request is held.
  Cycle next_event() const { return next_event_; }
  void advance(Cycle end, std::vector<Completion>& done);
  void run(Cycle end);  // advance() without reporting what is done
  void restart();

  const ChannelStatistics& statistics() const { return counters_.requests(); }
  const std::vector<BankActivity>& banks() const { return counters_.banks(); }
  RankActivity rank_activity(std::uint32_t rank, Cycle end) const;
  BusTime bus_time(std::uint32_t pseudo, Cycle end) const { return counters_.bus_time(pseudo, end); }
  const Shape& shape() const { return timing_.shape(); }
  void record(CommandSink* sink) { recorder_.record_to(sink); }

 private:
  // Requests: they come in, are answered from the queues, move to queues of banks, and leave.
  bool answered_by_queue(const Access& access, BankIndex bank, const Place& place, Cycle at);
  void enqueue(Slot slot, Cycle at);
  bool changes_no_choice(const Request& request) const;
  void move_to_bank(Slot slot);
  void answer(const Request& request, Cycle issued);
  void retire(Slot slot, Cycle now);
  // Of split queues; true: every bank has to choose again.
  bool update_direction(Cycle now) {
    const WriteDrain::Change change = drain_.update(admission_.held(false), admission_.held(true));
    if (change == WriteDrain::Change::turned) tell_turned(now);
    return change != WriteDrain::Change::none;
  }
  void tell_turned(Cycle now) {
    if (scheduler_.listens(on_turn)) scheduler_.policy->turned(drain_.writing(), now);
  }
  void finish_turn();

  // Everything before `end`, action by action; and the same at once where only refreshes repeat.
  void run_to(Cycle end);
  void skip_idle(Cycle end);

  // An activation makes room in a queue.
  bool row_frees() const {
    return controller_.queues.frees_at_activation && controller_.queues.style != device::QueueStyle::per_bank;
  }
  // Scheduling: what banks would do, and when something happens.
  void choose(BankIndex bank);
  void choose_ahead(BankIndex bank, Choice& choice) const;
  void choose_loaded();
  void choose_rank(std::uint32_t rank);
  Candidates::Floors floors() const {
    return {later(now_, bus_.column_free()), later(now_, bus_.row_free())};
  }
  Cycle next_action();
  Cycle next_request();
  void update_next_event();
  void expect_next() const;
  void step(Cycle now);

  // Commands.
  void issue_column(BankIndex bank, Cycle now);
  void issue_row(BankIndex bank, Cycle now);
  // True: every bank has to choose again, as the two below
  bool activate(BankIndex bank, Slot slot, Cycle now);
  bool close_bank(BankIndex bank, Closing why, Cycle now);
  bool tell_closed(BankIndex bank, Closing why, Cycle now);
  void issue_upkeep(const Upkeep::Next& next, Cycle now);
  void start_upkeep(Cycle now);
  // What would have gone in this cycle is picked anew, for the bus is taken.
  void after_command() {
    candidates_.bus_taken({bus_.column_free(), bus_.row_free()});
    upkeep_.command_sent();
  }

  const device::MemoryController& controller_;
  const device::Technology::Timing& t_;
  const AddressMapping& mapping_;
  Cycle now_ = 0;  // everything before is done
  Cycle next_event_ = never;
  struct Waited {
    bool for_room = true;  // as Channels::await_room()
    const Cycle answer;    // from the next command to the answer that it may bring, at least
  } waited_;
  TimingState timing_;
  Admission admission_;
  ActiveScheduler scheduler_;
  WriteDrain drain_;
  ActivePagePolicy pages_;
  const bool steady_;  // ActiveScheduler::steady, and nothing else changes choices
  CommandBus bus_;
  CommandRecorder recorder_;
  BankTransfer transfer_;
  Queues queues_;
  Candidates candidates_;
  Upkeep upkeep_;
  Answers answers_;
  ChannelCounters counters_;
  IdlePattern idle_;
};

}  // namespace simtlab::memory::dram
