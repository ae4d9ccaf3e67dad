// One instruction of machine code from Volta on: 128 bits. Older ones: bundles.h.
#pragma once

#include <cstdint>

namespace simtlab::machine {

inline constexpr unsigned word_bits = 128;
inline constexpr std::uint64_t word_bytes = 16;

struct Word {
  std::uint64_t low = 0, high = 0;

  // `width` bits (at most 64) from bit `first` on.
  constexpr std::uint64_t bits(unsigned first, unsigned width) const {
    const std::uint64_t mask = width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    if (first >= 64) return (high >> (first - 64)) & mask;
    const std::uint64_t upper = first == 0 ? 0 : high << (64 - first);
    return ((low >> first) | upper) & mask;
  }
  constexpr bool bit(unsigned index) const { return bits(index, 1) != 0; }
  constexpr void set(unsigned first, unsigned width) {
    for (unsigned i = first; i < first + width; ++i) (i < 64 ? low : high) |= std::uint64_t{1} << (i % 64);
  }

  friend constexpr Word operator&(Word a, Word b) { return {a.low & b.low, a.high & b.high}; }
  friend constexpr Word operator|(Word a, Word b) { return {a.low | b.low, a.high | b.high}; }
  friend constexpr Word operator~(Word a) { return {~a.low, ~a.high}; }
  bool operator==(const Word&) const = default;
};

}  // namespace simtlab::machine
