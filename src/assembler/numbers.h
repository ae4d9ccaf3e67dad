// Numbers for registers, as low as they can be.
#pragma once

#include <cstdint>
#include <vector>

#include "assembler/liveness.h"
#include "assembler/occupied.h"
#include "assembler/program.h"

namespace simtlab::assembler {

struct NumberLimits {
  File file = File::general;
  std::uint32_t most = 255;  // numbers are below it
  std::uint32_t enough = 0;  // fewer are of no use
  Numbers reserved;          // that no register may get
};

// Of registers that instructions name (`named`): no two that live in one gap get one number, and a register
// of several parts begins at a multiple of its width. Into `numbers`, one for each register. False: there is
// no room for all.
bool give_numbers(const Program& program, const Liveness& liveness, const std::vector<std::uint8_t>& named,
                  const NumberLimits& limits, std::vector<std::uint8_t>& numbers);

}  // namespace simtlab::assembler
