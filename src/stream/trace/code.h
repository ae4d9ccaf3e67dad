// The static code of a function as bytes: every field of the decoded instructions, so that a model reads the
// same from a trace as from the module itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ptx/module.h"
#include "stream/trace/bytes.h"

namespace simtlab::stream::trace {

// A function, and the machine code that belongs to it beyond ptx::Function.
struct Code {
  std::shared_ptr<const ptx::Module> module;  // holds this function alone; file numbers, target, name
  std::vector<std::string> mnemonics;         // machine code: of each instruction; empty: PTX
  std::vector<std::uint64_t> addresses;       // machine code: of each instruction

  std::vector<std::uint32_t> guessed;  // machine code: instructions whose opcode no table knows

  const ptx::Function& function() const { return module->functions.front(); }
};

// machine: what else to keep of machine code; null: PTX.
Buffer write_code(const ptx::Module& module, const ptx::Function& function, const Code* machine = nullptr);
Code read_code(Bytes bytes);  // throws Malformed

// Whether an instruction's lanes have addresses; whether its lanes may be fewer than the active ones.
bool has_addresses(const ptx::Inst& inst);
bool has_own_mask(const ptx::Inst& inst);

}  // namespace simtlab::stream::trace
