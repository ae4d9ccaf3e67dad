#include "assembler/control_reuse.h"

#include <algorithm>

namespace simtlab::assembler {

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

std::uint8_t kept_slots(const OperandSlots& before, const Effects& effects, const OperandSlots& next) {
  unsigned out = 0;
  for (unsigned k = 0; k < before.size(); ++k) {
    const OperandSlot& slot = before[k];
    const auto is_overwritten = [&](const Effects::Write& w) {
      return w.place >= slot.first && w.place < unsigned{slot.first} + slot.count;
    };
    if (slot.count > 0 && slot == next[k] && std::ranges::none_of(effects.writes(), is_overwritten))
      out |= 1u << k;
  }
  return static_cast<std::uint8_t>(out);
}

unsigned bank_conflicts(unsigned generation, const OperandSlots& slots, std::uint8_t kept, unsigned cycles) {
  std::array<unsigned, 2> reads{};
  for (unsigned k = 0; k < slots.size(); ++k) {
    const auto is_same = [&](const OperandSlot& s) { return s.count > 0 && s.first == slots[k].first; };
    if ((kept >> k & 1u) != 0 || std::any_of(slots.begin(), slots.begin() + k, is_same)) continue;
    for (unsigned r = 0; r < slots[k].count; ++r) ++reads[(slots[k].first + r) % 2];
  }
  const unsigned most = std::max(reads[0], reads[1]);
  // Two registers of a bank a cycle, or one. Then a slow pipeline reads its operands in as many turns.
  if (generation <= 80) return most > 2 ? 1 : 0;
  return most > cycles ? most - cycles : 0;
}

}  // namespace simtlab::assembler
