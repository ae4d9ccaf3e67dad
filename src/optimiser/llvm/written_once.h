// Registers that need no place of their own.
#pragma once

#include <vector>

#include "ptx/decode.h"

namespace simtlab::optimiser {

// Of each register: whether one instruction at most writes it, for all threads, on every way to those that
// read it and before them in the code. Such a register is the value itself. None is where there are few.
std::vector<bool> written_once(const ptx::VirtualFunction& f);

}  // namespace simtlab::optimiser
