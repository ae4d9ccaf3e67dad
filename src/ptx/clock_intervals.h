// Loads between two reads of a clock that nothing between them waits for: a latency that is measured so is
// that of issuing the load.
//
// An instruction waits for a load if it reads what the load has written. An interval is what a program
// measures: the way from a clock read to the one whose value it is subtracted from, where the difference,
// through whatever arithmetic, is stored. Where a function stores the values themselves, for somebody else to
// subtract, its reads are taken in pairs in the order of the text (an even number), or each with the next
// one. A clock that is only compared, as in time-outs, measures nothing.
//
// Taken to be meant, so not reported: loads that a barrier, a fence or a call comes after within the
// interval; the last load of a chain of four or more, each of which needs the one before; single loads in an
// interval with a loop whose loads are waited for. The analysis sees one function at a time and all its code,
// also what a launch does not reach.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.h"

namespace simtlab::ptx {

struct UnwaitedLoad {
  std::uint32_t load = 0, begin = 0, end = 0;  // pcs: of the load, and of the two reads of the clock
  auto operator<=>(const UnwaitedLoad&) const = default;
};

// In the order of the code. Of a decoded function, whose registers are slots. folding: what the assembler
// folds into others (Inst::fold: copies, sums in addresses) is no instruction, so it does not wait; its users
// do.
std::vector<UnwaitedLoad> unwaited_loads(const Function& function, bool folding);

}  // namespace simtlab::ptx
