#include "assembler/clean.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "assembler/control_effects.h"

namespace simtlab::assembler {

bool acts(const Instruction& i) {
  constexpr std::array<std::string_view, 14> silent = {"LD",   "LDG", "LDS", "LDL", "LDC", "S2R",  "MUFU",
                                                       "POPC", "FLO", "F2F", "F2I", "I2F", "FRND", "BREV"};
  if (i.writes == 0 || i.barrier != none || i.target != none) return true;
  if (i.code.form->uniform) return true;
  if (i.code.field("cc") != 0) return true;  // somebody reads the flags
  // It waits for a uniform register, which lanes that run apart have in common.
  for (std::size_t k = 0; k < i.code.operand_count(); ++k)
    if (i.code.operands[k].kind == machine::OperandKind::ureg &&
        i.code.operands[k].number != machine::zero_uniform)
      return true;
  const std::string_view base = base_mnemonic(i.code);
  if (is_one_of_names(base, silent)) {
    const int order = i.code.form->field("order"), sem = i.code.form->field("sem");
    constexpr unsigned plain = 15, constant = 4, weak = 1;  // fields.csv
    if (order >= 0) {
      const unsigned value = i.code.fields[static_cast<std::size_t>(order)];
      return value != plain && value != constant && value != 0;
    }
    return sem >= 0 && i.code.fields[static_cast<std::size_t>(sem)] > weak;
  }
  constexpr std::array<std::string_view, 18> acting = {"ATOM",  "ATOMG", "ATOMS", "RED",   "SHFL",  "VOTE",
                                                       "MATCH", "CS2R",  "B2R",   "BMOV",  "LDSM",  "LDGSTS",
                                                       "LEPC",  "CALL",  "R2UR",  "REDUX", "LDSLK", "STSCUL"};
  return is_one_of_names(base, acting);
}

void clean(Program& program) {
  std::vector<std::uint32_t> reads(program.registers.size(), 0);
  const auto count = [&](const Instruction& i, bool more) {
    for_each_ref(i, [&](const Ref& r, bool writes) {
      if (writes) return;
      if (more)
        ++reads[r.reg];
      else
        --reads[r.reg];
    });
  };
  const auto is_dead = [&](const Instruction& i) {
    if (acts(i)) return false;
    bool read = false, any = false;
    for (std::size_t k = 0; k < i.code.operand_count(); ++k) {
      if (!i.is_write(k)) continue;
      if (!i.refs[k]) {
        // A fixed number: somebody wants it
        const bool fixed = i.code.operands[k].kind == machine::OperandKind::reg &&
                           i.code.operands[k].number != machine::zero_register;
        read = read || fixed;
        continue;
      }
      any = true;
      read = read || reads[i.refs[k].reg] > 0 || program.registers[i.refs[k].reg].fixed != Register::anywhere;
    }
    return any && !read;
  };
  for (const Block& b : program.blocks)
    for (const Instruction& i : b.code) count(i, true);
  bool changed = true;
  for (unsigned round = 0; changed && round < 8; ++round) {
    changed = false;
    for (std::size_t b = program.blocks.size(); b-- > 0;) {
      std::vector<Instruction>& code = program.blocks[b].code;
      std::vector<bool> dead(code.size(), false);
      for (std::size_t k = code.size(); k-- > 0;) {
        if (!is_dead(code[k])) continue;
        dead[k] = changed = true;
        count(code[k], false);
      }
      std::size_t k = 0;
      std::erase_if(code, [&](const Instruction&) { return dead[k++]; });
    }
  }
}

}  // namespace simtlab::assembler
