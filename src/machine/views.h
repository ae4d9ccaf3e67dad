// What models read of an instruction of machine code: a ptx::Inst with its class, registers, and the size and
// space of its access. It is never executed.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "machine/classes.h"
#include "machine/code.h"
#include "machine/instruction.h"

namespace simtlab::machine {

class Views {
 public:
  explicit Views(const SassTable& classes) : classes_(classes) {}
  ptx::Inst of(const Instruction& instruction, const Layout& layout);

 private:
  ptx::Inst class_of(const Instruction& instruction) const;

  const SassTable& classes_;
  // Of forms whose name is said by their fields alone, by form and fields.
  struct Hash {
    std::size_t operator()(const std::array<std::uint16_t, max_fields + 1>& key) const;
  };
  std::unordered_map<std::array<std::uint16_t, max_fields + 1>, ptx::Inst, Hash> known_;
};

// Registers that an operand takes, from its first on: 2 for a 64-bit value, 4 for 128 bits; 0: it is no
// register.
unsigned registers_of(const Instruction& instruction, std::size_t operand);

}  // namespace simtlab::machine
