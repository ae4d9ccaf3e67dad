// Offsets of accesses as linear functions of the iterations of the loops around them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "models/loops/shape.h"

namespace simtlab::models::loops {

// offset = constant + sum of factor[l] * iteration[l], in bytes.
struct Linear {
  std::int64_t constant = 0;
  std::map<int, std::int64_t> factors;  // of loops around the access; none is 0
};

// Nothing for an offset that depends on data or on unknown inputs, or that is not linear.
std::optional<Linear> linear(const Description& nest, const Shape& shape, const Access& access);

}  // namespace simtlab::models::loops
