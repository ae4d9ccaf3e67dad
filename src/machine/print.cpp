#include "machine/print.h"

#include <fmt/format.h>

#include <algorithm>

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
      if (mnemonic.starts_with("BRX") || mnemonic == "JMX" ||
          (mnemonic == "RET" && instruction_.field("abs") != 0))
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
    if (o.kind == OperandKind::absolute) return o.value;
    return o.value - address_in_file(instruction_.generation, instruction_.address) -
           static_cast<std::int64_t>(code_bytes(instruction_.generation));
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

// The word of a field that stands among the operands.
std::string word_of(const Instruction& instruction, std::string_view field) {
  const auto i = static_cast<std::size_t>(instruction.form->field(field));
  const std::string* const word = instruction.form->fields[i]->word(instruction.fields[i]);
  return word == nullptr ? std::string() : *word;
}

// The test of the flags, where the name does not say it: "CC.LT".
void add_test(const Instruction& instruction, Writer& out) {
  const int field = instruction.form->field("test");
  if (field < 0 ||
      std::ranges::find(instruction.form->name, field, &NamePart::field) != instruction.form->name.end())
    return;
  if (const std::string word = word_of(instruction, "test"); !word.empty()) out.add("CC." + word);
}

// Of instructions in bundles: what is no operand of the form stands among those that are.
void add_bundled(const Instruction& instruction, Writer& out) {
  const std::string_view mnemonic = instruction.mnemonic();
  const std::size_t count = instruction.operand_count();
  add_test(instruction, out);
  for (std::size_t i = 0; i < count; ++i) {
    if (i + 1 == count && mnemonic.starts_with("CSET")) out.add("CC");
    if (i == 2 && mnemonic == "TXQ") out.add(word_of(instruction, "query"));
    if (!is_left_out(instruction, i)) out.add(i);
  }
  if (mnemonic == "TEXS" || mnemonic == "TLDS") {
    out.add(word_of(instruction, "shape"));
    out.add(word_of(instruction, "mask"));
  }
  if (mnemonic == "ATOM.CAS" || mnemonic == "ATOMS.CAS") {
    // The new value is in the registers behind those of the comparand
    const unsigned comparand = instruction.operands[count - 1].number;
    out.add(register_name(
        std::min(comparand + (instruction.field("type") == 0 ? 1u : 2u), unsigned{zero_register})));
  }
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
  if (instruction.form->bundled()) return add_bundled(instruction, out);
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

std::string text_of(const Control& control) {
  const auto barrier = [](char kind, unsigned number) {
    return number == 7 ? std::string("--") : fmt::format("{}{}", kind, number);
  };
  std::string waits, reuse;
  for (unsigned i = 0; i < 6; ++i) waits += (control.wait_mask >> i & 1) ? static_cast<char>('0' + i) : '-';
  for (unsigned i = 0; i < 3; ++i) reuse += (control.reuse >> i & 1) ? "abc"[i] : '-';
  if ((control.reuse >> 3 & 1) != 0) reuse += 'd';
  return fmt::format("{:2} {} {} {} {} {}", control.stall, control.yield ? 'y' : '-',
                     barrier('w', control.write_barrier), barrier('r', control.read_barrier), waits, reuse);
}

}  // namespace simtlab::machine
