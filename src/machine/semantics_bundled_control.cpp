// Maxwell and Pascal: the stack of branches (flow_stack.h), calls, tables of branches.
#include "machine/bundled_flags.h"
#include "machine/launch_state.h"
#include "machine/semantics_common.h"

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

void call(Translator& t) {
  if (t.has("c")) t.refuse("calls what a constant says, which is not executed");
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

// A function of the driver: what constant bank 4 holds of its address are the lower 32 bits.
void call_driver(Translator& t) {
  if (!t.has("Ra")) t.refuse("goes where a constant says, which is not executed");
  set_flow(t, t.stack().calls ? Flow::call_register : Flow::branch_register, t.operand("target").value);
  // The arguments of printf are in local memory.
  constexpr std::uint8_t second_pointer = 6;
  if (has_low_windows(t.instruction().generation) && t.has_register(second_pointer + 1)) {
    const Operand pair{.kind = OperandKind::reg, .number = second_pointer};
    const ptx::Operand pointer = t.raw_wide(pair);
    leave_low_window(t, pointer);
    t.store_wide(pair, pointer);
  }
  const ptx::Operand address = t.temporary_wide();
  t.emit(Op::mov, Type::b64, {address}, {t.raw(t.operand("Ra")), t.number(system_calls >> 32)});
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
      {"JMX", call_driver},
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
