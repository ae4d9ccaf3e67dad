// The published method of Sanchez (thesis, K40) as it is described, beside the method of slopes: one interval
// between two readings of the clock, for every thread of many launches, one value a warp, less the clock's
// own cost by the difference of the two distributions. docs/lab/probe.md, "The published method", says what
// comes of it.
#pragma once

#include <array>
#include <string_view>

#include "probe/bench.h"
#include "probe/kinds.h"

namespace simtlab::probe {

// Operations of its tables: "add", "sub", "mul", "div", "mad"; whole numbers of 32 bits.
struct ThesisOperation {
  std::string_view name;
  std::string_view step;   // PTX: X (result), A and B (operands)
  std::string_view chain;  // the operation (operation.h) whose dependent chain is beside it
};
inline constexpr std::array<ThesisOperation, 5> thesis_operations = {{
    {"add", "add.s32 X, A, B;", "add.s32"},
    {"sub", "sub.s32 X, A, B;", "sub.s32"},
    {"mul", "mul.lo.s32 X, A, B;", "mul.lo.s32"},
    {"div", "div.s32 X, A, B;", "div.s32"},
    {"mad", "mad.lo.s32 X, A, B, B;", "mad.lo.s32"},
}};
inline constexpr unsigned thesis_most = 8;  // independent operations between two readings

// Adds what the device tells, memory's and caches' latency by slope and bandwidths (kinds.h), then of this
// method, for each operation: thesis.NAME.N (one interval around N operations), slope.NAME (its latency by
// dependent chains); thesis.clock, thesis.l1, thesis.l2, thesis.l1.loaded, thesis.l2.threads,
// thesis.memory.slope, .intercept and .r2, with curves. What was found before an error or an interrupt stays.
Outcome run_thesis(Bench& bench, const Begun& begun = {});

}  // namespace simtlab::probe
