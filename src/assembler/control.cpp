#include "assembler/control.h"

#include <algorithm>
#include <array>

#include "assembler/control_parts.h"

namespace simtlab::assembler {
namespace {

// The registers in an operand slot: A, B, C.
struct OperandSlot {
  std::uint8_t first = machine::zero_register, count = 0;
  bool operator==(const OperandSlot&) const = default;
};
using OperandSlots = std::array<OperandSlot, 3>;

OperandSlots operand_slots(const Instruction& instruction) {
  OperandSlots out;
  for (std::size_t i = 0; i < instruction.code.operand_count(); ++i) {
    const machine::Operand& o = instruction.code.operands[i];
    if (o.kind != machine::OperandKind::reg || o.number == machine::zero_register || instruction.is_write(i))
      continue;
    const std::uint8_t count = instruction.refs[i] ? instruction.refs[i].count : std::uint8_t{1};
    switch (instruction.code.form->operands[i].bits.pieces[0].first) {
      case 24: out[0] = {o.number, count}; break;
      case 32: out[1] = {o.number, count}; break;
      case 64: out[2] = {o.number, count}; break;
      default: break;
    }
  }
  return out;
}

// Its operands come by way of the reuse cache.
bool has_reuse(const Instruction& instruction, const Effects& effects) {
  if (effects.late) return false;
  switch (pipe_of(instruction.code).kind) {
    case PipeKind::alu:
    case PipeKind::fma:
    case PipeKind::multiply:
    case PipeKind::half:
    case PipeKind::fp64: return true;
    default: return false;
  }
}

bool overwrites(const Effects& effects, const OperandSlot& slot) {
  return std::ranges::any_of(effects.writes(), [&](const Effects::Write& w) {
    return w.place >= slot.first && w.place < slot.first + slot.count;
  });
}

// What the next instruction reads in the same slot is kept for it.
void set_reuse(Block& block, const BlockEffects& effects) {
  for (std::size_t n = 0; n < block.code.size(); ++n) {
    machine::Control& control = block.code[n].code.control;
    control.reuse = 0;
    if (n + 1 == block.code.size() || control.yield || !has_reuse(block.code[n], effects[n]) ||
        !has_reuse(block.code[n + 1], effects[n + 1]))
      continue;
    const OperandSlots here = operand_slots(block.code[n]), next = operand_slots(block.code[n + 1]);
    for (unsigned k = 0; k < here.size(); ++k)
      if (here[k].count > 0 && here[k] == next[k] && !overwrites(effects[n], here[k]))
        control.reuse = static_cast<std::uint8_t>(control.reuse | 1u << k);
  }
}

}  // namespace

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
