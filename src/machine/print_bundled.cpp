// What is written in another way for Maxwell and Pascal, whose instructions are in bundles.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

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

// NaNs of 16 and 32 bits are all written as quiet ones.
std::int64_t quieted(std::int64_t half) {
  constexpr std::int64_t infinity = 0x7c00, without_sign = 0x7fff, quiet = 0x200;
  return (half & without_sign) > infinity ? half | quiet : half;
}
float single_of(std::int64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

// Whether the immediate is a number with a sign because the name says so of the factor.
bool has_signed_factor(const Instruction& instruction) {
  constexpr unsigned first_signed_b = 2;
  const std::string_view mnemonic = instruction.mnemonic();
  if (mnemonic == "XMAD") return instruction.field("s16") >= first_signed_b;
  if (mnemonic == "VABSDIFF4") return instruction.field("types") >= first_signed_b;
  return mnemonic != "VADD" && mnemonic != "VMAD" && instruction.field("sb") != 0;
}

constexpr unsigned double_source = 3;

}  // namespace

std::int64_t bundled_value(const Instruction& instruction, const OperandForm& form, const Operand& operand) {
  constexpr std::int64_t twenty_bits = 0xfffff, half_bits = 0xffff, quiet = 0x400000;
  constexpr unsigned half = 1;
  const unsigned width = form.bits.width();
  const std::int64_t value = operand.value;
  switch (form.immediate) {
    case Immediate::f16x2:
      // Of 20 bits: the upper 10 of two halves
      return width == 20 ? quieted(value >> 10 << 6) << 16 | quieted((value & 0x3ff) << 6)
                         : quieted(value >> 16 & half_bits) << 16 | quieted(value & half_bits);
    case Immediate::f32:
      // Conversions of halves have the lower 16 of the 20 bits
      if (form.upper_bits && instruction.field("src") == half)
        return quieted(value >> upper_bits_shift & half_bits);
      return instruction.field("src") != double_source && std::isnan(single_of(value)) ? value | quiet
                                                                                       : value;
    default: break;
  }
  if (instruction.mnemonic() == "IADD3") return value & twenty_bits;
  if (!has_signed_factor(instruction)) return value;
  return width == 8 ? std::int64_t{static_cast<std::int8_t>(value)}
                    : std::int64_t{static_cast<std::int16_t>(value)};
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
  if (operand.kind == OperandKind::immediate) {
    const bool minus = operand.negated && instruction.mnemonic() == "VADD";
    if (minus) plain.insert(0, "-");
    if (operand.negated && !minus) add("NEG");
    if (operand.absolute) add("ABS");
    if (inverted) add("INV");
    add(suffix_of(instruction, text));
    return plain;
  }
  add(suffix_of(instruction, text));
  add(halves[operand.half]);
  if (operand.absolute) plain = fmt::format("|{}|", plain);
  if (operand.negated) plain.insert(0, "-");
  if (inverted) plain.insert(0, operand.kind == OperandKind::pred ? "!" : "~");
  if (is_kept(instruction, form)) add("reuse");
  return plain;
}

}  // namespace simtlab::machine
