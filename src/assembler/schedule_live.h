// Which registers without numbers are in use where blocks begin and end: those of which a part is alive.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "assembler/liveness.h"

namespace simtlab::assembler {

class LiveRegisters {
 public:
  explicit LiveRegisters(const Program& program);
  bool in(std::uint32_t block, std::uint32_t reg) const {
    return std::ranges::binary_search(in_[block], reg);
  }
  bool out(std::uint32_t block, std::uint32_t reg) const {
    return std::ranges::binary_search(out_[block], reg);
  }
  template <class F>
  void for_each_in(std::uint32_t block, const F& f) const {
    std::ranges::for_each(in_[block], f);
  }
  template <class F>
  void for_each_out(std::uint32_t block, const F& f) const {
    std::ranges::for_each(out_[block], f);
  }

 private:
  void add(std::uint32_t reg, const Segment& segment, const std::vector<std::uint32_t>& first_gap);

  // Of each block, ascending: few live at once, however many there are.
  std::vector<std::vector<std::uint32_t>> in_, out_;
};

// The most general registers in use in a block at once; parts of a register count as the whole.
std::vector<unsigned> registers_in_use(const Program& program, const LiveRegisters& live);

}  // namespace simtlab::assembler
