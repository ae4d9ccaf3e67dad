// Which registers without numbers are in use where blocks begin and end: those of which a part is alive.
#pragma once

#include <cstdint>
#include <vector>

#include "assembler/liveness.h"

namespace simtlab::assembler {

class LiveRegisters {
 public:
  explicit LiveRegisters(const Program& program);
  bool in(std::uint32_t block, std::uint32_t reg) const { return has(in_[block], reg); }
  bool out(std::uint32_t block, std::uint32_t reg) const { return has(out_[block], reg); }
  template <class F>
  void for_each_in(std::uint32_t block, const F& f) const {
    for_each(in_[block], f);
  }
  template <class F>
  void for_each_out(std::uint32_t block, const F& f) const {
    for_each(out_[block], f);
  }

 private:
  void add(std::uint32_t reg, const Segment& segment, const std::vector<std::uint32_t>& first_gap);

  using Bits = std::vector<std::uint64_t>;
  static bool has(const Bits& bits, std::uint32_t i) { return (bits[i / 64] >> (i % 64) & 1u) != 0; }
  template <class F>
  static void for_each(const Bits& all, const F& f) {
    for (std::size_t w = 0; w < all.size(); ++w)
      for (std::uint64_t bits = all[w]; bits != 0; bits &= bits - 1)
        f(static_cast<std::uint32_t>(w * 64) + static_cast<std::uint32_t>(__builtin_ctzll(bits)));
  }

  std::vector<Bits> in_, out_;
};

// The most general registers in use in a block at once; parts of a register count as the whole.
std::vector<unsigned> registers_in_use(const Program& program, const LiveRegisters& live);

}  // namespace simtlab::assembler
