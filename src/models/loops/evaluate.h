// Expressions of a nest with numbers put in.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/loops/description.h"

namespace simtlab::models::loops {

struct Point {
  std::vector<std::optional<std::int64_t>> inputs;  // values of the inputs
  std::vector<std::int64_t> iterations;             // of every loop, from 0
};

// The value, with the wrap-around of its width; nothing if it depends on what is not known.
std::optional<std::int64_t> evaluate(const Expression& expression, const Point& point);
std::optional<bool> evaluate(const Condition& condition, const Point& point);

// Inputs that an expression needs and the point lacks.
void missing_inputs(const Expression& expression, const Point& point, std::vector<int>& out);
// It depends on a value from memory, or on what has no expression.
bool depends_on_data(const Expression& expression);

}  // namespace simtlab::models::loops
