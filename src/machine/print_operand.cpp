#include "machine/print_operand.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace simtlab::machine {
namespace {

std::string uniform_name(unsigned number) {
  return number == zero_uniform ? "URZ" : fmt::format("UR{}", number);
}

std::string number_text(std::int64_t value) {
  return value < 0 ? fmt::format("-0x{:x}", std::uint64_t{0} - static_cast<std::uint64_t>(value))
                   : fmt::format("0x{:x}", value);
}

// A space stands behind what is no plain number.
std::string float_text(double value, bool quiet) {
  constexpr double first_with_exponent = 1e9;
  const char sign = std::signbit(value) ? '-' : '+';
  if (std::isinf(value)) return fmt::format("{}INF ", sign);
  if (std::isnan(value)) return fmt::format("{}{} ", sign, quiet ? "QNAN" : "SNAN");
  if (value == 0) return std::signbit(value) ? "-0.0 " : "0";
  if (std::abs(value) >= first_with_exponent) return fmt::format("{:.20e}", value);
  return fmt::format("{:.20g}", value);
}

double half_value(std::uint64_t bits) {
  const double sign = (bits & 0x8000u) ? -1 : 1;
  const auto exponent = static_cast<int>((bits >> 10) & 31u);
  const auto fraction = static_cast<double>(bits & 0x3ffu);
  if (exponent == 31) return std::copysign(fraction != 0 ? std::nan("") : HUGE_VAL, sign);
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

std::string half_text(std::uint64_t bits) { return float_text(half_value(bits), (bits & 0x200u) != 0); }
std::string brain_text(std::uint64_t bits) {
  return float_text(std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16)), (bits & 0x40u) != 0);
}

bool is_named(const Instruction& instruction, std::string_view field) {
  return instruction.field(field) != 0;
}

// The type of a float that stands in the word. Conversions state that of their source.
Immediate immediate_of(const Instruction& instruction, const OperandForm& form) {
  constexpr unsigned double_source = 3, reciprocal_64h = 6, root_64h = 7;
  if (instruction.mnemonic() == "MUFU" &&
      (instruction.field("op") == reciprocal_64h || instruction.field("op") == root_64h))
    return Immediate::f64;
  if (form.immediate == Immediate::f32 && instruction.field("src") == double_source) return Immediate::f64;
  return form.immediate;
}

bool is_half(const Instruction& instruction) {
  return instruction.mnemonic() == "MUFU"
             ? is_named(instruction, "f16")
             : instruction.form->field("src") >= 0 && instruction.field("src") == 1;
}

std::string immediate_text(const Instruction& instruction, const OperandForm& form, const Operand& operand) {
  const std::int64_t value =
      instruction.form->bundled() ? bundled_value(instruction, form, operand) : operand.value;
  const auto bits = static_cast<std::uint64_t>(value);
  const bool brain = is_named(instruction, "bf16") && (instruction.form->opcode & 0xffu) != 0x35u;
  switch (immediate_of(instruction, form)) {
    case Immediate::f32:
      if (is_half(instruction)) return half_text(bits & 0xffffu);
      return float_text(std::bit_cast<float>(static_cast<std::uint32_t>(bits)), (bits & 0x400000u) != 0);
    case Immediate::f64: return float_text(std::bit_cast<double>(bits << 32), (bits & 0x80000u) != 0);
    case Immediate::f16x2: {
      const auto text = brain ? brain_text : half_text;
      return fmt::format("{}, {}", text(bits >> 16), text(bits & 0xffffu));
    }
    case Immediate::plain:
    case Immediate::signed_:
    case Immediate::any: break;
  }
  return number_text(value);
}

// ".reuse": the operand slot keeps the value. A register at bit 24 is slot A; one at bit 32 is slot B, but C
// of instructions whose B slot is empty; one at bit 64 is slot C, but B where C is no register.
bool is_reused(const Instruction& instruction, const OperandForm& form) {
  constexpr std::string_view without_b[] = {"FADD", "DSETP", "HADD2", "HSETP2", "HSET2"};
  unsigned slot = 0;
  if (form.kind != OperandKind::reg) return false;
  switch (form.bits.pieces[0].first) {
    case 24: slot = 0; break;
    case 32:
      slot = std::ranges::find(without_b, instruction.mnemonic()) == std::end(without_b) ? 1 : 2;
      break;
    case 64: {
      const std::string& kinds = instruction.form->form;
      slot = kinds == "RRI" || kinds == "RRC" || kinds == "RRU" ? 1 : 2;
      break;
    }
    default: return false;
  }
  return (instruction.control.reuse >> slot & 1u) != 0;
}

std::string memory_text(const Instruction& instruction, const OperandForm& form, const Operand& operand) {
  constexpr unsigned hopper = 90;
  std::string out;
  const auto add = [&](const std::string& part) { out.append(out.empty() ? "" : "+").append(part); };
  const bool with_uniform = form.uniform != no_bit && !operand.described;
  const bool global = form.pair != no_bit || form.wide != no_bit;
  const bool zero = operand.base == zero_register;
  if (form.base != no_bit &&
      (!zero || operand.described ||
       (with_uniform && (operand.scale != 1 || (global && instruction.generation >= hopper))))) {
    std::string name = register_name(operand.base);
    if (operand.scale != 1) name += fmt::format(".X{}", operand.scale);
    if (operand.described || (form.uniform != no_bit && operand.pair))
      name += ".64";
    else if (with_uniform && global)
      name += ".U32";
    add(name);
  }
  if (with_uniform) add(uniform_name(operand.uniform));
  if (operand.value != 0) {
    // Without a register the offset is an address
    const bool alone = out.empty();
    const unsigned width = form.bits.width() + (form.in_words ? 2 : 0);
    add(number_text(alone ? operand.value & ((std::int64_t{1} << width) - 1) : operand.value));
  }
  if (out.empty()) out = "RZ";
  out = fmt::format("[{}]", out);
  const bool shows = instruction.generation >= hopper || is_named(instruction, "desc2");
  return operand.described && shows ? fmt::format("desc[{}]{}", uniform_name(operand.number), out) : out;
}

// The offset of a constant, with the register that is added to it. In bundles it is a signed number.
std::string offset_text(const Instruction& instruction, const OperandForm& form, const Operand& operand) {
  if (instruction.form->bundled()) {
    const auto offset = static_cast<std::int16_t>(operand.value);
    if (operand.base == zero_register) return number_text(offset);
    const std::string base = register_name(operand.base);
    return offset == 0 ? base : fmt::format("{}+{}", base, number_text(offset));
  }
  const bool by_uniform = form.kind == OperandKind::constant && form.uniform != no_bit;
  const bool zero = operand.base == zero_register;
  if (!by_uniform && (form.base == no_bit || (zero && operand.value != 0))) return number_text(operand.value);
  const std::string base = by_uniform ? uniform_name(operand.uniform) : register_name(operand.base);
  return operand.value == 0 ? base : fmt::format("{}+{}", base, number_text(operand.value));
}

// How lanes of a quad are combined: for each of four, the signs of its value and of the other one.
std::string signs_text(std::int64_t value) {
  constexpr std::string_view signs[] = {"PP", "PN", "NP", "ZP"};
  std::string out;
  for (int at = 6; at >= 0; at -= 2) out += signs[value >> at & 3];
  return out;
}

// State of a warp that BMOV moves.
std::string state_text(std::int64_t state) {
  constexpr std::string_view names[] = {
      "TRAP_RETURN_PC.LO", "TRAP_RETURN_PC.HI", "TRAP_RETURN_MASK", "MEXITED",      "MKILL",       "MACTIVE",
      "MATEXIT",           "OPT_STACK",         "API_CALL_DEPTH",   "ATEXIT_PC.LO", "ATEXIT_PC.HI"};
  constexpr std::int64_t first_thread_state = 16, first_name = 21;
  if (state < first_thread_state) return fmt::format("B{}", state);
  if (state < first_name) return fmt::format("THREAD_STATE_ENUM.{}", state - first_thread_state);
  const auto index = static_cast<std::size_t>(state - first_name);
  return index < std::size(names) ? std::string(names[index]) : fmt::format("STATE{}", state);
}

std::string_view texture_shape(std::int64_t value) {
  constexpr std::string_view names[] = {"1D",       "2D",       "3D",       "CUBE",
                                        "ARRAY_1D", "ARRAY_2D", "INVALID6", "ARRAY_CUBE"};
  return names[value & 7];
}

// Maxwell and Pascal count shapes in another order.
std::string_view bundled_shape(std::int64_t value) {
  constexpr std::string_view names[] = {"1D", "ARRAY_1D", "2D",   "ARRAY_2D",
                                        "3D", "ARRAY_3D", "CUBE", "ARRAY_CUBE"};
  return names[value & 7];
}

std::string named_number(const OperandForm& form, const Operand& operand) {
  if (form.name == "pppp") return signs_text(operand.value);
  if (form.name == "state") return state_text(operand.value);
  if (form.name == "dim") return std::string(texture_shape(operand.value));
  if (form.name == "shape") return std::string(bundled_shape(operand.value));
  return number_text(operand.value);
}

// A constant that may have a suffix has a space in it.
bool is_spaced(const Instruction& instruction, const OperandText& text) {
  constexpr unsigned half = 1;
  if (instruction.form->bundled())
    return text.spaced || (instruction.mnemonic().starts_with("F2F") && instruction.field("src") == half);
  return text.spaced ||
         (text.computed != nullptr && (instruction.field("src", 2) < 2 || instruction.field("f16") != 0));
}

// A code address as files have it. Of bundles the first instruction is named by the address of the control
// word before it, as the vendor's assembler does.
std::int64_t code_address(const Instruction& instruction, const Operand& operand) {
  const std::int64_t address = address_in_file(instruction.generation, operand.value);
  constexpr auto first = static_cast<std::int64_t>(bundled_bytes);
  const std::int64_t together = controlled_together(instruction.generation), bundle = (together + 1) * first;
  if (!in_bundles(instruction.generation) || together == 0) return address;
  return (address % bundle + bundle) % bundle == first ? address - first : address;
}

std::string plain_text(const Instruction& instruction, std::size_t index, const NameOfCode& name_of) {
  const OperandForm& form = instruction.form->operands[index];
  const Operand& operand = instruction.operands[index];
  switch (operand.kind) {
    case OperandKind::reg: {
      const std::string name = register_name(operand.number);
      return form.bracket ? fmt::format("[{}]", name) : name;
    }
    case OperandKind::ureg: {
      const std::string name = uniform_name(operand.number);
      return form.bracket ? fmt::format("[{}]", name) : form.matrix ? fmt::format("gdesc[{}]", name) : name;
    }
    case OperandKind::pred:
      return predicate_name(form.name == "Pc" && is_named(instruction, "pc_uniform"), operand.number);
    case OperandKind::upred: return predicate_name(true, operand.number);
    case OperandKind::immediate: return immediate_text(instruction, form, operand);
    case OperandKind::constant:
      return fmt::format("c[0x{:x}]{}[{}]", operand.number,
                         is_spaced(instruction, instruction.form->texts[index]) ? " " : "",
                         offset_text(instruction, form, operand));
    case OperandKind::bindless:
      return fmt::format("cx[{}][{}]", uniform_name(operand.uniform),
                         offset_text(instruction, form, operand));
    case OperandKind::memory: return memory_text(instruction, form, operand);
    case OperandKind::barrier: return fmt::format("B{}", operand.number);
    case OperandKind::special: return special_register_name(operand.number, instruction.generation);
    case OperandKind::absolute: return number_text(code_address(instruction, operand));
    case OperandKind::target: {
      const std::string name = name_of ? name_of(static_cast<std::uint64_t>(operand.value)) : std::string{};
      return name.empty() ? number_text(code_address(instruction, operand)) : name;
    }
    case OperandKind::predicates: return "PR";
    case OperandKind::upredicates: return "UPR";
    case OperandKind::flags: return "CC";
    case OperandKind::descriptor: return fmt::format("desc[{}]", uniform_name(operand.number));
    case OperandKind::number: return named_number(form, operand);
    case OperandKind::ignored: break;
  }
  return {};
}

}  // namespace

std::string register_name(unsigned number) {
  return number == zero_register ? "RZ" : fmt::format("R{}", number);
}

std::string suffix_of(const Instruction& instruction, const OperandText& text) {
  if (!text.suffix.empty()) return text.suffix;
  if (text.computed != nullptr) return text.computed(instruction);
  if (text.suffix_field < 0) return {};
  const auto i = static_cast<std::size_t>(text.suffix_field);
  const std::string* const word = instruction.form->fields[i]->word(instruction.fields[i]);
  return word == nullptr ? std::string() : *word;
}

std::string operand_text(const Instruction& instruction, std::size_t index, const NameOfCode& name_of) {
  const OperandForm& form = instruction.form->operands[index];
  const OperandText& text = instruction.form->texts[index];
  const Operand& operand = instruction.operands[index];
  constexpr std::string_view halves[] = {"", "F32", "H0_H0", "H1_H1"};
  const bool is_register = operand.kind == OperandKind::reg;
  std::string out = plain_text(instruction, index, name_of);
  if (instruction.form->bundled()) return bundled_text(instruction, index, std::move(out));
  const std::string inner = text.computed != nullptr ? suffix_of(instruction, text) : std::string();
  if (!inner.empty()) out.append(".").append(inner);
  const std::string_view half = text.whole ? std::string_view() : halves[operand.half];
  if (!is_register && !half.empty()) out.append(".").append(half);
  if (operand.absolute) out = fmt::format("|{}|", out);
  const auto is_set = [&](int field) {
    return field >= 0 && instruction.fields[static_cast<std::size_t>(field)] != 0;
  };
  if (operand.negated || is_set(text.minus_field)) out.insert(0, "-");
  if (operand.inverted || is_set(text.tilde_field))
    out.insert(0, operand.kind == OperandKind::pred || operand.kind == OperandKind::upred ? "!" : "~");
  if (is_reused(instruction, form)) out += ".reuse";
  if (is_register && !half.empty()) out.append(".").append(half);
  if (text.computed == nullptr)
    if (const std::string suffix = suffix_of(instruction, text); !suffix.empty())
      out.append(".").append(suffix);
  return out;
}

bool is_left_out(const Instruction& instruction, std::size_t index) {
  const OperandForm& form = instruction.form->operands[index];
  const OperandText& text = instruction.form->texts[index];
  const Operand& operand = instruction.operands[index];
  const auto value = [&](int field) { return instruction.fields[static_cast<std::size_t>(field)]; };
  if (text.hidden || operand.kind == OperandKind::ignored) return true;
  if (text.unless_field >= 0 && value(text.unless_field) != 0) return true;
  // Turing writes the predicate of a 64-bit comparison wherever it says something
  constexpr unsigned ampere = 80;
  const bool always_said = form.name.ends_with("Pex") && instruction.generation >= ampere;
  if (text.when_field >= 0 && (always_said || !form.name.ends_with("Pex"))) {
    const unsigned found = value(text.when_field);
    if (text.when_value == 0 ? found == 0 : found != text.when_value) return true;
    if (always_said) return false;
  }
  if (operand.kind == OperandKind::descriptor) return !is_named(instruction, "desc");
  if (text.shown || (!form.optional && !text.optional)) return false;
  switch (operand.kind) {
    case OperandKind::pred:
    case OperandKind::upred: return operand.number == true_predicate && !operand.inverted;
    case OperandKind::reg: return operand.number == zero_register;
    case OperandKind::ureg: return operand.number == zero_uniform;
    case OperandKind::immediate:
      return operand.value == (form.name == "quadmask" ? 0xf : form.name == "bits" ? 0xff : 0);
    case OperandKind::number: return operand.value == 0;
    case OperandKind::memory:
      return operand.base == zero_register && operand.uniform == zero_uniform && operand.value == 0;
    default: return false;
  }
}

}  // namespace simtlab::machine
