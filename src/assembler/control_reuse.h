// Registers that an instruction reads from the register file, and those that the one before has kept for it.
#pragma once

#include <array>
#include <cstdint>

#include "assembler/control_effects.h"
#include "assembler/program.h"

namespace simtlab::assembler {

// The registers in an operand slot: A, B, C.
struct OperandSlot {
  std::uint8_t first = machine::zero_register, count = 0;
  bool operator==(const OperandSlot&) const = default;
};
using OperandSlots = std::array<OperandSlot, 3>;
OperandSlots operand_slots(const Instruction& instruction);

// Its operands come by way of the reuse cache.
bool has_reuse(const Instruction& instruction, const Effects& effects);
// Slots, a bit each, that `before` may keep for the instruction that follows.
std::uint8_t kept_slots(const OperandSlots& before, const Effects& effects, const OperandSlots& next);

// Cycles that an instruction waits for the banks of the register file, which go by the parity of the number.
// cycles: that its pipeline takes for it anyway.
unsigned bank_conflicts(unsigned generation, const OperandSlots& slots, std::uint8_t kept, unsigned cycles);

}  // namespace simtlab::assembler
