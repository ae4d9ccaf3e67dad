// A set of banks as bits: at most 1024 of a channel, a few words in practice.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "memory/dram/timing_state.h"

namespace simtlab::memory::dram {

inline constexpr std::uint32_t most_banks = 1024;

class BankSet {
 public:
  explicit BankSet(std::uint32_t banks) : words_((banks + 63) / 64) {}
  void set(BankIndex b) { bits_[b / 64] |= std::uint64_t{1} << (b % 64); }
  void reset(BankIndex b) { bits_[b / 64] &= ~(std::uint64_t{1} << (b % 64)); }
  void assign(BankIndex b, bool value) {
    std::uint64_t& word = bits_[b / 64];
    word = (word & ~(std::uint64_t{1} << (b % 64))) | (std::uint64_t{value} << (b % 64));
  }
  bool test(BankIndex b) const { return (bits_[b / 64] >> (b % 64)) & 1; }
  void clear() { bits_.fill(0); }

  template <class Visit>
  void each(Visit&& visit) const {
    for (std::uint32_t w = 0; w < words_; ++w)
      for (std::uint64_t bits = bits_[w]; bits != 0; bits &= bits - 1)
        visit(w * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)));
  }
  // Those from `first` on, of `count` banks.
  template <class Visit>
  void each_in(BankIndex first, std::uint32_t count, Visit&& visit) const {
    for (std::uint32_t end = first + count, from = first; from < end; from = (from / 64 + 1) * 64) {
      std::uint64_t bits = bits_[from / 64] >> (from % 64) << (from % 64);
      if (end - from / 64 * 64 < 64) bits &= (std::uint64_t{1} << (end % 64)) - 1;
      for (; bits != 0; bits &= bits - 1)
        visit(from / 64 * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)));
    }
  }

 private:
  std::uint32_t words_;  // before the bits, of which the first are the ones that are used
  std::array<std::uint64_t, most_banks / 64> bits_{};
};

}  // namespace simtlab::memory::dram
