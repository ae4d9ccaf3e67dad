#include "assembler/control.h"

#include "assembler/control_parts.h"
#include "assembler/control_reuse.h"

namespace simtlab::assembler {
namespace {

// What the next instruction reads in the same slot is kept for it.
void set_reuse(Block& block, const BlockEffects& effects) {
  for (std::size_t n = 0; n < block.code.size(); ++n) {
    machine::Control& control = block.code[n].code.control;
    control.reuse = 0;
    if (n + 1 == block.code.size() || control.yield || !has_reuse(block.code[n], effects[n]) ||
        !has_reuse(block.code[n + 1], effects[n + 1]))
      continue;
    control.reuse = kept_slots(operand_slots(block.code[n]), effects[n], operand_slots(block.code[n + 1]));
  }
}

}  // namespace

std::vector<std::uint32_t> ways_out(const Program& program, std::uint32_t block) {
  const Block& b = program.blocks[block];
  std::vector<std::uint32_t> out;
  for (auto i = b.code.rbegin(); i != b.code.rend() && is_branch_to_block(*i); ++i) out.push_back(i->target);
  if (b.next != none) out.push_back(b.next);
  return out;
}

void set_control(Program& program) {
  std::vector<BlockEffects> effects(program.blocks.size());
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    effects[b].reserve(program.blocks[b].code.size());
    for (Instruction& instruction : program.blocks[b].code) {
      instruction.code.control = {};
      effects[b].push_back(effects_of(instruction));
    }
  }
  set_scoreboards(program, effects);
  set_stalls(program, effects);
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    set_reuse(program.blocks[b], effects[b]);
    // 0: until the pipelines are empty
    for (Instruction& instruction : program.blocks[b].code)
      if (instruction.code.mnemonic() == "ERRBAR") instruction.code.control.stall = 0;
  }
}

}  // namespace simtlab::assembler
