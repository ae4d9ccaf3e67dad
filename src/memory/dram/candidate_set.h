// One kind of command of a channel (column commands, activations or precharges): the banks that have such a
// command to issue, and which of them goes first.
//
// A bank's candidate changes far more often than the first of all, so the set keeps the first one and
// compares: only when the first itself changed, or limits did on which all depend, are all candidates looked
// at again.
#pragma once

#include <algorithm>
#include <vector>

#include "memory/dram/bank_set.h"
#include "memory/dram/scheduler.h"

namespace simtlab::memory::dram {

struct Pick {
  Cycle at = never;
  std::uint64_t key = key_none;
  BankIndex bank = 0;
};

// Which of two commands goes first: the one that can be issued earlier, then the smaller key. Strict: the
// smaller key, however late. Rotating: keys are distances from the bank that had the last command.
class PickOrder {
 public:
  PickOrder(bool strict, bool rotates, std::uint32_t banks)
      : strict_(strict), rotates_(rotates), banks_(banks), last_(banks - 1) {}

  bool strict() const { return strict_; }
  bool rotates() const { return rotates_; }
  void issued(BankIndex bank) { last_ = bank; }
  void restart() { last_ = banks_ - 1; }
  std::uint64_t key_of(BankIndex bank, std::uint64_t key) const {
    if (!rotates_ || key == key_page) return key;
    return key_waits | (bank > last_ ? bank - last_ - 1 : bank + banks_ - last_ - 1);
  }
  bool before(const Pick& a, const Pick& b) const {
    if (strict_ && a.key != b.key && a.at != never && b.at != never) return a.key < b.key;
    return a.at != b.at ? a.at < b.at : a.key < b.key;
  }

 private:
  const bool strict_, rotates_;
  const std::uint32_t banks_;
  BankIndex last_;  // that had a command
};

class CandidateSet {
 public:
  explicit CandidateSet(std::uint32_t banks) : keys_(banks, key_none), banks_(banks) {}

  bool has(BankIndex bank) const { return banks_.test(bank); }
  std::uint64_t key(BankIndex bank) const { return keys_[bank]; }
  const Pick& pick() const { return pick_; }

  // The bank has a candidate with this key, or none; offer() or invalidate() follows.
  void assign(BankIndex bank, bool candidate, std::uint64_t key) {
    banks_.assign(bank, candidate);
    keys_[bank] = key;
  }
  // A bank's candidate is new: the pick changes if it is better, and has to be made anew if it was this
  // bank's.
  void offer(const PickOrder& order, BankIndex bank, Cycle ready, Cycle floor) {
    if (stale_) return;
    if (pick_.at != never && pick_.bank == bank) {
      stale_ = true;
    } else if (has(bank)) {
      const Pick mine{std::max(ready, floor), order.key_of(bank, keys_[bank]), bank};
      if (order.before(mine, pick_)) pick_ = mine;
    }
  }
  void invalidate() { stale_ = true; }
  // The command bus is taken until then: a pick that would have gone before is made anew.
  void invalidate_before(Cycle free) { stale_ = stale_ || pick_.at < free; }
  void invalidate_if_of(BankIndex bank) { stale_ = stale_ || pick_.bank == bank; }
  // Nothing of this kind may go now: something else is older.
  void drop() {
    pick_.at = never;
    stale_ = true;
  }
  // Brings the pick up to date. ready: when the timing allows the command of a bank; floor: the command bus
  // is free.
  template <class Ready>
  void refresh(const PickOrder& order, Cycle floor, Ready ready) {
    if (!stale_) return;
    pick_ = order.strict() || order.rotates() ? find_in_order(order, floor, ready) : find(floor, ready);
    stale_ = false;
  }
  void restart() {
    banks_.clear();
    std::fill(keys_.begin(), keys_.end(), key_none);
    pick_ = {};
    stale_ = false;
  }

 private:
  // The smallest of (time, key), in one number so that the search needs no branches. Times are counted from
  // the floor; no limit lies 2^24 clocks ahead (device::technology_keys bounds each by 10^6).
  class Best {
   public:
    explicit Best(Cycle floor) : floor_(floor) {}
    void offer(Cycle ready, std::uint64_t key, BankIndex bank) {
      const std::uint64_t packed = ((later(ready, floor_) - floor_) << key_bits) | key;
      bank_ = packed < packed_ ? bank : bank_;
      packed_ = packed < packed_ ? packed : packed_;
    }
    void offer_strict(Cycle ready, std::uint64_t key, BankIndex bank) {
      if (key >= strict_key_) return;
      strict_key_ = key;
      packed_ = ((std::max(ready, floor_) - floor_) << key_bits) | key;
      bank_ = bank;
    }
    Pick pick() const {
      if (packed_ == ~std::uint64_t{0}) return {};
      return {floor_ + (packed_ >> key_bits), packed_ & key_none, bank_};
    }

   private:
    Cycle floor_;
    std::uint64_t packed_ = ~std::uint64_t{0};
    std::uint64_t strict_key_ = key_none;
    BankIndex bank_ = 0;
  };

  template <class Ready>
  Pick find(Cycle floor, Ready ready) const {
    Best best(floor);
    const std::uint64_t* const key = keys_.data();
    banks_.each([&](BankIndex bank) { best.offer(ready(bank), key[bank], bank); });
    return best.pick();
  }
  template <class Ready>
  [[gnu::noinline]] Pick find_in_order(const PickOrder& order, Cycle floor, Ready ready) const {
    Best best(floor);
    banks_.each([&](BankIndex bank) {
      const std::uint64_t key = order.key_of(bank, keys_[bank]);
      order.strict() ? best.offer_strict(ready(bank), key, bank) : best.offer(ready(bank), key, bank);
    });
    return best.pick();
  }

  Pick pick_;
  bool stale_ = false;               // to be made anew
  std::vector<std::uint64_t> keys_;  // by bank
  BankSet banks_;                    // that have a candidate
};

}  // namespace simtlab::memory::dram
