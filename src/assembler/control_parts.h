// The steps of set_control().
#pragma once

#include <vector>

#include "assembler/control_effects.h"
#include "assembler/program.h"

namespace simtlab::assembler {

using BlockEffects = std::vector<Effects>;  // one an instruction

inline constexpr unsigned scoreboard_count = 6;
inline constexpr std::uint8_t no_scoreboard = 7;

// It leads to another block.
inline bool is_branch_to_block(const Instruction& instruction) {
  return instruction.target != none && instruction.barrier == none;
}
// Blocks that may follow, also where two branches end a block: the guarded one, and one to where the other
// lanes go.
std::vector<std::uint32_t> ways_out(const Program& program, std::uint32_t block);

// Scoreboards of results and operands, and who waits for them.
void set_scoreboards(Program& program, const std::vector<BlockEffects>& effects);
// Stall counts and the yield flag; scoreboards are set.
void set_stalls(Program& program, const std::vector<BlockEffects>& effects);

}  // namespace simtlab::assembler
