// Branches, calls, convergence, barriers of the block, exits.
//
// Code addresses are bytes from the begin of the kernel's code, also those that a program keeps in registers.
#include "machine/translator.h"

namespace simtlab::machine {
namespace {

using ptx::Op;
using ptx::Type;

// What the flow needs beside the guard: Pc, UPc, or both.
void set_condition(Translator& t) {
  const auto of = [&](std::string_view name) -> ptx::Operand {
    if (!t.has(name) || t.is_true(t.operand(name))) return {};
    return t.predicate(name);
  };
  const ptx::Operand p = of("Pc"), up = of("UPc");
  ptx::Operand& condition = t.action().condition;
  condition = p.kind == ptx::OperandKind::none ? up : p;
  if (p.kind == ptx::OperandKind::none || up.kind == ptx::OperandKind::none) return;
  condition = t.temporary_predicate();
  t.emit(Op::and_, Type::pred, {condition}, {p, up});
}

void set_flow(Translator& t, Flow flow, std::int64_t target = 0) {
  t.action().flow = flow;
  t.action().target = target;
  set_condition(t);
}

// BRA.CONV is taken if all lanes of a mask are here, .DIV if they are not. A lane with a false guard counts
// as not here: compiled code guards them by `the lanes name different masks` and goes on to what waits for
// each mask. sm_75 has no mask: all lanes of the warp.
void branch(Translator& t) {
  set_flow(t, Flow::branch, t.operand("target").value);
  const std::string_view kind = t.word("kind");
  Action& a = t.action();
  if (kind == "ANY" || t.word("any") == "ANY") a.vote = Vote::any;
  if (kind == "CONV") a.vote = Vote::together;
  if (kind == "DIV") a.vote = Vote::apart;
  if (a.vote == Vote::none || a.vote == Vote::any) return;
  if (!t.has("URm")) {
    a.operand = t.number(0xffffffffu);
    return;
  }
  a.operand = t.raw(t.operand("URm"));
  a.inverted = t.operand("URm").inverted;
}

// To the address in a register pair, plus `base`.
void branch_register(Translator& t, std::int64_t base) {
  set_flow(t, Flow::branch_register, base);
  t.action().operand = t.raw_wide(t.operand(t.has("URa") ? "URa" : t.has("Ra") ? "Ra" : "c"));
}

std::int64_t target_of(Translator& t) { return t.has("target") ? t.operand("target").value : 0; }

// The caller has put the return address into a register.
void call(Translator& t) {
  if (t.has("Ra") || t.has("c")) return branch_register(t, target_of(t));
  const auto target = static_cast<std::uint64_t>(target_of(t));
  if (target < system_calls) return set_flow(t, Flow::branch, target_of(t));
  // A function of the driver, whose address the loader has put here.
  set_flow(t, Flow::branch_register);
  t.action().operand = t.number(target, 8);
}

void go_to_register(Translator& t) {
  // JMXU has no offset; its kinds have not been seen.
  if (!t.word("kind").empty()) t.refuse("is not executed");
  branch_register(t, target_of(t));
}

void go_back(Translator& t) {
  // The offset of .REL is from the next instruction, as that of a branch; an absolute one is none.
  const std::int64_t next = std::int64_t{t.instruction().address} + static_cast<std::int64_t>(word_bytes);
  branch_register(t, t.word("abs") == "ABS" ? target_of(t) - next : target_of(t));
}

void read_address(Translator& t) {
  // Without a target the instruction's own address: code adds the distance to where it wants to return.
  const std::int64_t address =
      t.has("target") ? t.operand("target").value : std::int64_t{t.instruction().address};
  const Operand& destination = t.operand("Rd");
  const auto bits = static_cast<std::uint64_t>(address);
  t.emit(Op::mov, Type::b32, {t.result(destination)}, {t.number(bits & 0xffffffffu)});
  t.emit(Op::mov, Type::b32, {t.register_behind(destination, 1)}, {t.number(bits >> 32)});
}

void at_barrier(Translator& t, Flow flow) {
  t.action().barrier = t.operand("Bn").number;
  set_flow(t, flow, flow == Flow::meet ? -1 : 0);
}

// BMOV between a register and a convergence barrier, or the lanes that are active (state 26) to one.
void move_barrier(Translator& t) {
  constexpr std::int64_t active_lanes = 26;
  if (t.field("pquad") != 0) t.refuse("is not executed");
  Action& a = t.action();
  a.barrier = t.operand("Bn").number;
  if (t.has("state")) {
    const bool to_barrier = t.instruction().form->operands[0].name == "Bn";
    if (!to_barrier || t.operand("state").value != active_lanes || t.field("clear") != 0)
      t.refuse("moves a state of the warp that is not known");
    a.flow = Flow::set_barrier;
  } else if (t.has("Rd")) {
    a.flow = Flow::read_barrier;
    a.clear = t.field("clear") != 0;
    a.result = t.result("Rd");
  } else {
    a.flow = Flow::write_barrier;
    a.operand = t.raw(t.operand("Rb"));
  }
}

void warp_sync(Translator& t) {
  set_flow(t, Flow::meet_mask);
  Action& a = t.action();
  const std::string_view mode = t.has("target") ? t.word("mode") : t.word("excl");
  if (mode == "EXCLUSIVE") a.meeting = Meeting::exclusive;
  if (mode.starts_with("COLLECTIVE")) {
    a.meeting = Meeting::collective;
    a.target = t.operand("target").value;
  }
  for (const std::string_view name : {"Ra", "mask", "URb", "c"})
    if (t.has(name)) a.operand = t.raw(t.operand(name));
  if (a.operand.kind == ptx::OperandKind::none) a.operand = t.number(0xffffffffu);
}

void trap(Translator& t) {
  const std::string_view kind = t.word("kind");
  if (kind == "DRAIN") return;
  if (kind != "TRAP" && kind != "INT") t.refuse("is not executed");
  t.action().flow = Flow::trap;
  t.view().op = kind == "TRAP" ? Op::trap : Op::brkpt;
}

// A register that holds number (4 bits) and, from bit 16 on, count of a barrier.
ptx::Operand bits_of(Translator& t, const ptx::Operand& packed, unsigned from, unsigned width) {
  const ptx::Operand value = t.temporary();
  t.emit(Op::shr, Type::u32, {value}, {packed, t.number(from)});
  t.emit(Op::and_, Type::b32, {value}, {value, t.number((1u << width) - 1)});
  return value;
}

// BAR.SYNC, .ARV, .RED: the executor reads number, count and predicate where PTX has them. The predicate says
// something in .RED alone; elsewhere its bits are 0, which would be P0.
void block_barrier(Translator& t) {
  t.action().flow = Flow::block_barrier;
  ptx::Inst& view = t.view();
  view.src_count = view.dst_count = 0;
  const auto add = [&](const ptx::Operand& o) { view.src[view.src_count++] = o; };
  if (t.has("Rbar") && t.has("Rcount")) {
    const ptx::Operand packed = t.raw(t.operand("Rbar"));
    add(bits_of(t, packed, 0, 4));
    add(bits_of(t, packed, 16, 12));
  } else {
    add(t.raw(t.operand(t.has("bar") ? "bar" : "Rbar")));
    const Operand& count = t.operand(t.has("count") ? "count" : "Rcount");
    if (count.kind == OperandKind::reg ? count.number != zero_register : count.value != 0) add(t.raw(count));
  }
  const std::string_view mode = t.word("mode");
  if (mode == "SCAN") t.refuse("is not executed");
  if (mode == "RED") {
    const std::string_view red = t.word("red");
    if (view.src_count == 1) add({});  // no count
    view.mods.bar = red == "AND"  ? ptx::BarMode::red_and
                    : red == "OR" ? ptx::BarMode::red_or
                                  : ptx::BarMode::red_popc;
    add(t.predicate("Pc"));
    view.dst[view.dst_count++] =
        view.mods.bar == ptx::BarMode::red_popc ? t.barrier_count() : t.barrier_predicate();
    return;
  }
  view.mods.bar = mode == "ARV" ? ptx::BarMode::arrive : ptx::BarMode::sync;
}

// B2R.RESULT: the count of BAR.RED.POPC, the predicate of .AND and .OR
void barrier_result(Translator& t) {
  if (t.word("mode") != "RESULT") t.refuse("is not executed");
  t.emit(Op::mov, Type::b32, {t.result("Rd")}, {t.barrier_count()});
  t.emit(Op::mov, Type::pred, {t.predicate_result("Pd")}, {t.barrier_predicate()});
}

void nothing(Translator&) {}

}  // namespace

std::span<const SemanticsRow> control_semantics() {
  static constexpr SemanticsRow rows[] = {
      {"BRA", branch},
      {"BRX", [](Translator& t) { branch_register(t, target_of(t)); }},
      {"BRXU", [](Translator& t) { branch_register(t, target_of(t)); }},
      {"JMP", call},
      {"JMX", go_to_register},
      {"JMXU", go_to_register},
      {"CALL.REL", call},
      {"CALL.ABS", call},
      {"RET", go_back},
      {"LEPC", read_address},
      {"BSSY", [](Translator& t) { at_barrier(t, Flow::set_barrier); }},
      {"BSYNC", [](Translator& t) { at_barrier(t, Flow::meet); }},
      {"BREAK", [](Translator& t) { at_barrier(t, Flow::leave_barrier); }},
      {"BMOV", move_barrier},
      {"WARPSYNC", warp_sync},
      {"ENDCOLLECTIVE", [](Translator& t) { set_flow(t, Flow::end_collective); }},
      {"EXIT", [](Translator& t) { set_flow(t, Flow::exit); }},
      {"KILL", [](Translator& t) { set_flow(t, Flow::exit); }},
      {"YIELD", [](Translator& t) { set_flow(t, Flow::yield); }},
      {"NANOSLEEP", [](Translator& t) { set_flow(t, Flow::yield); }},
      {"NOP", nothing},
      {"BPT", trap},
      {"BAR", block_barrier},
      {"B2R", barrier_result},
  };
  return rows;
}

}  // namespace simtlab::machine
