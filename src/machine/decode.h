// Words to instructions.
#pragma once

#include <string>
#include <variant>

#include "machine/instruction.h"

namespace simtlab::machine {

// Why a word is no instruction of its generation, as a part of a sentence.
struct Undecoded {
  std::string reason;
};

// The instruction of `word` at `address` (in its function). Never throws for any word.
std::variant<Instruction, Undecoded> decode(const Forms& forms, unsigned generation, Word word,
                                            std::uint32_t address);

}  // namespace simtlab::machine
