// Which numbers a register should rather have, as the vendor's assembler gives them, who takes a few
// registers more for it:
// - Sources of one instruction lie in different banks: nine of ten pairs, also where one bank would do.
// - Of results, every third to second has the number of what it is computed from, and of loads that of the
//   address.
// - What a load has to read yet is not written: seldom does anybody wait for operands of loads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assembler/liveness.h"
#include "assembler/program.h"

namespace simtlab::assembler {

// Banks of the register file: a register's number modulo these.
constexpr unsigned register_banks(unsigned generation) { return generation < 70 ? 4 : 2; }

class NumberWishes {
 public:
  // Of a register part `part` has to do with part `other_part` of register `other`.
  struct Mate {
    std::uint32_t other = 0, weight = 1;
    std::uint8_t part = 0, other_part = 0;
    bool loaded = false;  // the register is loaded from where the other one says
    bool likely = false;  // they rather share a number than the result and another source
  };
  NumberWishes(const Program& program, const Liveness& liveness);
  // What instructions read beside the register.
  std::span<const Mate> beside(std::uint32_t reg) const { return read_.of(reg); }
  // Results of instructions that read the register, and what those read that have it as result.
  std::span<const Mate> in_place(std::uint32_t reg) const { return in_place_.of(reg); }
  unsigned banks() const { return banks_; }
  // Of a result of the special function unit on Hopper: the gap behind what it is computed from. ptxas seems
  // to give it its number there, where what is read in between still lives. none: of others.
  std::uint32_t may_begin(std::uint32_t reg) const { return may_begin_[reg]; }
  // Who writes parts of the register in these gaps waits until an instruction under way has read them: a load
  // or its like.
  struct Window {
    std::uint32_t from = 0, to = 0;
    std::uint8_t part = 0, count = 1;
  };
  std::span<const Window> late(std::uint32_t reg) const {
    return {windows_.data() + first_window_[reg], first_window_[reg + 1] - first_window_[reg]};
  }

 private:
  struct Lists {
    std::vector<std::uint32_t> first;  // of a register
    std::vector<Mate> mates;
    std::span<const Mate> of(std::uint32_t reg) const {
      return {mates.data() + first[reg], first[reg + 1] - first[reg]};
    }
  };
  template <class F>
  static Lists collect(const Program& program, const F& each_pair);
  void find_windows(const Program& program, const Liveness& liveness);
  void find_late_results(const Program& program, const Liveness& liveness);

  unsigned banks_;
  Lists read_, in_place_;
  std::vector<std::uint32_t> first_window_;
  std::vector<Window> windows_;
  std::vector<std::uint32_t> may_begin_;
};

}  // namespace simtlab::assembler
