// Calendar queue: events of the near future in a ring of one-cycle buckets, the far future in a heap.
//
// push and pop are O(1) for events at most `ring` cycles ahead. Events of one cycle come out in the order in
// which they were pushed; events that waited in the heap come before events pushed later. Nothing is
// allocated once the pool has grown.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <vector>

#include "memory/time.h"

namespace simtlab::memory {

template <class T>
class Calendar {
 public:
  explicit Calendar(std::size_t reserve = 1024) { nodes_.reserve(reserve); }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  // at: not before the last cycle popped.
  void push(Cycle at, const T& item) {
    ++size_;
    if (at < base_) at = base_;
    if (at - base_ < ring) {
      append(at, new_node(item));
    } else {
      far_.push_back({at, sequence_++, new_node(item)});
      std::push_heap(far_.begin(), far_.end(), later);
    }
  }

  // Cycle of the earliest event; never if empty.
  Cycle next_time() const {
    Cycle next = far_.empty() ? never : far_.front().at;
    if (size_ > far_.size()) next = std::min(next, next_in_ring());
    return next;
  }

  // Takes the first event at or before `now`.
  bool pop(Cycle now, T& item) {
    const Cycle at = next_time();
    if (at > now) return false;
    advance_to(at);
    Bucket& bucket = buckets_[at % ring];
    const Index node = bucket.head;
    bucket.head = nodes_[node].next;
    if (bucket.head == none) clear_bit(at % ring);
    item = nodes_[node].item;
    nodes_[node].next = free_;
    free_ = node;
    --size_;
    return true;
  }

  // Shows the events before `end` that are less than a ring ahead, and takes none.
  template <class Visit>
  void each_before(Cycle end, Visit&& visit) const {
    if (size_ == far_.size()) return;
    for (Cycle at = next_in_ring(); at < end && at - base_ < ring; ++at)
      for (Index node = buckets_[at % ring].head; node != none; node = nodes_[node].next)
        visit(nodes_[node].item);
  }

  // Empty again, and time starts again at 0.
  void restart() {
    buckets_.fill(Bucket{});
    used_.fill(0);
    nodes_.clear();
    far_.clear();
    base_ = sequence_ = 0;
    size_ = 0;
    free_ = none;
  }

 private:
  using Index = std::uint32_t;
  static constexpr std::size_t ring = 2048;
  static constexpr Index none = ~Index{0};
  struct Node {
    T item;
    Index next;
  };
  struct Bucket {
    Index head = none, tail = none;
  };
  struct Far {
    Cycle at;
    std::uint64_t sequence;
    Index node;
  };
  static bool later(const Far& a, const Far& b) {
    return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
  }

  Index new_node(const T& item) {
    if (free_ == none) {
      nodes_.push_back({item, none});
      return static_cast<Index>(nodes_.size() - 1);
    }
    const Index node = free_;
    free_ = nodes_[node].next;
    nodes_[node] = {item, none};
    return node;
  }

  void append(Cycle at, Index node) {
    Bucket& bucket = buckets_[at % ring];
    if (bucket.head == none) {
      bucket.head = node;
      used_[at % ring / 64] |= std::uint64_t{1} << (at % 64);
    } else {
      nodes_[bucket.tail].next = node;
    }
    bucket.tail = node;
  }

  void clear_bit(std::size_t slot) { used_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64)); }

  Cycle next_in_ring() const {
    const std::size_t start = base_ % ring;
    std::size_t word = start / 64;
    std::uint64_t bits = used_[word] & (~std::uint64_t{0} << (start % 64));
    for (std::size_t i = 0; i <= used_.size(); ++i) {
      if (bits != 0) {
        const std::size_t slot = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
        return base_ + (slot + ring - start) % ring;
      }
      word = (word + 1) % used_.size();
      bits = used_[word];
    }
    return never;
  }

  // Moves the window; far events that it now covers go to their buckets.
  void advance_to(Cycle at) {
    base_ = at;
    while (!far_.empty() && far_.front().at - base_ < ring) {
      append(far_.front().at, far_.front().node);
      std::pop_heap(far_.begin(), far_.end(), later);
      far_.pop_back();
    }
  }

  std::array<Bucket, ring> buckets_{};
  std::array<std::uint64_t, ring / 64> used_{};
  std::vector<Node> nodes_;
  std::vector<Far> far_;
  Cycle base_ = 0;
  std::uint64_t sequence_ = 0;
  std::size_t size_ = 0;
  Index free_ = none;
};

}  // namespace simtlab::memory
