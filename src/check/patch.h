// What is inserted into a kernel, to see whether a race goes.
#pragma once

#include <cstdint>

#include "check/findings.h"

namespace simtlab::check {

struct Patch {
  enum class Kind : std::uint8_t { none, barrier, sync_warp, fence };
  Kind kind = Kind::none;
  InstructionAt before;  // this instruction
};

// It cannot stand there: not all threads that it needs get there.
struct NoPlace {};

}  // namespace simtlab::check
