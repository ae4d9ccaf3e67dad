#include "assembler/allocate.h"

#include <algorithm>

#include "assembler/build.h"
#include "assembler/coalesce.h"
#include "assembler/numbers.h"
#include "assembler/spill.h"
#include "machine/launch_state.h"

namespace simtlab::assembler {
namespace {

constexpr std::uint32_t stack_register = 1;
constexpr unsigned most_rounds = 4;
constexpr std::uint32_t large = 20000;  // instructions of a kernel for which time is short

std::vector<std::uint8_t> named_registers(const Program& program) {
  std::vector<std::uint8_t> named(program.registers.size(), 0);
  for (const Block& block : program.blocks)
    for (const Instruction& i : block.code)
      for_each_ref(i, [&](const Ref& ref, bool) { named[ref.reg] = 1; });
  return named;
}

struct Limits {
  NumberLimits general, predicates, uniform, uniform_predicates;
};

// Numbers that instructions name by themselves.
void reserve_written(const Program& program, Limits& limits) {
  auto& [general, predicates, uniform, uniform_predicates] = limits;
  using machine::OperandKind;
  general.reserved.add(stack_register);
  for (const Block& block : program.blocks)
    for (const Instruction& i : block.code) {
      if (!i.guard && i.code.guard != machine::true_predicate) predicates.reserved.add(i.code.guard);
      for (std::size_t k = 0; k < i.code.operand_count(); ++k) {
        const machine::Operand& o = i.code.operands[k];
        if (i.refs[k]) continue;
        if (o.kind == OperandKind::reg && o.number != machine::zero_register) general.reserved.add(o.number);
        if (o.kind == OperandKind::pred && o.number != machine::true_predicate)
          predicates.reserved.add(o.number);
        if (o.kind == OperandKind::ureg && o.number != machine::zero_uniform) uniform.reserved.add(o.number);
        if (o.kind == OperandKind::upred && o.number != machine::true_predicate)
          uniform_predicates.reserved.add(o.number);
        if ((o.kind == OperandKind::memory || o.kind == OperandKind::constant) &&
            o.base != machine::zero_register)
          general.reserved.add(o.base);
      }
    }
}

Limits limits_of(const Program& program) {
  Limits limits;
  limits.general.most = program.most_registers;
  limits.predicates = {.file = File::predicate,
                       .most = machine::true_predicate,
                       .enough = machine::true_predicate,
                       .reserved = {}};
  limits.uniform_predicates = limits.predicates;
  limits.uniform_predicates.file = File::uniform_predicate;
  limits.uniform = {
      .file = File::uniform, .most = machine::zero_uniform, .enough = machine::zero_uniform, .reserved = {}};
  reserve_written(program, limits);
  return limits;
}

// R1 = the begin of the frame, before anything else. The vendor's code does so in every kernel, with a frame
// or without.
void start_stack(Program& program) {
  using machine::OperandKind;
  constexpr std::uint32_t portion = 16;  // of the widest access
  program.frame_bytes = (program.frame_bytes + portion - 1) / portion * portion;
  std::vector<Instruction>& entry = program.blocks[0].code;
  std::erase_if(entry, [](const Instruction& i) {
    for (std::size_t k = 0; k < i.code.operand_count(); ++k)
      if (i.is_write(k) && !i.refs[k] && i.code.operands[k].kind == OperandKind::reg &&
          i.code.operands[k].number == stack_register)
        return true;
    return false;
  });
  Program scratch;
  scratch.blocks.emplace_back();
  Builder builder(scratch, program.generation);
  builder.start(0);
  builder.emit("MOV", {}, {parameter(machine::launch_slots(program.generation).stack)});
  if (program.frame_bytes > 0) {
    const Value bytes = number(0u - program.frame_bytes);
    if (machine::in_bundles(program.generation))
      builder.emit("IADD32I", {}, {zero(), bytes});
    else
      builder.emit("IADD3", {}, {zero(), bytes, zero()});
  }
  std::vector<Instruction>& code = scratch.blocks[0].code;
  for (Instruction& i : code)
    for (std::size_t k = 0; k < i.code.operand_count(); ++k)
      if (i.is_write(k) && i.code.operands[k].kind == OperandKind::reg)
        i.code.operands[k].number = stack_register;
  if (program.frame_bytes > 0)
    code[1].code.operands[static_cast<std::size_t>(code[1].code.form->operand(machine::Name("Ra")))].number =
        stack_register;
  entry.insert(entry.begin(), code.begin(), code.end());
}

void write_numbers(Program& program, const std::vector<std::uint8_t>& numbers, const Numbers& reserved) {
  using machine::OperandKind;
  std::uint32_t used = 0;
  for (std::uint32_t n = 0; n < machine::zero_register; ++n)
    if (reserved.has(n)) used = n + 1;
  const auto number_of = [&](const Ref& ref) {
    const std::uint32_t number = std::uint32_t{numbers[ref.reg]} + ref.part;
    program.registers[ref.reg].fixed = numbers[ref.reg];
    if (program.registers[ref.reg].file == File::general) used = std::max(used, number + ref.count);
    return static_cast<std::uint8_t>(number);
  };
  for (Block& block : program.blocks)
    for (Instruction& i : block.code) {
      if (i.guard) i.code.guard = number_of(i.guard);
      for (std::size_t k = 0; i.beside && k < i.code.operand_count(); ++k)
        if (i.code.operands[k].kind == OperandKind::memory) i.code.operands[k].uniform = number_of(i.beside);
      for (std::size_t k = 0; k < i.code.operand_count(); ++k) {
        if (!i.refs[k]) continue;
        machine::Operand& o = i.code.operands[k];
        const bool is_base = o.kind == OperandKind::memory || o.kind == OperandKind::constant;
        (is_base ? o.base : o.number) = number_of(i.refs[k]);
      }
    }
  program.used_registers = used;
}

bool find_numbers(const Program& program, const Liveness& liveness, const NumberLimits& limits,
                  std::vector<std::uint8_t>& numbers) {
  return give_numbers(program, liveness, named_registers(program), limits, numbers);
}

bool number_all(Program& program, const Liveness& liveness, bool spilled) {
  Limits limits = limits_of(program);
  if (spilled) limits.general.enough = limits.general.most;
  std::vector<std::uint8_t> numbers;
  if (!find_numbers(program, liveness, limits.predicates, numbers) ||
      !find_numbers(program, liveness, limits.general, numbers))
    return false;
  if (!find_numbers(program, liveness, limits.uniform, numbers) ||
      !find_numbers(program, liveness, limits.uniform_predicates, numbers))
    throw NoUniformRegisters{};
  start_stack(program);
  write_numbers(program, numbers, limits.general.reserved);
  return true;
}

// Spills until the registers of the file have room. Those that are left may not pack as well as they could,
// so it aims at fewer and fewer of them.
bool make_room(Program& program, File file) {
  const Program before = program;
  const Liveness liveness = liveness_of(before);
  const std::uint32_t first_step = liveness.first_gap.back() < large ? 1 : 3;
  for (std::uint32_t spare = 0;; spare += first_step + spare / 4) {
    Limits limits = limits_of(program);
    NumberLimits& own = file == File::general ? limits.general : limits.predicates;
    own.enough = own.most;
    std::vector<std::uint8_t> numbers;
    if (find_numbers(program, spare == 0 ? liveness : liveness_of(program), own, numbers)) return true;
    std::uint32_t taken = spare;
    for (std::uint32_t n = 0; n < own.most; ++n) taken += own.reserved.has(n) ? 1u : 0u;
    if (taken >= own.most) return false;
    program = before;
    SpillPlan plan = plan_spills(program, liveness, file, own.most - taken);
    if (plan.any) spill(program, liveness, std::move(plan));
  }
}

// `why` is set where it does not succeed.
bool allocate_spilling(Program& program, std::string& why) {
  // Spilled predicates need general registers, and stores of general ones the predicates that guard them.
  for (unsigned round = 0; round < most_rounds; ++round) {
    if (!make_room(program, File::predicate)) {
      why = "the operands of its instructions need more predicates than there are";
      return false;
    }
    if (!make_room(program, File::general)) {
      why = "the operands of its instructions need more registers than there are";
      return false;
    }
    if (number_all(program, liveness_of(program), true)) return true;
  }
  why = "its registers and predicates push each other out";
  return false;
}

// Registers of their own pack better than parts of others and can be spilled by themselves, but copies stay.
bool allocate_apart(Program& program, std::string& why) {
  Liveness liveness = liveness_of(program);
  coalesce(program, liveness, {.fixed = false, .longest_part = 64});
  return number_all(program, liveness, false) || allocate_spilling(program, why);
}

}  // namespace

bool allocate(Program& program, std::string& why) {
  Program apart = program;
  Liveness liveness = liveness_of(program);
  coalesce(program, liveness);
  if (number_all(program, liveness, false)) return true;
  std::string why_not;
  const bool is_apart = allocate_apart(apart, why_not);
  const bool in_time = liveness.first_gap.back() < large || !is_apart || apart.spilled > 0;
  const bool done = in_time && allocate_spilling(program, why);
  if (is_apart && (!done || cost_of(apart) < cost_of(program))) {
    program = std::move(apart);
    return true;
  }
  return done;
}

}  // namespace simtlab::assembler
