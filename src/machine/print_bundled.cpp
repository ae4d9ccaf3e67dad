// What is written in another way for Maxwell and Pascal, whose instructions are in bundles.
#include <fmt/format.h>

#include <algorithm>

#include "machine/print_operand.h"

namespace simtlab::machine {
namespace {

// Textures keep no operands; the same bits say something else of them (print_words.cpp).
bool keeps_operands(const Instruction& instruction) { return !instruction.mnemonic().starts_with("T"); }

// ".reuse": the operand slot keeps the value. A register at bit 8 is slot A; one at bit 20 is slot B, but C
// of sums; one at bit 39 is slot C, but B where C is a constant.
bool is_kept(const Instruction& instruction, const OperandForm& form) {
  constexpr std::string_view sums[] = {"FADD", "DADD", "HADD2"};
  if (form.kind != OperandKind::reg || !keeps_operands(instruction)) return false;
  unsigned slot = 0;
  switch (form.bits.pieces[0].first) {
    case 0:
      if (form.name != "Rc") return false;
      slot = 2;
      break;
    case 8: slot = 0; break;
    case 20: slot = std::ranges::find(sums, instruction.mnemonic()) == std::end(sums) ? 1 : 2; break;
    case 39: slot = instruction.form->form == "RRC" ? 1 : 2; break;
    default: return false;
  }
  return (instruction.control.reuse >> slot & 1u) != 0;
}

}  // namespace

std::int64_t bundled_value(const Instruction& instruction, const OperandForm& form, const Operand& operand) {
  constexpr std::int64_t twenty_bits = 0xfffff;
  constexpr unsigned half = 1;
  const unsigned width = form.bits.width();
  // The upper 10 bits of two halves
  if (form.immediate == Immediate::f16x2 && width == 20)
    return (operand.value >> 10 << 6) << 16 | (operand.value & 0x3ff) << 6;
  // Conversions of halves have 16 of the 20 upper bits
  if (form.immediate == Immediate::f32 && form.upper_bits && instruction.field("src") == half)
    return operand.value >> 16;
  if (instruction.mnemonic() == "IADD3") return operand.value & twenty_bits;
  if (width == 16 && instruction.field("sb") != 0) return static_cast<std::int16_t>(operand.value);
  return operand.value;
}

std::string bundled_text(const Instruction& instruction, std::size_t index, std::string plain) {
  constexpr std::string_view halves[] = {"", "F32", "H0_H0", "H1_H1"};
  const OperandForm& form = instruction.form->operands[index];
  const OperandText& text = instruction.form->texts[index];
  const Operand& operand = instruction.operands[index];
  const auto add = [&](std::string_view word) {
    if (!word.empty()) plain.append(".").append(word);
  };
  const bool inverted =
      operand.inverted ||
      (text.tilde_field >= 0 && instruction.fields[static_cast<std::size_t>(text.tilde_field)] != 0);
  add(suffix_of(instruction, text));
  add(halves[operand.half]);
  if (operand.kind == OperandKind::immediate) {
    if (operand.negated) add("NEG");
    if (operand.absolute) add("ABS");
    if (inverted) add("INV");
    return plain;
  }
  if (operand.absolute) plain = fmt::format("|{}|", plain);
  if (operand.negated) plain.insert(0, "-");
  if (inverted) plain.insert(0, operand.kind == OperandKind::pred ? "!" : "~");
  if (is_kept(instruction, form)) add("reuse");
  return plain;
}

}  // namespace simtlab::machine
