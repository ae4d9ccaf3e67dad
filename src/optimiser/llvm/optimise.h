// A kernel of PTX, optimised as an assembler would before it chooses machine instructions.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ptx/decode.h"

namespace simtlab::optimiser {

// True: the kernel `which` of the functions was replaced. False: it is as it was, and `why` says what is in
// the way.
bool optimise(std::span<ptx::VirtualFunction> functions, std::uint32_t which, const ptx::Module& module,
              std::string& why);

}  // namespace simtlab::optimiser
