#include "machine/print.h"

#include <fmt/format.h>

#include "machine/print_operand.h"

namespace simtlab::machine {
namespace {

std::int64_t value_of(const Instruction& instruction, std::string_view operand) {
  const int at = instruction.form->operand(operand);
  return at < 0 ? 0 : instruction.operands[static_cast<std::size_t>(at)].value;
}

// Writes operands with what stands between them.
class Writer {
 public:
  Writer(const Instruction& instruction, const NameOfCode& name_of)
      : instruction_(instruction), name_of_(name_of) {}

  void add(std::string_view text) {
    text_.append(separator_).append(text);
    separator_ = ", ";
  }
  void add(std::size_t operand) {
    const OperandKind kind = instruction_.operands[operand].kind;
    // An address that is added to a pair of registers
    const bool added = operand > 0 && instruction_.form->operands[operand - 1].register_pair;
    if ((kind == OperandKind::target || kind == OperandKind::absolute) && added) {
      const std::string_view mnemonic = instruction_.mnemonic();
      if (offset_of(operand) == 0 && mnemonic != "CALL.REL" && mnemonic != "RET") return;
      separator_ = " ";
      // What is added to an absolute address, or to that of a table, is a number
      if (mnemonic.starts_with("BRX") || (mnemonic == "RET" && instruction_.field("abs") != 0))
        return add(number_of(offset_of(operand)));
    }
    add(operand_text(instruction_, operand, name_of_));
  }
  void add_all() {
    for (std::size_t i = 0; i < instruction_.operand_count(); ++i)
      if (!is_left_out(instruction_, i)) add(i);
  }
  void add_named(std::string_view name) {
    if (const int at = instruction_.form->operand(name); at >= 0) add(static_cast<std::size_t>(at));
  }
  std::string text() && { return std::move(text_); }

 private:
  static std::string number_of(std::int64_t value) {
    return value < 0 ? fmt::format("-0x{:x}", -value) : fmt::format("0x{:x}", value);
  }
  std::int64_t offset_of(std::size_t operand) const {
    const Operand& o = instruction_.operands[operand];
    return o.kind == OperandKind::absolute
               ? o.value
               : o.value - instruction_.address - static_cast<std::int64_t>(word_bytes);
  }

  const Instruction& instruction_;
  const NameOfCode& name_of_;
  std::string text_;
  std::string_view separator_ = " ";
};

// BAR writes its count where it has one, and its predicate where it reduces.
void add_barrier(const Instruction& instruction, Writer& out) {
  enum Mode : unsigned { sync, arrive, reduce, scan };
  const unsigned mode = instruction.field("mode");
  out.add_named("bar");
  out.add_named("Rbar");
  out.add_named("Rcount");
  if (value_of(instruction, "count") != 0 || mode == arrive || mode == scan) out.add_named("count");
  if (mode == reduce || mode == scan) out.add_named("Pc");
}

// Scoreboards that must be clear: "{5,2,0}".
void add_dependencies(const Instruction& instruction, Writer& out) {
  if (instruction.field("le") != 0) {
    out.add(fmt::format("SB{}", value_of(instruction, "SB")));
    out.add(fmt::format("0x{:x}", value_of(instruction, "cnt")));
  }
  const std::int64_t mask = value_of(instruction, "mask");
  if (mask == 0) return;
  std::string list;
  for (int i = 5; i >= 0; --i)
    if ((mask >> i & 1) != 0) list += fmt::format("{}{}", list.empty() ? "" : ",", i);
  out.add("{" + list + "}");
}

// What is not packed, or not merged, is not written.
void add_packed(const Instruction& instruction, Writer& out) {
  constexpr std::size_t a = 1, b = 2, c = 3;
  const bool bytes = (instruction.field("sat_unpack") & 1u) != 0, merges = instruction.field("merge") != 0;
  out.add(std::size_t{0});
  if (!merges || bytes) out.add(a);
  out.add(b);
  if (merges) out.add(c);
}

void add_operands(const Instruction& instruction, Writer& out) {
  const std::string_view mnemonic = instruction.mnemonic();
  if (mnemonic == "BAR") return add_barrier(instruction, out);
  if (mnemonic == "DEPBAR") return add_dependencies(instruction, out);
  if (mnemonic == "F2FP" && instruction.form->field("sat_unpack") >= 0) return add_packed(instruction, out);
  if (mnemonic == "WARPGROUP") {
    if (instruction.field("mode") == 0) return;
    out.add("gsb0");
    return out.add(fmt::format("0x{:x}", value_of(instruction, "cnt")));
  }
  out.add_all();
  if (mnemonic == "B2R" && instruction.field("mode") == 0) out.add("0x0");
  if (instruction.form->field("gsb") >= 0 && instruction.field("gsb") == 0) out.add("gsb0");
}

}  // namespace

std::string predicate_name(bool uniform, unsigned number) {
  return fmt::format("{}P{}", uniform ? "U" : "", number == true_predicate ? "T" : std::to_string(number));
}

std::string opcode_text(const Instruction& instruction) {
  std::string out;
  const auto add = [&](std::string_view word) {
    if (!word.empty()) out.append(out.empty() ? "" : ".").append(word);
  };
  for (const NamePart& part : instruction.form->name) {
    if (part.computed != nullptr) {
      add(part.computed(instruction));
    } else if (part.field >= 0) {
      const auto i = static_cast<std::size_t>(part.field);
      if (const std::string* word = instruction.form->fields[i]->word(instruction.fields[i])) add(*word);
    } else {
      add(part.text);
    }
  }
  return out;
}

std::string text_of(const Instruction& instruction, const NameOfCode& name_of) {
  std::string out;
  if (!instruction.always())
    out = fmt::format("@{}{} ", instruction.guard_negated ? "!" : "",
                      predicate_name(instruction.guard_uniform, instruction.guard));
  out += opcode_text(instruction);
  Writer operands(instruction, name_of);
  add_operands(instruction, operands);
  out += std::move(operands).text();
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

std::string special_register_name(unsigned number) {
  switch (number) {
    case 0x00: return "SR_LANEID";
    case 0x01: return "SR_CLOCK";
    case 0x02: return "SR_VIRTCFG";
    case 0x03: return "SR_VIRTID";
    case 0x20: return "SR_TID";
    case 0x21: return "SR_TID.X";
    case 0x22: return "SR_TID.Y";
    case 0x23: return "SR_TID.Z";
    case 0x25: return "SR_CTAID.X";
    case 0x26: return "SR_CTAID.Y";
    case 0x27: return "SR_CTAID.Z";
    case 0x28: return "SR_NTID";
    case 0x2e: return "SR_LWINHI";
    case 0x2f: return "SR_SWINHI";
    case 0x30: return "SR_SWINLO";
    case 0x31: return "SR_SWINSZ";
    case 0x32: return "SR_SMEMSZ";
    case 0x37: return "SR_LMEMHIOFF";
    case 0x38: return "SR_EQMASK";
    case 0x39: return "SR_LTMASK";
    case 0x3a: return "SR_LEMASK";
    case 0x3b: return "SR_GTMASK";
    case 0x3c: return "SR_GEMASK";
    case 0x3d: return "SR_REGALLOC";
    case 0x43: return "SR_VIRTUALSMID";
    case 0x50: return "SR_CLOCKLO";
    case 0x51: return "SR_CLOCKHI";
    case 0x52: return "SR_GLOBALTIMERLO";
    case 0x53: return "SR_GLOBALTIMERHI";
    case 0x60: return "SR_HWTASKID";
    case 0x88: return "SR_CgaCtaId";
    case 0xff: return "SRZ";
    default: break;
  }
  constexpr unsigned first_counter = 0x64, last_counter = 0x73;
  if (number >= first_counter && number <= last_counter)
    return fmt::format("SR_PM{}{}", (number - first_counter) % 2 != 0 ? "_HI" : "",
                       (number - first_counter) / 2);
  return fmt::format("SR{}", number);
}

std::string text_of(const Control& control) {
  const auto barrier = [](char kind, unsigned number) {
    return number == 7 ? std::string("--") : fmt::format("{}{}", kind, number);
  };
  std::string waits, reuse;
  for (unsigned i = 0; i < 6; ++i) waits += (control.wait_mask >> i & 1) ? static_cast<char>('0' + i) : '-';
  for (unsigned i = 0; i < 3; ++i) reuse += (control.reuse >> i & 1) ? "abc"[i] : '-';
  return fmt::format("{:2} {} {} {} {} {}", control.stall, control.yield ? 'y' : '-',
                     barrier('w', control.write_barrier), barrier('r', control.read_barrier), waits, reuse);
}

}  // namespace simtlab::machine
