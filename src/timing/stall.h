// Stall reasons inside the SM: short names for the closed set of timing.h, and which reason a class of
// instruction causes.
#pragma once

#include <array>
#include <cstddef>

#include "ptx/op.h"
#include "timing/timing.h"

namespace simtlab::timing {

inline constexpr std::size_t stall_count = static_cast<std::size_t>(Stall::count_);
using SlotCounts = std::array<std::uint64_t, stall_count>;

// Why a warp waits for the result of an instruction of this class.
Stall dependence_stall(ptx::OpClass op_class);

}  // namespace simtlab::timing
