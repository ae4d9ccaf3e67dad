#include "assembler/signs.h"

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "assembler/build.h"

namespace simtlab::assembler {
namespace {

constexpr std::size_t farthest_sign = 64;  // instructions between the two

std::uint64_t unit_of(const Ref& r) { return std::uint64_t{r.reg} << 8 | r.part; }

class SignSums {
 public:
  explicit SignSums(Program& program) : p_(program), out_(program, program.generation) {}

  void run() {
    for (const Block& b : p_.blocks)
      for (const Instruction& i : b.code)
        for_each_ref(i, [&](const Ref& r, bool writes) {
          for (std::uint8_t k = 0; k < r.count; ++k)
            ++(writes ? writers_ : readers_)[unit_of({r.reg, static_cast<std::uint8_t>(r.part + k), 1})];
        });
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b) block(b);
  }

 private:
  static std::size_t operand(const Instruction& i, const char* name) {
    return static_cast<std::size_t>(i.code.form->operand(machine::Name(name)));
  }

  // SHF.R.S32.HI d, RZ, 31, x
  static bool is_sign(const Instruction& i) {
    constexpr unsigned signed_word = 2;
    if (i.code.mnemonic() != "SHF" || i.guarded() || i.code.field("dir") == 0 || i.code.field("hi") == 0 ||
        i.code.field("type") != signed_word)
      return false;
    const int by = i.code.form->operand("imm");
    return by >= 0 && i.code.operands[static_cast<std::size_t>(by)].value == 31 &&
           i.code.form->operand("Rc") >= 0 && bool(i.refs[operand(i, "Rc")]);
  }

  void block(std::uint32_t b) {
    std::vector<Instruction>& code = p_.blocks[b].code;
    std::unordered_map<std::uint64_t, std::size_t> signs;
    std::vector<bool> gone(code.size(), false);
    for (std::size_t k = 0; k < code.size(); ++k) {
      if (is_sign(code[k])) signs[unit_of(code[k].refs[operand(code[k], "Rd")])] = k;
      if (code[k].code.mnemonic() != "IADD3.X") continue;
      if (const auto sign = sum(b, k, signs)) gone[*sign] = true;
    }
    std::size_t n = 0;
    std::erase_if(code, [&](const Instruction&) { return gone[n++]; });
  }

  // The instruction that made the sign, if the sum could take it in.
  std::optional<std::size_t> sum(std::uint32_t b, std::size_t k,
                                 const std::unordered_map<std::uint64_t, std::size_t>& signs) {
    std::vector<Instruction>& code = p_.blocks[b].code;
    const Instruction& i = code[k];
    if (i.guarded() || i.refs[operand(i, "Pcin1")] || !i.code.operands[operand(i, "Pcin1")].inverted)
      return std::nullopt;
    for (const char* name : {"Pcarry0", "Pcarry1"})
      if (i.refs[operand(i, name)]) return std::nullopt;
    std::optional<std::size_t> made;
    Value other = zero();
    unsigned terms = 0;
    for (std::size_t o = 0; o < i.code.operand_count(); ++o) {
      const std::string& name = i.code.form->operands[o].name;
      if (name != "Ra" && name != "Rb" && name != "Rc" && name != "c") continue;
      const machine::Operand& at = i.code.operands[o];
      if (at.inverted || at.negated) return std::nullopt;
      if (at.kind == machine::OperandKind::reg && !i.refs[o]) continue;
      if (const auto found = i.refs[o] ? signs.find(unit_of(i.refs[o])) : signs.end();
          !made && name != "c" && found != signs.end() && is_for_it(code, found->second, k, i.refs[o])) {
        made = found->second;
        continue;
      }
      if (at.kind == machine::OperandKind::constant && i.refs[o]) return std::nullopt;
      other = i.refs[o] ? value_of(i.refs[o]) : parameter(static_cast<std::uint32_t>(at.value));
      other.bank = at.kind == machine::OperandKind::constant ? at.number : std::uint8_t{0};
      ++terms;
    }
    if (!made || terms != 1 || i.code.form->operand("imm") >= 0) return std::nullopt;
    replace(b, k, code[*made].refs[operand(code[*made], "Rc")], other);
    return made;
  }

  // Nobody else reads it, and what it is the sign of is what it was.
  bool is_for_it(const std::vector<Instruction>& code, std::size_t sign, std::size_t at,
                 const Ref& result) const {
    const std::uint64_t unit = unit_of(result);
    if (at - sign > farthest_sign || readers_.at(unit) != 1 || writers_.at(unit) != 1) return false;
    const Ref source = code[sign].refs[operand(code[sign], "Rc")];
    bool same = true;
    for (std::size_t k = sign + 1; k < at; ++k)
      for_each_ref(code[k],
                   [&](const Ref& r, bool writes) { same = same && !(writes && r.reg == source.reg); });
    return same;
  }

  void replace(std::uint32_t b, std::size_t k, const Ref& source, const Value& other) {
    std::vector<Instruction>& code = p_.blocks[b].code;
    const Instruction like = code[k];
    out_.start(b);
    const Ref d = like.refs[operand(like, "Rd")];
    Instruction made = out_.emit("LEA.HI.X", d, {value_of(source), other, zero()}, {{"sx32", "SX32"}});
    code.pop_back();
    out_.set_number(made, "shift", 1);
    const std::size_t carry = operand(like, "Pcin0");
    out_.set_condition(made, "Pcin", {like.refs[carry], like.code.operands[carry].inverted});
    made.line = like.line, made.file = like.file, made.source_line = like.source_line;
    code[k] = std::move(made);
  }

  Program& p_;
  Builder out_;
  std::unordered_map<std::uint64_t, std::uint32_t> readers_, writers_;  // instructions, by part of a register
};

}  // namespace

void add_signs(Program& program) { SignSums(program).run(); }

}  // namespace simtlab::assembler
