// What is inserted into a kernel, to see whether a race goes.
#pragma once

#include <cstdint>
#include <vector>

#include "check/findings.h"

namespace simtlab::check {

struct Patch {
  enum class Kind : std::uint8_t { none, barrier, sync_warp, fence };
  Kind kind = Kind::none;
  InstructionAt at;  // this instruction, and all that the compiler made of it
  bool behind = false;
};

// By pc of its function: loops are unrolled, branches copied, so that one line is several instructions.
std::vector<bool> places_of(const Patch& patch);

// It cannot stand there: not all threads that it needs get there.
struct NoPlace {};

}  // namespace simtlab::check
