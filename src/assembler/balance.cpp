#include "assembler/balance.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "assembler/build.h"
#include "assembler/control_effects.h"

namespace simtlab::assembler {
namespace {

using machine::OperandKind;

bool is_of_integer_unit(const Instruction& i) {
  constexpr std::array<std::string_view, 16> names = {"MOV",   "IADD3", "LOP3",  "SHF",  "SEL",   "ISETP",
                                                      "FSETP", "FMNMX", "IMNMX", "PRMT", "PLOP3", "FSEL",
                                                      "LEA",   "IABS",  "SGXT",  "BMSK"};
  return is_one_of_names(base_mnemonic(i.code), names);
}
bool is_of_multiplier(const Instruction& i) {
  constexpr std::array<std::string_view, 5> names = {"IMAD", "FFMA", "FMUL", "FADD", "IDP"};
  return is_one_of_names(base_mnemonic(i.code), names);
}

// An operand as a source of the new instruction.
struct Source {
  Value value;
  std::uint8_t number = machine::zero_register;
};
std::optional<Source> source_of(const Instruction& i, std::string_view name) {
  for (std::size_t k = 0; k < i.code.form->operands.size(); ++k) {
    if (i.code.form->operands[k].name != name) continue;
    const machine::Operand& o = i.code.operands[k];
    if (o.negated || o.absolute || o.inverted) return std::nullopt;
    switch (o.kind) {
      case OperandKind::reg: return Source{value_of(i.refs[k]), o.number};
      case OperandKind::immediate:
        if (i.address != none) return std::nullopt;
        return Source{number(static_cast<std::uint32_t>(o.value))};
      case OperandKind::constant: {
        if (i.refs[k] || o.base != machine::zero_register) return std::nullopt;
        Value v = parameter(static_cast<std::uint32_t>(o.value));
        v.bank = o.number;
        return Source{v};
      }
      default: return std::nullopt;
    }
  }
  return std::nullopt;
}
// The only one of b, an immediate or a constant.
std::optional<Source> second_of(const Instruction& i) {
  for (const std::string_view name : {"Rb", "imm", "c"})
    if (i.code.form->operand(machine::Name(name)) >= 0) return source_of(i, name);
  return std::nullopt;
}

bool is_zero(const Source& s) {
  return (s.value.is_zero_register() && s.number == machine::zero_register) ||
         (s.value.is_number() && s.value.bits == 0);
}

class Balance {
 public:
  explicit Balance(Program& program) : p_(program), out_(program, program.generation) {}

  void run() {
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b) block(b);
  }

 private:
  void block(std::uint32_t b) {
    std::size_t integer = 0, multiply = 0;
    for (const Instruction& i : p_.blocks[b].code) {
      integer += is_of_integer_unit(i) ? 1 : 0;
      multiply += is_of_multiplier(i) ? 1 : 0;
    }
    const std::size_t count = p_.blocks[b].code.size();
    for (std::size_t k = 0; k < count && integer > multiply + 1; ++k) {
      const std::optional<Instruction> product = product_of(b, k);
      if (!product) continue;
      p_.blocks[b].code[k] = *product;
      --integer;
      ++multiply;
    }
  }

  std::optional<Instruction> product_of(std::uint32_t b, std::size_t k) {
    const Instruction i = p_.blocks[b].code[k];
    const std::string_view name = i.code.mnemonic();
    const Source nothing{zero()}, one{number(1)};
    if (name == "MOV") {
      const auto from = second_of(i);
      if (from) return made(b, i, nothing, nothing, *from);
    } else if (name == "IADD3") {
      for (const char* carry : {"Pcarry0", "Pcarry1"})
        if (const auto at = static_cast<std::size_t>(i.code.form->operand(carry));
            i.refs[at] || i.code.operands[at].number != machine::true_predicate)
          return std::nullopt;
      const auto x = source_of(i, "Ra"), y = second_of(i), z = source_of(i, "Rc");
      if (!x || !y || !z) return std::nullopt;
      if (x->value.kind != Value::Kind::reg) return std::nullopt;
      if (is_zero(*z) && !is_zero(*x))
        return y->value.kind == Value::Kind::reg ? made(b, i, *x, one, *y) : std::nullopt;
      if (is_zero(*y) && !is_zero(*x)) return made(b, i, *x, one, *z);
    } else if (name == "IADD3.X") {
      return extended(b, i);
    } else if (name == "SHF") {
      const auto low = source_of(i, "Ra"), by = second_of(i), high = source_of(i, "Rc");
      if (!low || !by || !high || !is_zero(*high) || !by->value.is_number()) return std::nullopt;
      if (i.code.field("dir") != 0 || i.code.field("hi") != 0 || by->value.bits > 30) return std::nullopt;
      return made(b, i, *low, {number(std::uint64_t{1} << by->value.bits)}, nothing);
    }
    return std::nullopt;
  }

  // The upper word of a sum of two, with the carry of the lower one
  std::optional<Instruction> extended(std::uint32_t b, const Instruction& i) {
    const auto is_at = [&](const char* operand, bool inverted) {
      const auto k = static_cast<std::size_t>(i.code.form->operand(machine::Name(operand)));
      return !i.refs[k] && i.code.operands[k].number == machine::true_predicate &&
             i.code.operands[k].inverted == inverted;
    };
    if (!is_at("Pcarry0", false) || !is_at("Pcarry1", false) || !is_at("Pcin1", true)) return std::nullopt;
    const auto x = source_of(i, "Ra"), y = second_of(i), z = source_of(i, "Rc");
    if (!x || !y || !z || x->value.kind != Value::Kind::reg) return std::nullopt;
    const Source nothing{zero()}, one{number(1)};
    std::optional<Instruction> out;
    if (is_zero(*z) && !is_zero(*x) && !is_zero(*y)) {
      if (y->value.kind == Value::Kind::reg) out = made(b, i, *x, one, *y, "IMAD.X");
    } else if (is_zero(*z)) {
      out = made(b, i, nothing, nothing, is_zero(*x) ? *y : *x, "IMAD.X");
    } else if (is_zero(*y)) {
      out = is_zero(*x) ? made(b, i, nothing, nothing, *z, "IMAD.X") : made(b, i, *x, one, *z, "IMAD.X");
    }
    if (!out) return std::nullopt;
    const auto from = static_cast<std::size_t>(i.code.form->operand("Pcin0")),
               to = static_cast<std::size_t>(out->code.form->operand("Pcin"));
    out->code.operands[to] = i.code.operands[from];
    out->refs[to] = i.refs[from];
    return out;
  }

  std::optional<Instruction> made(std::uint32_t b, const Instruction& like, const Source& x, const Source& y,
                                  const Source& z, std::string_view name = "IMAD") {
    const auto result = static_cast<std::size_t>(like.code.form->operand("Rd"));
    out_.start(b);
    std::vector<Instruction>& code = p_.blocks[b].code;
    const std::size_t before = code.size();
    // As the vendor's code has it: IMAD.MOV.U32, IMAD.SHL.U32, IMAD.IADD
    const bool sums = !is_zero(x) && !is_zero(z);
    Instruction i = out_.emit(name, like.refs[result], {x.value, y.value, z.value},
                              {{"u32", sums || name != "IMAD" ? "" : "U32"}});
    const bool alone = code.size() == before + 1;
    code.resize(before, like);
    if (!alone) return std::nullopt;
    const Source sources[] = {x, y, z};
    std::size_t next = 0;
    for (std::size_t k = 0; k < i.code.form->operands.size(); ++k) {
      const std::string& name = i.code.form->operands[k].name;
      if (name == "Rd") i.code.operands[k].number = like.code.operands[result].number;
      const bool source = name == "Ra" || name == "Rb" || name == "Rc" || name == "imm" || name == "c";
      if (!source) continue;
      if (i.code.operands[k].kind == OperandKind::reg) i.code.operands[k].number = sources[next].number;
      ++next;
    }
    i.guard = like.guard;
    i.code.guard = like.code.guard;
    i.code.guard_negated = like.code.guard_negated;
    i.line = like.line, i.file = like.file, i.source_line = like.source_line;
    return i;
  }

  Program& p_;
  Builder out_;
};

}  // namespace

void balance(Program& program) { Balance(program).run(); }

}  // namespace simtlab::assembler
