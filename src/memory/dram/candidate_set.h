// One kind of command of a channel (column commands, activations or precharges): the banks that have such a
// command to issue, and which of them goes first.
//
// A bank's candidate changes far more often than the first of all, so the set keeps the first one and
// compares: only when the first itself changed, or limits did on which all depend, is it looked for again. It
// does so rank by rank, for most limits are those of one rank (which may be a pseudo-channel).
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
  bool plain() const { return !strict_ && !rotates_; }
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
  // by_rank: most of its limits are those of single ranks.
  CandidateSet(const Shape& shape, const PickOrder& order, bool by_rank)
      : keys_(shape.all_banks(), absent),
        banks_(shape.all_banks()),
        group_banks_(shape.banks),
        part_groups_(by_rank && order.plain() ? shape.groups : shape.all_groups()),
        parts_(shape.all_groups() / part_groups_) {}

  bool has(BankIndex bank) const { return banks_.test(bank); }
  std::uint32_t count() const { return count_; }
  bool stale() const { return stale_; }
  const Pick& pick() const { return pick_; }

  // The bank has a candidate with this key, or none; offer() or an invalidation follows.
  void assign(BankIndex bank, bool candidate, std::uint64_t key) {
    count_ += std::uint32_t{candidate} - std::uint32_t{has(bank)};
    banks_.assign(bank, candidate);
    keys_[bank] = candidate ? key : absent;
  }
  // A bank's candidate is new: the pick changes if it is better, and has to be made anew if it was this
  // bank's.
  void offer(const PickOrder& order, BankIndex bank, Cycle ready, Cycle floor) {
    Part& part = part_of(bank);
    if (part.stale) return;
    if (part.pick.at != never && part.pick.bank == bank) {
      make_stale(part);
    } else if (has(bank)) {
      const Pick mine{std::max(ready, floor), order.key_of(bank, keys_[bank]), bank};
      if (!order.before(mine, part.pick)) return;
      part.pick = mine;
      if (order.before(mine, pick_)) pick_ = mine;
    }
  }
  // Limits of all banks have risen, or of those of some ranks.
  void invalidate() {
    for (Part& part : parts_) make_stale(part);
  }
  void invalidate(std::uint32_t first_rank, std::uint32_t ranks) {
    if (parts_.size() == 1) return make_stale(parts_[0]);
    for (std::uint32_t rank = first_rank; rank < first_rank + ranks; ++rank) make_stale(parts_[rank]);
  }
  void invalidate_if_of(BankIndex bank) {
    if (Part& part = part_of(bank); part.pick.bank == bank) make_stale(part);
  }
  // The command bus is taken until then: a pick that would have gone before is made anew.
  void invalidate_before(Cycle free) {
    for (Part& part : parts_)
      if (part.pick.at < free) make_stale(part);
  }
  // Nothing of this kind may go now: something else is older.
  void drop() {
    pick_.at = never;
    invalidate();
  }
  // Brings the pick up to date. ready: when the timing allows the command of a bank; floor: the command bus
  // is free.
  template <class Ready>
  void refresh(const PickOrder& order, Cycle floor, Ready ready) {
    if (!stale_) return;
    renew(order, [&](std::uint32_t part) {
      return order.plain() ? find(part, floor, ready) : find_in_order(order, floor, ready);
    });
  }
  // The same where nearly all banks have a candidate. limit: of the banks of a group, beside that of each.
  template <class Limit, class Ready>
  void refresh_full(const PickOrder& order, Cycle floor, Limit limit, Ready ready) {
    renew(order, [&](std::uint32_t part) { return find_in_full(part, floor, limit, ready); });
  }
  void restart() {
    banks_.clear();
    std::fill(keys_.begin(), keys_.end(), absent);
    std::fill(parts_.begin(), parts_.end(), Part{});
    pick_ = {};
    count_ = 0;
    stale_ = false;
  }

 private:
  static constexpr std::uint64_t absent = ~std::uint64_t{0};  // after every (time, key)
  // A rank, or all of them.
  struct Part {
    Pick pick;
    bool stale = false;  // to be made anew
  };
  Part& part_of(BankIndex bank) {
    return parts_.size() == 1 ? parts_[0] : parts_[bank / (part_groups_ * group_banks_)];
  }
  void make_stale(Part& part) { part.stale = stale_ = true; }

  // The smallest of (time, key), in one number so that the search needs no branches. Times are counted from
  // the floor; no limit lies 2^24 clocks ahead (device::technology_keys bounds each by 10^6).
  class Best {
   public:
    explicit Best(Cycle floor) : floor_(floor) {}
    // ready: not before the floor
    void offer(Cycle ready, std::uint64_t key, BankIndex bank) {
      const std::uint64_t packed = ((ready - floor_) << key_bits) | key;
      bank_ = packed < packed_ ? bank : bank_;
      packed_ = packed < packed_ ? packed : packed_;
    }
    void offer_strict(Cycle ready, std::uint64_t key, BankIndex bank) {
      if (key >= strict_key_) return;
      strict_key_ = key;
      packed_ = ((ready - floor_) << key_bits) | key;
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

  template <class Find>
  void renew(const PickOrder& order, Find find) {
    pick_ = {};
    for (std::uint32_t number = 0; number < parts_.size(); ++number) {
      Part& part = parts_[number];
      if (part.stale) part.pick = find(number);
      part.stale = false;
      if (order.before(part.pick, pick_)) pick_ = part.pick;
    }
    stale_ = false;
  }
  template <class Ready>
  Pick find(std::uint32_t part, Cycle floor, Ready ready) const {
    Best best(floor);
    const std::uint64_t* const key = keys_.data();
    const std::uint32_t banks = part_groups_ * group_banks_;
    banks_.each_in(part * banks, banks,
                   [&](BankIndex bank) { best.offer(later(ready(bank), floor), key[bank], bank); });
    return best.pick();
  }
  template <class Limit, class Ready>
  Pick find_in_full(std::uint32_t part, Cycle floor, Limit limit, Ready ready) const {
    Best best(floor);
    const std::uint64_t* const key = keys_.data();
    const std::uint32_t first = part * part_groups_;
    BankIndex bank = first * group_banks_;
    for (std::uint32_t group = first; group < first + part_groups_; ++group) {
      const Cycle from = later(limit(group), floor);
      for (const BankIndex end = bank + group_banks_; bank < end; ++bank)
        best.offer(later(ready(bank), from), key[bank], bank);
    }
    return best.pick();
  }
  template <class Ready>
  [[gnu::noinline]] Pick find_in_order(const PickOrder& order, Cycle floor, Ready ready) const {
    Best best(floor);
    banks_.each([&](BankIndex bank) {
      const std::uint64_t key = order.key_of(bank, keys_[bank]);
      const Cycle at = later(ready(bank), floor);
      order.strict() ? best.offer_strict(at, key, bank) : best.offer(at, key, bank);
    });
    return best.pick();
  }

  Pick pick_;           // the first of the parts' picks
  bool stale_ = false;  // so is some part's
  std::uint32_t count_ = 0;
  std::vector<std::uint64_t> keys_;  // by bank
  BankSet banks_;                    // that have a candidate
  const std::uint32_t group_banks_, part_groups_;
  std::vector<Part> parts_;
};

}  // namespace simtlab::memory::dram
