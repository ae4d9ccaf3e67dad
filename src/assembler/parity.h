// Registers lie in two banks, even and odd ones: which should be what, so that instructions read their
// sources from both.
#pragma once

#include <cstdint>
#include <vector>

#include "assembler/program.h"

namespace simtlab::assembler {

enum class Parity : std::uint8_t { even, odd, any };

// Of each register of width 1; `any` for the others. Instructions in deep loops have their way first.
std::vector<Parity> wanted_parities(const Program& program);

}  // namespace simtlab::assembler
