#include "assembler/allocate.h"

#include <algorithm>

#include "assembler/coalesce.h"
#include "assembler/numbers.h"

namespace simtlab::assembler {
namespace {

constexpr std::uint32_t stack_register = 1;

std::vector<std::uint8_t> named_registers(const Program& program) {
  std::vector<std::uint8_t> named(program.registers.size(), 0);
  for (const Block& block : program.blocks)
    for (const Instruction& i : block.code)
      for_each_ref(i, [&](const Ref& ref, bool) { named[ref.reg] = 1; });
  return named;
}

// Numbers that instructions name by themselves.
void reserve_written(const Program& program, NumberLimits& general, NumberLimits& predicates) {
  using machine::OperandKind;
  if (program.stack) general.reserved.add(stack_register);
  for (const Block& block : program.blocks)
    for (const Instruction& i : block.code) {
      if (!i.guard && i.code.guard != machine::true_predicate) predicates.reserved.add(i.code.guard);
      for (std::size_t k = 0; k < i.code.operand_count(); ++k) {
        const machine::Operand& o = i.code.operands[k];
        if (i.refs[k]) continue;
        if (o.kind == OperandKind::reg && o.number != machine::zero_register) general.reserved.add(o.number);
        if (o.kind == OperandKind::pred && o.number != machine::true_predicate)
          predicates.reserved.add(o.number);
        if ((o.kind == OperandKind::memory || o.kind == OperandKind::constant) &&
            o.base != machine::zero_register)
          general.reserved.add(o.base);
      }
    }
}

void write_numbers(Program& program, const Numbers& reserved) {
  using machine::OperandKind;
  std::uint32_t used = 0;
  for (std::uint32_t n = 0; n < 255; ++n)
    if (reserved.has(n)) used = n + 1;
  const auto number_of = [&](const Ref& ref) {
    const Register& r = program.registers[ref.reg];
    if (r.file == File::general) used = std::max(used, std::uint32_t{r.fixed} + ref.part + ref.count);
    return static_cast<std::uint8_t>(r.fixed + ref.part);
  };
  for (Block& block : program.blocks)
    for (Instruction& i : block.code) {
      if (i.guard) i.code.guard = number_of(i.guard);
      for (std::size_t k = 0; k < i.code.operand_count(); ++k) {
        if (!i.refs[k]) continue;
        machine::Operand& o = i.code.operands[k];
        const bool is_base = o.kind == OperandKind::memory || o.kind == OperandKind::constant;
        (is_base ? o.base : o.number) = number_of(i.refs[k]);
      }
    }
  program.used_registers = used;
}

}  // namespace

bool allocate(Program& program, std::string& why) {
  Liveness liveness = liveness_of(program);
  coalesce(program, liveness);
  const std::vector<std::uint8_t> named = named_registers(program);
  NumberLimits general{.file = File::general, .most = std::min(program.most_registers, 255u), .reserved = {}};
  NumberLimits predicates{.file = File::predicate, .most = 7, .reserved = {}};
  reserve_written(program, general, predicates);
  if (!give_numbers(program, liveness, named, general)) {
    why = "it needs more registers than there are";
    return false;
  }
  if (!give_numbers(program, liveness, named, predicates)) {
    why = "it needs more predicates than there are";
    return false;
  }
  write_numbers(program, general.reserved);
  return true;
}

}  // namespace simtlab::assembler
