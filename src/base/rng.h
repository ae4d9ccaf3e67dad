// Seeded random numbers: xoshiro256** (Blackman and Vigna), its state filled by SplitMix64. The one generator
// of simtlab: equal seeds give equal sequences on every host and with every compiler.
#pragma once

#include <array>
#include <cstdint>

namespace simtlab {

// SplitMix64: one step. Also a good way to derive independent seeds from one (seed + index).
constexpr std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

class Rng {
 public:
  explicit constexpr Rng(std::uint64_t seed) {
    for (std::uint64_t& word : state_) word = splitmix64(seed);
  }

  // 64 uniform bits.
  constexpr std::uint64_t next() {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // The upper 32 bits of next().
  constexpr std::uint32_t next32() { return static_cast<std::uint32_t>(next() >> 32); }

  // Uniform in [0, bound), without bias; 0 for bound 0.
  constexpr std::uint64_t below(std::uint64_t bound) {
    if (bound == 0) return 0;
    const std::uint64_t rest = (0 - bound) % bound;  // 2^64 mod bound: values under it would be favoured
    std::uint64_t value = next();
    while (value < rest) value = next();
    return value % bound;
  }

  // Uniform in [0, 1) with 53 random bits.
  constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  static constexpr std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

  std::array<std::uint64_t, 4> state_{};
};

}  // namespace simtlab
