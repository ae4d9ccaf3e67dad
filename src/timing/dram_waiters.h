// L2 slices that a memory partition had no room for, by partition.
//
// When the partition has room again they are asked in turn: the slice that was first last time is last now.
// Otherwise the slice with the lowest number would always get the room.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace simtlab::timing {

class DramWaiters {
 public:
  DramWaiters(std::uint32_t slices, std::uint32_t partitions)
      : slices_(slices),
        words_((std::size_t{slices} + 63) / 64),
        waiting_(partitions * words_, 0),
        first_(partitions, 0) {}

  void clear() {
    std::ranges::fill(waiting_, 0);
    std::ranges::fill(first_, 0);
  }
  void add(std::uint32_t partition, std::uint32_t slice) {
    waiting_[partition * words_ + slice / 64] |= std::uint64_t{1} << (slice % 64);
  }

  // retry(slice) for each slice that waits for the partition. A slice that finds no room again is added again
  // while the others are asked. Its bit is then in a part of the mask that has been read, so that no slice is
  // asked twice.
  template <class Retry>
  void retry_all(std::uint32_t partition, Retry&& retry) {
    std::uint64_t* const waiting = &waiting_[partition * words_];
    const std::size_t first = first_[partition];
    bool turned = false;
    const auto ask = [&](std::size_t word, std::uint64_t mask) {
      const std::uint64_t asked = waiting[word] & mask;
      waiting[word] &= ~asked;
      for (std::uint64_t bits = asked; bits != 0; bits &= bits - 1) {
        const auto slice =
            static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
        if (!std::exchange(turned, true)) first_[partition] = (slice + 1) % slices_;
        retry(slice);
      }
    };
    const std::uint64_t from_first = ~std::uint64_t{0} << (first % 64);
    ask(first / 64, from_first);
    for (std::size_t word = first / 64 + 1; word < words_; ++word) ask(word, ~std::uint64_t{0});
    for (std::size_t word = 0; word < first / 64; ++word) ask(word, ~std::uint64_t{0});
    ask(first / 64, ~from_first);
  }

 private:
  std::uint32_t slices_;
  std::size_t words_;                   // of 64 slices
  std::vector<std::uint64_t> waiting_;  // partitions x words
  std::vector<std::uint32_t> first_;    // of each partition: the slice that is asked first
};

}  // namespace simtlab::timing
