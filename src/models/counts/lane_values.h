// What is known of a register's 32 lanes without running the program: exact values; a base that nobody knows,
// the same for all lanes, and each lane's distance from it; or nothing.
#pragma once

#include <array>
#include <cstdint>

#include "ptx/inst.h"

namespace simtlab::models::counts {

struct LaneValue {
  enum class Known : std::uint8_t { nothing, distances, exact };
  Known known = Known::nothing;
  std::array<std::int64_t, 32> lane{};  // the value, or the distance from the base

  static LaneValue constant(std::int64_t value);
  static LaneValue uniform();  // one value that nobody knows
  bool exact() const { return known == Known::exact; }
  bool uniform_() const;  // all lanes are equal, whatever they are
};

// The result of integer arithmetic; `bytes` wide, sign-extended if `is_signed`. Nothing is known of other
// instructions, but that equal operands give equal results.
LaneValue evaluate(const ptx::Inst& inst, const LaneValue* operands, unsigned count);
// setp: each lane 0 or 1.
LaneValue compare(const ptx::Inst& inst, const LaneValue& a, const LaneValue& b);

}  // namespace simtlab::models::counts
