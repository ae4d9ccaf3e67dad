// One DRAM channel behind its controller, event-driven: after each command the channel works out the next
// cycle at which anything can happen, and nothing is done in between.
//
// Every bank keeps what its scheduler would do next (a column command, a row command); a pick over the banks
// that have work finds the earliest and, of those, the one that goes first. A column command changes only the
// limits of column commands (and of its own bank), a row command only those of row commands, so each repeats
// only its own pick.
#pragma once

#include <algorithm>
#include <vector>

#include "memory/dram/address_mapping.h"
#include "memory/dram/bank_set.h"
#include "memory/dram/channels.h"
#include "memory/dram/loss.h"
#include "memory/dram/page_policy.h"
#include "memory/dram/scheduler.h"
#include "memory/dram/upkeep.h"
#include "memory/ring.h"

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

class Channel {
 public:
  Channel(std::uint32_t number, const device::Technology& technology,
          const device::MemoryController& controller, const AddressMapping& mapping);

  bool accepts(const Access& access) const;
  void add(const Access& access, Cycle at);
  // Earliest cycle at which advance() does something that is seen from outside; never: no request is held.
  Cycle next_event() const { return next_event_; }
  void advance(Cycle end, std::vector<Completion>& done);
  void run(Cycle end);  // advance() without reporting what is done
  void restart();

  const ChannelStatistics& statistics() const { return statistics_; }
  const std::vector<BankActivity>& banks() const { return bank_activity_; }
  RankActivity rank_activity(std::uint32_t rank, Cycle end) const;
  BusTime bus_time(std::uint32_t pseudo, Cycle end) const {
    return loss_.report(pseudo, end, pending_[pseudo] != 0);
  }
  const Shape& shape() const { return timing_.shape(); }
  void record(CommandSink* sink) { sink_ = sink; }

 private:
  struct Pick {
    Cycle at = never;
    std::uint64_t key = key_none;
    BankIndex bank = 0;
  };
  struct Candidate {       // what a bank would do next
    Slot slot = no_slot;   // row: no_slot with key_page is the page policy's
    bool write = false;    // column
    bool close = false;    // row: precharge, else activation
    Cycle not_before = 0;  // row
  };
  // The smallest of (time, key), in one number so that the search needs no branches.
  class Best;

  // requests (channel_requests.cpp)
  bool answered_by_queue(const Access& access, BankIndex bank, const Place& place, Cycle at);
  void insert(Slot slot, Cycle at);
  bool changes_nothing(const Request& request) const;
  void busy(std::uint32_t pseudo, Cycle at);
  void complete(const Request& request, Cycle issued);
  void transfer(Cycle now);
  bool transfer_first(bool write);
  void move(Slot slot);            // to the queue of its bank
  bool set_write_mode(Cycle now);  // true: it changed
  void leave(Slot slot, Cycle now);
  void report(Cycle end, std::vector<Completion>& done);

  // scheduling (channel.cpp)
  Cycle next_action();
  void step(Cycle now);
  void keep_oldest();
  void choose(BankIndex bank);  // and brings the picks up to date
  void choose_loaded();
  void choose_rank(std::uint32_t rank);
  void offer(Pick& pick, bool& dirty, BankIndex bank, bool candidate, Cycle ready, Cycle floor,
             std::uint64_t key);
  void offer_column(BankIndex bank);
  void offer_activation(BankIndex bank);
  void offer_precharge(BankIndex bank);
  Cycle column_floor() const { return later(now_, column_bus_); }
  Cycle row_floor() const { return later(now_, row_bus_); }
  void tick_upkeep(Cycle now);
  Pick pick_column(Cycle floor) const;
  Pick pick_activation(Cycle floor) const;
  Pick pick_precharge(Cycle floor) const;
  template <class Ready>
  Pick pick(Cycle floor, const BankSet& set, const std::vector<std::uint64_t>& keys, Ready ready) const;
  template <class Ready>
  Pick pick_in_order(Cycle floor, const BankSet& set, const std::vector<std::uint64_t>& keys,
                     Ready ready) const;
  Cycle column_ready(BankIndex bank) const { return timing_.column(bank, columns_[bank].write); }
  Cycle precharge_ready(BankIndex bank) const {
    return later(timing_.precharge(bank), rows_[bank].not_before);
  }
  bool before(const Pick& a, const Pick& b) const {
    if (strict_ && a.key != b.key && a.at != never && b.at != never) return a.key < b.key;
    return a.at != b.at ? a.at < b.at : a.key < b.key;
  }
  std::uint64_t key_of(BankIndex bank, std::uint64_t key) const;
  void update_next_event();

  // commands (channel_issue.cpp)
  void issue_column(BankIndex bank, Cycle now);
  void issue_row(BankIndex bank, Cycle now);
  void after_command(Cycle now, bool column, std::uint32_t clocks);  // takes the bus for so long
  void issue_upkeep(const Upkeep::Next& next, Cycle now);
  // True: every bank has to choose again, as the two below
  bool activate(BankIndex bank, Slot slot, Cycle now);
  void row_to_activate(BankIndex bank);
  void row_to_column(BankIndex bank, Slot slot);
  bool close_bank(BankIndex bank, Closing why, Cycle now);
  bool tell_closed(BankIndex bank, Closing why, Cycle now);
  void send(Command command, BankIndex bank, Cycle now, std::uint32_t row, std::uint32_t column) {
    if (sink_ != nullptr) write_record(command, bank, now, row, column);
  }
  void write_record(Command command, BankIndex bank, Cycle now, std::uint32_t row, std::uint32_t column);
  void count_latency(const Request& request, Cycle now, Cycle row_ready);

  const std::uint32_t number_;
  const device::MemoryController controller_;
  const device::Technology::Timing t_;
  const AddressMapping& mapping_;
  const bool dual_issue_;
  const std::uint32_t act_clocks_, column_clocks_;  // that commands hold the bus
  const bool per_bank_;                             // queues of banks
  std::uint32_t capacity_[2];                       // reads, writes; unified: of both together in [0]
  std::uint32_t high_ = 0, low_ = 0;                // of the write queue

  TimingState timing_;
  Queues queues_;
  Upkeep upkeep_;
  LossMeter loss_;
  ActiveScheduler scheduler_;
  ActivePagePolicy pages_;
  const bool strict_, rotates_, steady_;
  const bool row_frees_;                           // an activation makes room in a queue
  BankView::Lists lists_ = BankView::Lists::both;  // that the scheduler looks at

  std::vector<Candidate> columns_, rows_;  // by bank
  std::vector<std::uint64_t> column_keys_, row_keys_;
  BankSet has_column_, has_act_, has_close_;  // banks with such a candidate
  BankSet loaded_;                            // with any request
  Pick column_pick_, act_pick_, close_pick_;
  Upkeep::Next upkeep_pick_;
  // To be made anew
  bool column_dirty_ = false, act_dirty_ = false, close_dirty_ = false, upkeep_dirty_ = false;

  Cycle now_ = 0;                       // everything before is done
  Cycle row_bus_ = 0, column_bus_ = 0;  // free from; equal unless dual_issue_
  Cycle transfer_at_ = never;           // next move to a queue of a bank
  Cycle last_arrival_ = 0;
  Cycle next_event_ = never, next_done_ = never;
  std::uint64_t order_ = 0;
  std::uint32_t held_[2] = {0, 0};  // in the read and write queue
  std::uint32_t moved_ = 0;         // in the queues of banks
  std::uint32_t alive_ = 0;         // requests not yet sent to the memory
  std::uint32_t draining_ = 0;      // per_bank: writes still to move
  bool write_mode_ = false;
  BankIndex last_bank_ = 0;             // rotation
  std::vector<std::uint32_t> pending_;  // requests by pseudo-channel
  std::vector<std::uint32_t> changed_;  // scratch of upkeep
  void push_done(Ring<Completion>& ring, const Completion& completion) {
    ring.push(completion);
    next_done_ = std::min(next_done_, completion.at);
  }
  Ring<Completion> reads_done_, writes_done_, forwards_done_;  // each in the order of time
  ChannelStatistics statistics_;
  std::vector<BankActivity> bank_activity_;
  CommandSink* sink_ = nullptr;
};

}  // namespace simtlab::memory::dram
