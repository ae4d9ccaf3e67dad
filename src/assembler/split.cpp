#include "assembler/split.h"

#include <algorithm>
#include <array>
#include <vector>

namespace simtlab::assembler {
namespace {

using machine::OperandKind;

class Splitting {
 public:
  explicit Splitting(Program& program) : p_(program), facts_(program.registers.size()) {}

  void run() {
    for (const Block& b : p_.blocks)
      for (const Instruction& i : b.code) look_at(i);
    for_each_ref_to_change([&](Instruction& i, std::size_t k) { read_zero(i, k); });
    for (std::uint32_t r = 0; r < facts_.size(); ++r) split(r);
    for_each_ref_to_change([&](Instruction& i, std::size_t k) { rename(i.refs[k]); });
  }

 private:
  struct Facts {
    std::array<std::uint8_t, 4> writes{};
    std::array<bool, 4> zero{};
    bool together = false;  // parts are named together
    std::array<std::uint32_t, 4> apart{none, none, none, none};
  };

  template <class F>
  void for_each_ref_to_change(const F& f) {
    for (Block& b : p_.blocks)
      for (Instruction& i : b.code)
        for (std::size_t k = 0; k < i.code.operand_count(); ++k)
          if (i.refs[k]) f(i, k);
  }

  static bool is_zero(const Instruction& i) {
    if (i.code.mnemonic() != "MOV" || i.address != none || i.guarded() || i.code.operand_count() < 2)
      return false;
    const machine::Operand& from = i.code.operands[1];
    return !i.refs[1] && ((from.kind == OperandKind::reg && from.number == machine::zero_register) ||
                          (from.kind == OperandKind::immediate && from.value == 0));
  }

  void look_at(const Instruction& i) {
    for_each_ref(i, [&](const Ref& r, bool writes) {
      Facts& f = facts_[r.reg];
      f.together = f.together || r.count > 1;
      for (unsigned part = r.part; writes && part < unsigned{r.part} + r.count; ++part) {
        f.writes[part] = static_cast<std::uint8_t>(std::min(f.writes[part] + 1, 2));
        f.zero[part] = is_zero(i);
      }
    });
  }

  void read_zero(Instruction& i, std::size_t k) const {
    machine::Operand& o = i.code.operands[k];
    if (o.kind != OperandKind::reg || i.is_write(k)) return;
    const Ref r = i.refs[k];
    const Facts& f = facts_[r.reg];
    for (unsigned part = r.part; part < unsigned{r.part} + r.count; ++part)
      if (!f.zero[part] || f.writes[part] != 1) return;
    i.refs[k] = {};
    o.number = machine::zero_register;
    i.remakes = i.copy;
    i.copy = false;
  }

  void split(std::uint32_t reg) {
    const Register whole = p_.registers[reg];
    if (whole.width == 1 || whole.fixed != Register::anywhere || facts_[reg].together) return;
    facts_[reg].apart[0] = reg;
    p_.registers[reg].width = 1;
    for (std::uint8_t part = 1; part < whole.width; ++part)
      facts_[reg].apart[part] = p_.add({.file = whole.file});
  }

  void rename(Ref& r) const {
    if (r.reg < facts_.size() && facts_[r.reg].apart[0] != none) r = {facts_[r.reg].apart[r.part], 0, 1};
  }

  Program& p_;
  std::vector<Facts> facts_;
};

}  // namespace

void split_registers(Program& program) { Splitting(program).run(); }

}  // namespace simtlab::assembler
