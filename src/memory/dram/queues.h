// The requests that a channel holds: one pool of slots, for every bank a list of reads and one of writes in
// order of arrival, and (where the controller moves requests to queues of banks) a list of those that have
// not moved yet.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "memory/dram/bank_set.h"
#include "memory/dram/timing_state.h"

namespace simtlab::memory::dram {

using Slot = std::uint32_t;
inline constexpr Slot no_slot = ~Slot{0};

enum class RowResult : std::uint8_t { hit, miss, conflict };  // open row; bank closed; another row was open

struct Request {
  std::uint64_t tag = 0;
  std::uint64_t order = 0;  // of scheduling: arrival, or the move to the bank's queue
  Cycle arrived = 0;
  Cycle begun = never;  // first command on its behalf
  std::uint32_t row = 0, column = 0;
  std::uint32_t source = 0;
  Slot next = no_slot, previous = no_slot;              // of its bank and direction
  Slot queue_next = no_slot, queue_previous = no_slot;  // of those that have not moved
  Slot merged = no_slot;                                // reads of the same address that it answers too
  std::uint16_t bank = 0;
  RowResult result = RowResult::hit;
  bool write = false;
  bool moved = true;        // may be scheduled
  bool after_read = false;  // a write whose address an older queued read asks for
  bool marked = false;      // by the scheduler
};

struct BankQueue {
  std::array<Slot, 2> head{no_slot, no_slot}, tail{no_slot, no_slot};  // reads, writes
  std::array<std::uint32_t, 2> count{};
  std::uint32_t moved = 0;  // requests in the bank's own queue
  Slot active = no_slot;    // its row is activated and it has left its list
  std::uint32_t row = 0;    // open row
  std::uint32_t hits = 0;   // column commands since the activation
  bool open = false;
  Cycle used = 0;  // last command
  bool empty() const { return head[0] == no_slot && head[1] == no_slot && active == no_slot; }
};

class Queues {
 public:
  Queues(std::uint32_t banks, std::uint32_t slots) : banks_(banks), loaded_(banks) {
    pool_.reserve(slots);
    free_.reserve(slots);
  }

  Request& operator[](Slot slot) { return pool_[slot]; }
  const Request& operator[](Slot slot) const { return pool_[slot]; }
  BankQueue& bank(BankIndex b) { return banks_[b]; }
  const BankQueue& bank(BankIndex b) const { return banks_[b]; }
  // Banks with any request.
  const BankSet& loaded() const { return loaded_; }
  void update_loaded(BankIndex b) {  // after remove(), or the end of an active request
    if (banks_[b].empty()) loaded_.reset(b);
  }
  std::uint64_t next_order() { return order_++; }

  // A slot with a fresh request in it. References to requests are gone after it.
  Slot take() {
    if (free_.empty()) {
      pool_.emplace_back();
      return static_cast<Slot>(pool_.size() - 1);
    }
    const Slot slot = free_.back();
    free_.pop_back();
    pool_[slot] = Request{};
    return slot;
  }
  void give_back(Slot slot) { free_.push_back(slot); }
  // A request that is answered together with a queued one.
  void merge(std::uint64_t tag, Slot with) {
    const Slot slot = take();
    pool_[slot].tag = tag;
    pool_[slot].merged = pool_[with].merged;
    pool_[with].merged = slot;
  }

  // At the end of its bank's list.
  void append(Slot slot) {
    Request& r = pool_[slot];
    BankQueue& b = banks_[r.bank];
    r.previous = b.tail[r.write];
    r.next = no_slot;
    (r.previous == no_slot ? b.head[r.write] : pool_[r.previous].next) = slot;
    b.tail[r.write] = slot;
    ++b.count[r.write];
    loaded_.set(r.bank);
  }
  void remove(Slot slot) {
    const Request& r = pool_[slot];
    BankQueue& b = banks_[r.bank];
    (r.previous == no_slot ? b.head[r.write] : pool_[r.previous].next) = r.next;
    (r.next == no_slot ? b.tail[r.write] : pool_[r.next].previous) = r.previous;
    --b.count[r.write];
  }

  // The request of a bank for the same address, or no_slot.
  Slot find(BankIndex bank, bool write, std::uint32_t row, std::uint32_t column) const {
    for (Slot s = banks_[bank].head[write]; s != no_slot; s = pool_[s].next)
      if (pool_[s].row == row && pool_[s].column == column) return s;
    return no_slot;
  }

  // Whether a request that is queued, or active, asks for the row that is open, or was open last.
  bool wants_open_row(BankIndex bank) const {
    const BankQueue& b = banks_[bank];
    if (b.active != no_slot && pool_[b.active].row == b.row) return true;
    for (const Slot head : b.head)
      for (Slot s = head; s != no_slot; s = pool_[s].next)
        if (pool_[s].row == b.row) return true;
    return false;
  }

  // Those waiting for a place in the queue of their bank.
  void wait(Slot slot) {
    Request& r = pool_[slot];
    Waiting& w = waiting_[r.write];
    r.moved = false;
    r.queue_previous = w.tail;
    r.queue_next = no_slot;
    (w.tail == no_slot ? w.head : pool_[w.tail].queue_next) = slot;
    w.tail = slot;
    ++w.count;
  }
  void stop_waiting(Slot slot) {
    Request& r = pool_[slot];
    Waiting& w = waiting_[r.write];
    (r.queue_previous == no_slot ? w.head : pool_[r.queue_previous].queue_next) = r.queue_next;
    (r.queue_next == no_slot ? w.tail : pool_[r.queue_next].queue_previous) = r.queue_previous;
    --w.count;
    r.moved = true;
  }
  Slot first_waiting(bool write) const { return waiting_[write].head; }
  std::uint32_t waiting(bool write) const { return waiting_[write].count; }

  void clear() {
    for (BankQueue& b : banks_) b = {};
    waiting_ = {};
    pool_.clear();
    free_.clear();
    loaded_.clear();
    order_ = 0;
  }

 private:
  struct Waiting {
    Slot head = no_slot, tail = no_slot;
    std::uint32_t count = 0;
  };
  std::vector<Request> pool_;  // grows to the most requests ever held
  std::vector<Slot> free_;
  std::vector<BankQueue> banks_;
  std::array<Waiting, 2> waiting_{};
  BankSet loaded_;
  std::uint64_t order_ = 0;  // of the next request
};

}  // namespace simtlab::memory::dram
