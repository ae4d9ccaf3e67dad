// Whatever arithmetic the opcode table accepts has a handler, on every instruction set.
#include <functional>

#include "arith_support.h"
#include "ptx/opcodes.h"

namespace arith {
namespace {

bool is_arithmetic(Op op) {
  return op <= Op::elect && op != Op::mapa ? true : op >= Op::vadd && op <= Op::vset4;
}

// Every opcode text of a form. Groups with many words are walked in full: the lists are short.
void for_each_text(const ptx::Form& form, const std::function<void(const std::string&)>& visit) {
  const auto& groups = ptx::groups_of(form);
  const std::function<void(std::size_t, std::string)> walk = [&](std::size_t i, std::string text) {
    if (i == groups.size()) return visit(text);
    if (groups[i].optional) walk(i + 1, text);
    for (const std::string_view word : groups[i].words) walk(i + 1, text + "." + std::string(word));
  };
  walk(0, std::string(form.base));
}

Type wider(Type t) {
  switch (t) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    default: return Type::s64;
  }
}

ptx::Inst instruction_of(const ptx::Match& m) {
  using What = ptx::OperandSpec::What;
  ptx::Inst inst;
  inst.op = m.op;
  inst.type = m.type;
  inst.stype = m.stype;
  inst.mods = m.mods;
  auto add = [&](bool result, Type type) {
    ptx::Operand o;
    o.kind = type == Type::pred ? ptx::OperandKind::pred : ptx::OperandKind::reg;
    o.bytes = type == Type::pred ? u8{0} : static_cast<u8>(bytes_of(type));
    if (result)
      inst.dst[inst.dst_count++] = o;
    else
      inst.src[inst.src_count++] = o;
  };
  if (!m.family.empty()) {
    add(true, m.type);
    for (int i = 0; i < (m.family == "video" ? 3 : 1); ++i) add(false, m.type);
    return inst;
  }
  for (const ptx::OperandSpec& spec : *m.operands) {
    switch (spec.what) {
      case What::type: add(spec.result, m.type); break;
      case What::stype: add(spec.result, m.stype); break;
      case What::wide: add(spec.result, wider(m.type)); break;
      case What::fixed: add(spec.result, spec.fixed); break;
      case What::pred:
      case What::value_pred:
      case What::pred_pair: add(spec.result, Type::pred); break;
      default: break;
    }
  }
  return inst;
}

TEST(ArithmeticCoverage, every_form_of_the_opcode_table_has_a_handler) {
  ptx::OpcodeMatcher matcher;
  std::vector<std::string> texts;
  for (const ptx::Form& form : ptx::opcode_table())
    if (!form.refused && is_arithmetic(form.op))
      for_each_text(form, [&](const std::string& text) { texts.push_back(text); });
  EXPECT_GT(texts.size(), 2000u);
  std::string missing;
  for (const std::string& text : texts) {
    const auto& found = matcher.find(text);
    ASSERT_TRUE(found.match) << text << ": " << found.problem;
    const ptx::Inst inst = instruction_of(*found.match);
    if (text.starts_with("isspacep.const")) continue;  // refused: constants live among global variables
    for (const InstructionSet& isa : instruction_sets())
      if (isa.select(inst) == nullptr) missing += text + " (" + isa.name + ")\n";
  }
  EXPECT_EQ("", missing);
}

}  // namespace
}  // namespace arith
