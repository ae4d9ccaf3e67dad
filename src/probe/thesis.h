// The published method of Sanchez (thesis, K40) as it is described, beside the method of slopes: one interval
// between two readings of the clock, for every thread of many launches, one value a warp, less the clock's
// own cost by the difference of the two distributions. docs/lab/probe.md, "The published method", says what
// comes of it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "probe/bench.h"
#include "probe/kinds.h"

namespace simtlab::probe {

// Operations of its tables, on numbers of 32 bits in floating point (5.5).
struct ThesisOperation {
  std::string_view name;
  std::string_view step;             // PTX: X (result), A and B (operands)
  std::string_view chain;            // the operation (operation.h) whose dependent chain is beside it
  bool subroutine = false;           // the code calls one, which ends before the next is called (figure 19)
  float (*value)(float a, float b);  // what the host compares the result with
};
inline constexpr std::array<ThesisOperation, 5> thesis_operations = {{
    {"add", "add.f32 X, A, B;", "add.f32", false, [](float a, float b) { return a + b; }},
    {"sub", "sub.f32 X, A, B;", "sub.f32", false, [](float a, float b) { return a - b; }},
    {"mul", "mul.f32 X, A, B;", "mul.f32", false, [](float a, float b) { return a * b; }},
    {"div", "div.rn.f32 X, A, B;", "div.rn.f32", true, [](float a, float b) { return a / b; }},
    {"mad", "mad.rn.f32 X, A, B, A;", "fma.rn.f32", false, [](float a, float b) { return a * b + a; }},
}};
inline constexpr unsigned thesis_most = 8;  // independent operations between two readings

// Blocks and threads of a block.
struct ThesisShape {
  std::uint32_t blocks = 0, threads = 0;
  auto operator<=>(const ThesisShape&) const = default;
};
// Launches whose histograms the thesis shows, and of which kernel: figures 22, 29, 30, 24 with 31 to 33 and
// 44, 46, 23.
struct ThesisFigure {
  ThesisShape shape;
  std::string_view of;  // "sub", "local", "global"
};
inline constexpr std::array<ThesisFigure, 6> thesis_figures = {{{{1, 1024}, "sub"},
                                                                {{11, 896}, "global"},
                                                                {{20, 896}, "global"},
                                                                {{15, 1024}, "local"},
                                                                {{20, 640}, "global"},
                                                                {{20, 1024}, "global"}}};

// Cores of a multiprocessor, as the vendor's deviceQuery takes them from the compute capability; 0: a
// generation that it does not know.
unsigned cores_of(int cc_major, int cc_minor);

// Adds what the device tells, memory's and caches' latency by slope and bandwidths (kinds.h), then of this
// method, for each operation: thesis.NAME.N (one interval around N operations), slope.NAME (its latency by
// dependent chains); thesis.clock, thesis.l1, thesis.l1.loaded, thesis.l2, .threads, .boundary,
// thesis.lines.l2, .l2.threads, .l2.boundary, thesis.memory.slope, .intercept and .r2, with curves;
// thesis.copy (thesis_copies.h); counters of the launches with a histogram (thesis_counters.h); and
// histograms (curves histogram.*) of the launches of `shapes`, of all kernels, and of the thesis' figures.
// What was found before an error or an interrupt stays.
Outcome run_thesis(Bench& bench, const Begun& begun = {}, std::span<const ThesisShape> shapes = {});

}  // namespace simtlab::probe
