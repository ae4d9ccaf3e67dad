// Which of a bank's requests may go next, and before which of other banks: one file a policy,
// schedulers/NAME.cpp, which gives a SchedulerRule scheduler_NAME. A new one is a new file: the build makes
// the list (cmake/registry.cmake).
//
// A policy looks at one bank at a time and only when something about that bank changed. It names the request
// whose column command it would issue and the request whose row it would open, each with a key; the channel
// issues what is ready first and, of several, the smallest key. Every channel has a scheduler of its own,
// which may keep what it learns from events.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/named.h"
#include "device/memory_controller.h"
#include "memory/dram/policy_setup.h"
#include "memory/dram/queues.h"

namespace simtlab::memory::dram {

// Keys of 40 bits: classes in the upper ones, the order of arrival below. Column and row commands compete
// with each other.
inline constexpr unsigned key_bits = 40;
// Everything but active requests and upkeep
inline constexpr std::uint64_t key_waits = std::uint64_t{1} << 39;
inline constexpr std::uint64_t key_upkeep = std::uint64_t{1} << 38;  // refresh
inline constexpr std::uint64_t key_row = std::uint64_t{1} << 37;     // row commands after column commands
inline constexpr std::uint64_t key_none = (std::uint64_t{1} << key_bits) - 1;
// Of the page policy: after all that serve a request
inline constexpr std::uint64_t key_page = key_none - 1;

struct Choice {
  Slot column = no_slot, row = no_slot;
  std::uint64_t column_key = key_none, row_key = key_none;
};

// The schedulable requests of one bank, oldest first: of one direction, or of both.
class BankView {
 public:
  enum class Lists : std::uint8_t { reads, writes, both };
  BankView(const Queues& queues, BankIndex bank, Lists lists) : queues_(queues), bank_(queues.bank(bank)) {
    if (lists != Lists::writes) begin(false);
    if (lists != Lists::reads) begin(true);
  }

  const BankQueue& bank() const { return bank_; }
  const Request& request(Slot slot) const { return queues_[slot]; }
  bool hits(Slot slot) const { return bank_.open && queues_[slot].row == bank_.row; }
  bool hits(const Queued& queued) const { return bank_.open && queued.row == bank_.row; }

  // The request at the cursor, oldest first; no_slot at the end.
  Slot current() const {
    const Queued* const queued = entry();
    return queued == nullptr ? no_slot : queued->slot;
  }
  // What its list knows of it, which costs less than a look at the whole request; null at the end.
  const Queued* entry() const {
    if (at_[1] == nullptr) return at_[0];
    if (at_[0] == nullptr) return blocker_of(at_[1]);
    return at_[0]->order < at_[1]->order ? at_[0] : at_[1];
  }
  void advance() {
    const bool write = at_[1] != nullptr && (at_[0] == nullptr || at_[1]->order < at_[0]->order);
    ++at_[write];
    skip_unmoved(write);
  }

 private:
  void begin(bool write) {
    const std::vector<Queued>& list = bank_.list[write];
    if (list.empty()) return;
    at_[write] = list.data();
    end_[write] = list.data() + list.size();
    skip_unmoved(write);
  }
  // A write may not pass an older read of its address: the read goes in its stead, whatever the direction.
  const Queued* blocker_of(const Queued* write) const {
    if (!write->after_read) return write;
    const Request& w = queues_[write->slot];
    const Queued* const read = queues_.entry(w.bank, false, w.row, w.column);
    return read != nullptr && read->moved && read->order < write->order ? read : write;
  }
  // Only what is in the bank's own queue, where there is one.
  void skip_unmoved(bool write) {
    while (at_[write] != end_[write] && !at_[write]->moved) ++at_[write];
    if (at_[write] == end_[write]) at_[write] = nullptr;
  }

  const Queues& queues_;
  const BankQueue& bank_;
  const Queued* at_[2] = {nullptr, nullptr};
  const Queued* end_[2] = {nullptr, nullptr};
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  virtual void choose(BankView view, Choice& choice) const = 0;

  // Events; the channel calls those that a policy overrides. True: what the policy learnt may change the
  // choice of any bank, so that every bank has to choose again. (The bank of the event chooses again anyway
  // where its choice may have changed.) `at` is the cycle. A request came; not with queues of banks
  virtual bool arrived(Queues&, Slot, Cycle /*at*/) { return false; }
  // Queues of banks: it came to that of its bank
  virtual bool moved(Queues&, Slot, Cycle /*at*/) { return false; }
  // Its column command was issued
  virtual bool served(Queues&, Slot, Cycle /*at*/) { return false; }
  virtual bool opened(const Queues&, BankIndex, Cycle /*at*/) { return false; }  // a row was activated
  // A row was closed: BankQueue::row
  virtual bool closed(const Queues&, BankIndex, Cycle /*at*/) { return false; }
  // Split queues: the writes have reached their mark and go now, or have been drained and reads go.
  // (Every bank chooses again then.)
  virtual void turned(bool /*to_writes*/, Cycle /*at*/) {}
  virtual void restart() {}

  // The smallest key goes first even when others are ready earlier.
  virtual bool strict() const { return false; }
  // A bank's choice changes only when its own request goes, or when a request comes that hits its open row
  // while none of its choices does: the channel then asks less often. Keys of rows are those of columns plus
  // key_row.
  virtual bool steady() const { return false; }
  // Banks take turns; keys are not looked at.
  virtual bool rotates() const { return false; }
};

// Events that a policy listens to, as a set: those that cost a call. It listens to what it overrides.
enum SchedulerEvent : unsigned {
  on_arrival = 1,
  on_move = 2,
  on_service = 4,
  on_opening = 8,
  on_closing = 16,
  on_turn = 32
};
template <class Policy>
constexpr unsigned scheduler_events() {
  return if_overridden(&Policy::arrived, &Scheduler::arrived, on_arrival) |
         if_overridden(&Policy::moved, &Scheduler::moved, on_move) |
         if_overridden(&Policy::served, &Scheduler::served, on_service) |
         if_overridden(&Policy::opened, &Scheduler::opened, on_opening) |
         if_overridden(&Policy::closed, &Scheduler::closed, on_closing) |
         if_overridden(&Policy::turned, &Scheduler::turned, on_turn);
}

struct SchedulerRule {
  std::string_view doc;  // one sentence without the final full stop
  std::span<const device::PolicyParameter> parameters;
  unsigned events;
  std::unique_ptr<Scheduler> (*make)(const PolicySetup& setup);
};
template <class Policy>
constexpr SchedulerRule scheduler_rule(std::string_view doc,
                                       std::span<const device::PolicyParameter> parameters = {}) {
  return {doc, parameters, scheduler_events<Policy>(),
          [](const PolicySetup& setup) -> std::unique_ptr<Scheduler> { return make_policy<Policy>(setup); }};
}
std::span<const Named<SchedulerRule>> scheduler_rules();  // in the order of the names

// The scheduler of a channel, and what its rule says once and for all.
struct ActiveScheduler {
  ActiveScheduler(const device::MemoryController::Schedule& schedule, std::uint32_t banks);
  bool listens(SchedulerEvent event) const { return (events & event) != 0; }

  unsigned events;
  std::unique_ptr<Scheduler> policy;
  bool strict, rotates, steady;
};

}  // namespace simtlab::memory::dram
