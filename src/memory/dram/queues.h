// The requests that a channel holds: one pool of slots, for every bank a list of reads and one of writes in
// order of arrival, and (where the controller moves requests to queues of banks) a list of those that have
// not moved yet.
//
// A channel looks through the lists of a bank far more often than at a whole request, and most of what a
// GPU's channels hold is in no cache near the host's core. So what is looked for stands in the lists
// themselves, which lie in one piece, and the rest of a request fills one line of the host's cache.
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

struct alignas(64) Request {
  std::uint64_t tag = 0;
  std::uint64_t order = 0;  // of scheduling: arrival, or the move to the bank's queue
  Cycle arrived = 0;
  Cycle begun = never;  // first command on its behalf
  std::uint32_t row = 0, column = 0;
  std::uint32_t source = 0;
  Slot queue_next = no_slot, queue_previous = no_slot;  // of those that have not moved
  Slot merged = no_slot;                                // reads of the same address that it answers too
  std::uint16_t bank = 0;
  RowResult result = RowResult::hit;
  bool write = false;
  bool moved = true;        // may be scheduled
  bool after_read = false;  // a write whose address an older queued read asks for
  bool marked = false;      // by the scheduler
};

// What the list of a bank knows of a request.
struct Queued {
  std::uint64_t order = 0;
  std::uint32_t row = 0, column = 0;
  Slot slot = no_slot;
  bool moved = true, after_read = false;
};

struct BankQueue {
  std::array<std::vector<Queued>, 2> list;  // reads, writes; oldest first
  std::uint32_t row = 0;                    // open row
  std::uint32_t hits = 0;                   // column commands since the activation
  Slot active = no_slot;                    // its row is activated and it has left its list
  bool open = false;
  std::uint32_t moved = 0;  // requests in the bank's own queue
  Cycle used = 0;           // last command
  bool empty() const { return list[0].empty() && list[1].empty() && active == no_slot; }
  void restart() {
    for (auto& requests : list) requests.clear();
    row = hits = moved = 0;
    active = no_slot;
    open = false;
    used = 0;
  }
};

class Queues {
 public:
  Queues(std::uint32_t banks, std::uint32_t slots) : banks_(banks), loaded_(banks) {
    pool_.reserve(slots);
    writes_.reserve(slots);
    free_.reserve(slots);
  }

  Request& operator[](Slot slot) { return pool_[slot]; }
  // Of a request that is or was in a list. The request itself is cold where many wait.
  bool is_write(Slot slot) const { return writes_[slot] != 0; }
  // A hint that the request is served soon. Always inline: g++ takes a function that only prefetches for one
  // without effect.
  [[gnu::always_inline]] void expect(Slot slot) const { __builtin_prefetch(&pool_[slot], 1); }
  [[gnu::always_inline]] void expect(Slot slot, BankIndex bank, bool write) const {
    expect(slot);
    __builtin_prefetch(banks_[bank].list[write].data(), 1);
  }
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
    const Request& r = pool_[slot];
    if (writes_.size() < pool_.size()) writes_.resize(pool_.size());
    writes_[slot] = r.write;
    banks_[r.bank].list[r.write].push_back({r.order, r.row, r.column, slot, r.moved, r.after_read});
    loaded_.set(r.bank);
  }
  void remove(Slot slot) {
    auto& list = list_of(slot);
    list.erase(list.begin() + (place_of(slot, list) - list.data()));
  }

  // The request of a bank for the same address, or null.
  const Queued* entry(BankIndex bank, bool write, std::uint32_t row, std::uint32_t column) const {
    for (const Queued& q : banks_[bank].list[write])
      if (q.row == row && q.column == column) return &q;
    return nullptr;
  }
  // Its slot, or no_slot.
  Slot find(BankIndex bank, bool write, std::uint32_t row, std::uint32_t column) const {
    const Queued* const q = entry(bank, write, row, column);
    return q == nullptr ? no_slot : q->slot;
  }

  // Whether a request that is queued, or active, asks for the row that is open, or was open last.
  bool wants_open_row(BankIndex bank) const {
    const BankQueue& b = banks_[bank];
    if (b.active != no_slot && pool_[b.active].row == b.row) return true;
    for (const auto& list : b.list)
      for (const Queued& q : list)
        if (q.row == b.row) return true;
    return false;
  }

  // Those waiting for a place in the queue of their bank; the last one of its list.
  void wait(Slot slot) {
    Request& r = pool_[slot];
    Waiting& w = waiting_[r.write];
    r.moved = list_of(slot).back().moved = false;
    r.queue_previous = w.tail;
    r.queue_next = no_slot;
    (w.tail == no_slot ? w.head : pool_[w.tail].queue_next) = slot;
    w.tail = slot;
    ++w.count;
  }
  // It takes its turn anew.
  void stop_waiting(Slot slot) {
    Request& r = pool_[slot];
    Waiting& w = waiting_[r.write];
    (r.queue_previous == no_slot ? w.head : pool_[r.queue_previous].queue_next) = r.queue_next;
    (r.queue_next == no_slot ? w.tail : pool_[r.queue_next].queue_previous) = r.queue_previous;
    --w.count;
    Queued& q = *place_of(slot, list_of(slot));
    r.moved = q.moved = true;
    r.order = q.order = next_order();
  }
  Slot first_waiting(bool write) const { return waiting_[write].head; }
  std::uint32_t waiting(bool write) const { return waiting_[write].count; }

  void clear() {
    for (BankQueue& b : banks_) b.restart();
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
  std::vector<Queued>& list_of(Slot slot) { return banks_[pool_[slot].bank].list[pool_[slot].write]; }
  static Queued* place_of(Slot slot, std::vector<Queued>& list) {
    Queued* q = list.data();
    while (q->slot != slot) ++q;
    return q;
  }

  std::vector<Request> pool_;         // grows to the most requests ever held
  std::vector<std::uint8_t> writes_;  // by slot
  std::vector<Slot> free_;
  std::vector<BankQueue> banks_;
  std::array<Waiting, 2> waiting_{};
  BankSet loaded_;
  std::uint64_t order_ = 0;  // of the next request
};

}  // namespace simtlab::memory::dram
