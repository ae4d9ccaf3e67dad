// Other orders in which a launch may be executed: of its blocks, of the warps of a block, of the lanes of a
// warp, how long a warp or a block runs before the next one does, whether blocks hand over behind what others
// may wait for, and when asynchronous copies happen. Each follows from a number alone.
#pragma once

#include <cstdint>
#include <numeric>

namespace simtlab::check {

struct Order {
  std::uint64_t blocks = 1, step = 1, first = 0;  // the i-th block to run is (first + i * step) mod blocks
  unsigned warps = 1, warp_first = 0;
  bool warps_reversed = false;
  std::uint64_t slice = 256;  // instructions
  std::uint64_t seed = 0;
  std::uint64_t turn = 0;  // instructions of a block before another one goes on; 0: to its end
  // Behind its strong writes and atomics, too: one of so many times; 0: never
  unsigned hands_over = 0;
  // Lanes that store, or have an atomic operation, at once: in so many groups, the highest lanes first
  unsigned lane_groups = 1;
  bool late_copies = false;  // cp.async writes when it is waited for, and not before

  std::uint64_t block(std::uint64_t i) const {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(i) * step + first) % blocks);
  }
  // A number for the i-th decision.
  std::uint64_t pick(std::uint64_t i) const { return mixed(seed + i * golden); }
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ull;
  static std::uint64_t mixed(std::uint64_t x) {  // splitmix64
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }

  unsigned warp(unsigned i) const {
    const unsigned at = (i + warp_first) % warps;
    return warps_reversed ? warps - 1 - at : at;
  }
};

// number: 0: the usual order; 1: everything reversed; others at random.
inline Order make_order(std::uint64_t number, std::uint64_t blocks, unsigned warps, std::uint64_t slice) {
  Order out;
  out.blocks = blocks;
  out.warps = warps;
  out.slice = slice;
  if (number == 0) return out;
  if (number == 1) {
    out.step = blocks - 1;  // -1
    out.first = blocks - 1;
    if (blocks == 1) out.step = 1, out.first = 0;
    out.warps_reversed = out.late_copies = true;
    out.lane_groups = 32;
    return out;
  }
  std::uint64_t state = number;
  const auto next = [&state] { return Order::mixed(state += Order::golden); };
  out.seed = number;
  constexpr std::uint64_t slices[] = {1, 3, 16, 64, 256};
  out.slice = slices[next() % 5];
  out.first = next() % blocks;
  do out.step = 1 + next() % blocks;
  while (std::gcd(out.step, blocks) != 1);
  out.warp_first = static_cast<unsigned>(next() % warps);
  out.warps_reversed = next() % 2 != 0;
  constexpr std::uint64_t turns[] = {32, 256, 2048};
  if (number % 2 == 0) out.turn = turns[next() % 3] * warps;
  if (number % 4 != 3) out.hands_over = 1 + static_cast<unsigned>(next() % 3);
  constexpr unsigned groups[] = {1, 2, 32};
  out.lane_groups = groups[next() % 3];
  out.late_copies = next() % 2 != 0;
  return out;
}

}  // namespace simtlab::check
