#include "assembler/program.h"

#include <fmt/format.h>

namespace simtlab::assembler {

std::vector<std::uint32_t> successors(const Program& program, std::uint32_t block) {
  const Block& b = program.blocks[block];
  std::vector<std::uint32_t> out;
  if (!b.code.empty() && b.code.back().target != none && b.code.back().barrier == none)
    out.push_back(b.code.back().target);
  if (b.next != none) out.push_back(b.next);
  return out;
}

namespace {

std::string written(const Program& program, const Ref& ref) {
  const Register& r = program.registers[ref.reg];
  const std::string file =
      std::string(is_uniform(r.file) ? "u" : "") + (holds_predicates(r.file) ? "p" : "r");
  if (r.width == 1) return fmt::format("%{}{}", file, ref.reg);
  return ref.count == 1 ? fmt::format("%{}{}.{}", file, ref.reg, ref.part)
                        : fmt::format("%{}{}.{}-{}", file, ref.reg, ref.part, ref.part + ref.count - 1);
}

std::string operand_text(const Program& program, const Instruction& i, std::size_t at) {
  const machine::Operand& o = i.code.operands[at];
  std::string text = i.refs[at] ? written(program, i.refs[at]) : std::string();
  switch (o.kind) {
    case machine::OperandKind::reg:
      if (text.empty()) text = o.number == machine::zero_register ? "RZ" : fmt::format("R{}", o.number);
      break;
    case machine::OperandKind::pred:
      if (text.empty()) text = o.number == machine::true_predicate ? "PT" : fmt::format("P{}", o.number);
      break;
    case machine::OperandKind::constant:
      text = fmt::format("c[{}][{}{}0x{:x}]", o.number, text, text.empty() ? "" : "+", o.value);
      break;
    case machine::OperandKind::memory:
      if (i.beside) text += (text.empty() ? "" : "+") + written(program, i.beside);
      text = fmt::format("[{}+{}]", text, o.value);
      break;
    case machine::OperandKind::ureg:
      if (text.empty()) text = o.number == machine::zero_uniform ? "URZ" : fmt::format("UR{}", o.number);
      break;
    case machine::OperandKind::upred:
      if (text.empty()) text = o.number == machine::true_predicate ? "UPT" : fmt::format("UP{}", o.number);
      break;
    case machine::OperandKind::target: text = fmt::format("block {}", i.target); break;
    case machine::OperandKind::barrier: text = fmt::format("B{}", i.barrier); break;
    default: text = fmt::format("{}", o.value); break;
  }
  if (o.absolute) text = "|" + text + "|";
  if (o.negated) text = "-" + text;
  const bool predicate = o.kind == machine::OperandKind::pred || o.kind == machine::OperandKind::upred;
  if (o.inverted) text = (predicate ? "!" : "~") + text;
  return text;
}

}  // namespace

std::string text_of(const Program& program) {
  std::string out;
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    out += fmt::format("block {} (depth {}):\n", b, program.blocks[b].depth);
    for (const Instruction& i : program.blocks[b].code) {
      out += "  ";
      if (i.guard) out += fmt::format("@{}{} ", i.code.guard_negated ? "!" : "", written(program, i.guard));
      out += i.code.mnemonic();
      for (std::size_t f = 0; f < i.code.form->fields.size(); ++f)
        if (const std::string* word = i.code.form->fields[f]->word(i.code.fields[f]);
            word != nullptr && !word->empty())
          out += "." + *word;
      for (std::size_t k = 0; k < i.code.operand_count(); ++k)
        out +=
            fmt::format("{}{}{}", k == 0 ? " " : ", ", i.is_write(k) ? "=" : "", operand_text(program, i, k));
      out += "\n";
    }
    if (program.blocks[b].next != none) out += fmt::format("  next {}\n", program.blocks[b].next);
  }
  return out;
}

}  // namespace simtlab::assembler
