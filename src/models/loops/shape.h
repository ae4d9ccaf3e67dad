// How often the loops and blocks of a nest run: evaluated, or as a run of the program counted them.
#pragma once

#include <string>
#include <vector>

#include "models/loops/evaluate.h"

namespace simtlab::models::loops {

// What a run of the program counted.
struct Measured {
  std::vector<std::uint64_t> blocks;  // executions of each block; empty: no run
};

struct Shape {
  Point point;                         // the inputs' values
  std::vector<std::uint64_t> extents;  // most iterations of each loop, once it is entered
  std::vector<double> trips;           // mean iterations of each loop, once it is entered
  std::vector<double> executions;      // of each block, in the whole nest
  // Blocks behind a condition that can't be evaluated: taken for executed whenever they could be
  std::vector<bool> guessed;
  double iterations = 0;  // of the loops that can become threads, all together
  bool measured = false;
  std::vector<Point> samples;  // iterations here and there, the same in every run
};

// Throws Error(bad_input): "loop-parameters" that names what is missing, "loop-empty" for loops without
// iterations, "loop-trip-count" for those whose count only a run can tell.
Shape shape_of(const Description& nest, const std::vector<std::optional<std::int64_t>>& inputs,
               const Measured& measured);

}  // namespace simtlab::models::loops
