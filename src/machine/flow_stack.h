// Where lanes meet in machine code of Maxwell and Pascal, which says it by a stack.
//
// SSY, PBK and PCNT push a place with the lanes that are active; SYNC, BRK and CONT take lanes there and wait
// for the others. Compiled code pushes and takes in nests, so what an instruction finds on the stack is known
// before it runs: each depth is a convergence barrier, as later generations have them. A function begins at
// depth 0 again: the executor keeps what its caller has, and where it returns to, so that functions may call
// themselves and be called by their address.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "machine/instruction.h"

namespace simtlab::machine {

struct StackEffect {
  // SSY, PBK, PCNT, SYNC, BRK, CONT: the convergence barrier. CAL, PRET: how many there are in use
  std::uint8_t barrier = 0;
  // SYNC, BRK, CONT: how many barriers behind it the lanes no longer wait at, and where they go on. RET: how
  // many barriers in all
  std::uint8_t leaves = 0;
  std::int64_t target = 0;
  bool calls = false;  // JMX, BRX behind PRET
};

struct FlowStack {
  std::vector<StackEffect> effects;  // one an instruction; empty: the code needs none
};

// Whether it calls a function of the driver by where that is (JCAL).
bool calls_driver(const Instruction& instruction);

// Where branches by registers may go, by their number, as far as the file says it: numbers of instructions.
using BranchTable = std::map<std::size_t, std::vector<std::size_t>>;

// The code of a kernel with the functions behind it, which begin at `functions`; `kernel` for messages.
// Throws Error(unsupported, "machine-instruction") where the nesting is not known before it runs: depths
// above 16, other places on the stack by another way where that makes a difference.
FlowStack find_flow_stack(std::span<const Instruction> code, const BranchTable& branches,
                          std::span<const std::uint32_t> functions, const std::string& kernel);

}  // namespace simtlab::machine
