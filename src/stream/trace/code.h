// The static code of a function as bytes: every field of the decoded instructions, so that a model reads the
// same from a trace as from the module itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ptx/module.h"
#include "stream/trace/bytes.h"

namespace simtlab::stream::trace {

// A function, and what is known of it beyond ptx::Function. Recorded machine code has its instructions in
// Function::machine: the words that were executed, decoded again.
struct Code {
  std::shared_ptr<const ptx::Module> module;  // holds this function alone; file numbers, target, name
  std::vector<std::string> mnemonics;         // machine code: of each instruction; empty: PTX
  std::vector<std::uint64_t> addresses;       // machine code: of each instruction

  std::vector<std::uint32_t> guessed;  // machine code: instructions whose opcode no table knows
  // Function::machine with warps of Accel-Sim's tracer: guards and active lanes are not told apart
  bool lanes_merged = false;

  const ptx::Function& function() const { return module->functions.front(); }
};

// recorded: what else to keep of a function that comes from a trace.
Buffer write_code(const ptx::Module& module, const ptx::Function& function, const Code* recorded = nullptr);
Code read_code(Bytes bytes);  // throws Malformed

// Whether an instruction's lanes have addresses; whether its lanes may be fewer than the active ones.
bool has_addresses(const ptx::Inst& inst);
bool has_own_mask(const ptx::Inst& inst);

}  // namespace simtlab::stream::trace
