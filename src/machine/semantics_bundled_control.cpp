// Maxwell and Pascal: the stack of branches (flow_stack.h), calls, tables of branches.
#include "machine/bundled_flags.h"
#include "machine/bundles.h"
#include "machine/launch_state.h"
#include "machine/semantics_common.h"
#include "machine/semantics_floating.h"

namespace simtlab::machine {
namespace {

using ptx::Op;
using ptx::Type;

// A branch may test the flags beside its guard.
void set_flow(Translator& t, Flow flow, std::int64_t target = 0) {
  const unsigned test = t.field("test", test_always);
  if (test != test_always) t.action().condition = tested_flags(t, test);
  t.action().flow = flow;
  t.action().target = target;
}

void branch(Translator& t) {
  if (t.has("c")) t.refuse("goes where a constant says, which is not executed");
  set_flow(t, Flow::branch, t.operand("target").value);
}

void push(Translator& t) {
  if (t.has("c")) t.refuse("takes its place from a constant, which is not executed");
  set_flow(t, Flow::set_barrier);
  t.action().barrier = t.stack().barrier;
}

void meet(Translator& t) {
  set_flow(t, Flow::meet, t.stack().target);
  t.action().barrier = t.stack().barrier;
  t.action().leaves = t.stack().leaves;
}

// The arguments of printf are in local memory, whose addresses are low ones: R6 points there. `where` the
// driver is called.
void lift_arguments(Translator& t, const ptx::Operand& where) {
  constexpr std::uint8_t second_pointer = 6;
  if (!has_low_windows(t.instruction().generation) || !t.has_register(second_pointer + 1)) return;
  const Operand pair{.kind = OperandKind::reg, .number = second_pointer};
  const ptx::Operand given = t.raw_wide(pair), pointer = t.temporary_wide();
  t.emit(Op::mov, Type::b64, {pointer}, {given});
  leave_low_window(t, pointer);
  t.emit(Op::selp, Type::b64, {pointer}, {pointer, given, where});
  t.store_wide(pair, pointer);
}

void call(Translator& t) {
  if (t.has("c")) t.refuse("calls what a constant says, which is not executed");
  if (calls_driver(t.instruction())) {
    const std::int64_t to = address_in_file(t.instruction().generation, t.operand("target").value);
    const auto which = (to - first_driver_call) / static_cast<std::int64_t>(bundle_bytes);
    lift_arguments(t, constant_predicate(t, true));
    set_flow(t, Flow::branch_register);
    t.action().operand = t.number(system_call_address(static_cast<SystemCall>(which)), 8);
    return;
  }
  set_flow(t, Flow::call, t.operand("target").value);
  t.action().barrier = t.stack().barrier;
}

// JMX or BRX behind it calls.
void set_return(Translator& t) {
  if (t.has("c")) t.refuse("takes its place from a constant, which is not executed");
  set_flow(t, Flow::set_return, t.stack().target);
  t.action().barrier = t.stack().barrier;
}

void go_back(Translator& t) {
  set_flow(t, Flow::go_back);
  t.action().leaves = t.stack().leaves;
}

// A register has the distance from a place in the code, which is an address as files have them: of a place
// in a table, or of a function.
void branch_by_table(Translator& t) {
  if (!t.has("Ra")) t.refuse("goes where a constant says, which is not executed");
  set_flow(t, t.stack().calls ? Flow::call_register : Flow::branch_register, t.operand("target").value);
  const ptx::Operand wide = t.temporary_wide();
  const ptx::Operand from = t.raw(t.operand("Ra"));
  t.emit(Op::cvt, Type::s64, {wide}, {from}).stype = Type::s32;
  t.action().operand = wide;
}

// A function of the driver, or of another section: the register has the lower 32 bits of its address.
void go_to_register(Translator& t) {
  if (!t.has("Ra")) t.refuse("goes where a constant says, which is not executed");
  set_flow(t, t.stack().calls ? Flow::call_register : Flow::branch_register, t.operand("target").value);
  const ptx::Operand low = t.raw(t.operand("Ra")), high = t.temporary(), of_driver = t.temporary_predicate();
  t.emit(Op::setp, Type::u32, {of_driver}, {low, t.number(driver_window_bytes)}).mods.compare =
      ptx::Compare::lt;
  t.emit(Op::selp, Type::b32, {high},
         {t.number(system_calls >> 32), t.number(function_window >> 32), of_driver});
  lift_arguments(t, of_driver);
  const ptx::Operand address = t.temporary_wide();
  t.emit(Op::mov, Type::b64, {address}, {low, high});
  t.action().operand = address;
}

void trap(Translator& t) {
  t.action().flow = Flow::trap;
  t.view().op = Op::trap;
}

void nothing(Translator&) {}

}  // namespace

std::span<const SemanticsRow> bundled_control_semantics() {
  static constexpr SemanticsRow rows[] = {
      {"BRA", branch},
      {"JMP", branch},
      {"BRX", branch_by_table},
      {"JMX", go_to_register},
      {"PRET", set_return},
      {"SSY", push},
      {"PBK", push},
      {"PCNT", push},
      {"SYNC", meet},
      {"BRK", meet},
      {"CONT", meet},
      {"CAL", call},
      {"JCAL", call},
      {"RET", go_back},
      {"EXIT", [](Translator& t) { set_flow(t, Flow::exit); }},
      {"KIL", [](Translator& t) { set_flow(t, Flow::exit); }},
      {"BPT", trap},
      {"NOP", nothing},
      {"DEPBAR", nothing},
      {"MEMBAR", nothing},
      {"CCTL", nothing},
      {"CCTLL", nothing},
      {"TEXDEPBAR", nothing},
  };
  return rows;
}

}  // namespace simtlab::machine
