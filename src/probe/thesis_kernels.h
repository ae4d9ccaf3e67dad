// Kernels of Sanchez' thesis (5.3 to 5.6), in PTX of our own after what figures 17 to 20 show of them: what
// stands between two readings of the clock, and what unoptimised code puts beside it.
#pragma once

#include <cstdint>
#include <string>

#include "probe/thesis.h"

namespace simtlab::probe {

// Each leaves, at out + 8 * (k * threads of the launch + thread), interval k of the thread, and behind them
// the bits of a sum of its results. Parameters: out, data, a and b (f32), and 0.
struct ThesisKernel {
  std::string text;  // entry "interval"
  unsigned intervals = 1;
};

// Two readings and nothing else (figure 20), as often as the kernel beside it has intervals.
ThesisKernel clock_kernel(unsigned intervals);
// n operations that do not depend on each other (figure 19).
ThesisKernel operations_kernel(const ThesisOperation& operation, unsigned n);
// Three loads of the first of 256 words of local memory (figure 17).
ThesisKernel local_kernel();
// Three loads past L1 of one word that all threads have stored to (figure 18).
ThesisKernel global_kernel();
// The same of a line of 128 bytes for each thread, which the thesis has not: what reaches memory.
ThesisKernel lines_kernel();

}  // namespace simtlab::probe
