// A kernel's code with the functions that it calls in other sections, and what the loader puts into it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "machine/image.h"
#include "machine/symbols.h"
#include "ptx/inst.h"

namespace simtlab::machine {

struct LinkedCode {
  // The kernel's words from address 0 on, then those of other sections.
  std::vector<Word> words;
  // Immediates that are addresses of variables, by number of the instruction.
  std::map<std::uint32_t, ptx::Constant> addresses;
  std::vector<FunctionPlace> functions;  // by address
};

// Whether code calls, or jumps to, what a register says.
bool calls_through_registers(std::span<const Word> words, unsigned generation);

// Throws Error: bad_input "cubin", unsupported "machine-unresolved".
LinkedCode link(const Image& image, const ImageKernel& kernel, const Symbols& symbols);

}  // namespace simtlab::machine
