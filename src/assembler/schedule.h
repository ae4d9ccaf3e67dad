// The order of instructions within blocks.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// Before registers have numbers: results early enough for who needs them, as few values alive as possible.
void schedule_before_allocation(Program& program);

// The hardware gives registers to a thread in portions.
inline constexpr std::uint32_t register_portion = 8;
// What allocation cannot use, since pairs and quadruples have to begin at even numbers; the order before it
// keeps so many free.
inline constexpr std::uint32_t lost_registers = 6;
// Registers that a thread may have while an SM still has room for as many threads as it can hold.
std::uint32_t registers_of_full_sm(unsigned generation);
// Those of them that values may take.
std::uint32_t free_registers(unsigned generation);
// With registers that have numbers: fills cycles in which an instruction would wait with others.
void schedule_after_allocation(Program& program);

}  // namespace simtlab::assembler
