// Loads between two reads of a clock, for which no instruction between the reads waits: such a program
// measures the time of issuing the load and takes it for the load's latency.
//
// An instruction waits for a load if it reads a register that the load has written. An interval is the code
// from one clock read to the read whose value the first is subtracted from, where the difference is stored,
// through whatever arithmetic. Where a function stores the clock values themselves, for a later subtraction
// elsewhere, its reads are taken in pairs in the order of the text (an even number of reads), or each with
// the next read. A clock that is only compared, as in time-outs, measures nothing.
//
// Some loads are taken to be meant and are not reported: loads with a barrier, a fence or a call behind them
// within the interval; the last load of a chain of four or more dependent loads; single loads in an interval
// with a loop whose loads are waited for. The analysis looks at one function at a time and at all of its
// code, code that a launch does not reach included.
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
