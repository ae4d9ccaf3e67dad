// Kernels of random instructions over registers without numbers, for tests of steps that must not change what
// a program means.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "assembler/build.h"

namespace simtlab::assembler::tests {

struct Mix {
  unsigned instructions = 200;
  unsigned values = 12;  // alive at once, about
  unsigned predicates = 4;
  bool vectors = true, loops = true, guards = true, fixed = false;
};

// Each value is defined before it is read. Instruction::line numbers the instructions.
Program random_program(std::uint64_t seed, const Mix& mix);

// For one thread: runs at most `steps` instructions and tells what it stores, in order. What an instruction
// computes is a hash of what it reads (and of its line), but moves, selections and local memory are what they
// are. `numbered`: registers are those that allocation gave.
std::vector<std::uint64_t> run(const Program& program, bool numbered, std::uint64_t seed, unsigned steps);

}  // namespace simtlab::assembler::tests
