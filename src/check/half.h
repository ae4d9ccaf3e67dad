// One half of a shadow cell: who wrote (or read) these bytes last, in 64 bits.
//
//   instance 28 | epoch 6 | step 4 | how many 2 | thread 10 | site 14
//
// instance: number of a block's execution, or of a part of it (instances.h); 0: nobody. epoch: full barriers
// of the block since the instance began; step: synchronisations of the thread's warp since the epoch began.
// Both are what a thread that has not synchronised since can't have seen. site: the instruction (sites.h).
#pragma once

#include <compare>
#include <cstdint>

namespace simtlab::check {

inline constexpr unsigned warp_lanes = 32;

using Half = std::uint64_t;

// Who a half stands for.
enum class Many : std::uint8_t {
  one,    // a thread
  warp,   // several lanes of a warp; of `thread` the warp counts
  block,  // several warps of a block
  grid,   // several blocks, or the list that the low bits number (readers.h)
};

inline constexpr unsigned site_bits = 14, thread_bits = 10, many_bits = 2, step_bits = 4, epoch_bits = 6;
inline constexpr unsigned thread_shift = site_bits, many_shift = thread_shift + thread_bits;
inline constexpr unsigned time_shift = many_shift + many_bits, time_bits = epoch_bits + step_bits;
inline constexpr unsigned instance_shift = time_shift + time_bits;
inline constexpr std::uint32_t most_steps = (1u << step_bits) - 1, most_epochs = (1u << epoch_bits) - 2;
// Of what no barrier of one block orders: several blocks
inline constexpr unsigned no_time = (1u << time_bits) - 1;
inline constexpr std::uint32_t most_sites = 1u << site_bits, late_bit = 1u << (site_bits - 1);
inline constexpr std::uint64_t most_instances = std::uint64_t{1} << (64 - instance_shift);

constexpr Half make_half(std::uint64_t instance, Many many, unsigned thread, unsigned time, unsigned site) {
  return instance << instance_shift | static_cast<Half>(many) << many_shift |
         static_cast<Half>(thread) << thread_shift | static_cast<Half>(time) << time_shift | site;
}
constexpr std::uint32_t instance_of(Half h) { return static_cast<std::uint32_t>(h >> instance_shift); }
constexpr Many many_of(Half h) { return static_cast<Many>(h >> many_shift & 3); }
constexpr unsigned thread_of(Half h) { return h >> thread_shift & ((1u << thread_bits) - 1); }
constexpr unsigned time_of(Half h) { return h >> time_shift & ((1u << time_bits) - 1); }
constexpr unsigned site_of(Half h) { return h & (most_sites - 1); }
constexpr Half with_many(Half h, Many many) {
  return (h & ~(Half{3} << many_shift)) | static_cast<Half>(many) << many_shift;
}
constexpr Half with_time(Half h, unsigned time) {
  return (h & ~(Half{no_time} << time_shift)) | static_cast<Half>(time) << time_shift;
}
// All but when and where: the same thread.
inline constexpr Half who_mask = ~(Half{no_time} << time_shift | Half{most_sites - 1});

// Of words, or of bytes, side by side.
struct Cells {
  Half *writers = nullptr, *readers = nullptr;
  // Of words, a bit each: its bytes have cells of their own, and its own stay empty. Null: these are of
  // bytes.
  std::uint64_t* split = nullptr;

  bool is_split(std::uint64_t word) const { return (split[word / 64] >> word % 64 & 1) != 0; }
  bool any_split(std::uint64_t first, std::uint64_t count) const {
    if (split == nullptr) return false;
    for (std::uint64_t word = first; word < first + count; word = (word / 64 + 1) * 64) {
      const std::uint64_t left = first + count - word, from = split[word / 64] >> word % 64;
      if ((left >= 64 ? from : from & ((std::uint64_t{1} << left) - 1)) != 0) return true;
    }
    return false;
  }
};

// When something happened to a warp, over its whole life: full barriers before it, and steps of the warp
// since.
struct Time {
  std::uint32_t epoch = 0, step = 0;
  friend constexpr auto operator<=>(const Time&, const Time&) = default;
};

// The same as a half has it: since an instance began.
constexpr unsigned time_in(const Time& begin, std::uint32_t epoch, std::uint32_t step) {
  if (epoch == begin.epoch) return step < begin.step ? 0 : step - begin.step;
  return (epoch - begin.epoch) << step_bits | step;
}

}  // namespace simtlab::check
