// Atomics. An atomic on global memory may be performed later than the operations behind it
// (exec/store_buffer.h): nothing of the same instruction may read its result. So a 64-bit result goes to two
// registers by itself.
#include <array>
#include <optional>

#include "machine/semantics_common.h"
#include "ptx/machine_ops.h"

namespace simtlab::machine {
namespace {

using ptx::AtomOp;
using ptx::Op;
using ptx::Type;

template <class Value>
struct Named {
  std::string_view word;
  Value value;
};

template <class Value, std::size_t n>
std::optional<Value> value_of(const Named<Value> (&table)[n], std::string_view word) {
  for (const Named<Value>& row : table)
    if (row.word == word) return row.value;
  return std::nullopt;
}

constexpr Named<AtomOp> operations[] = {{"ADD", AtomOp::add}, {"MIN", AtomOp::min},  {"MAX", AtomOp::max},
                                        {"INC", AtomOp::inc}, {"DEC", AtomOp::dec},  {"AND", AtomOp::and_},
                                        {"OR", AtomOp::or_},  {"XOR", AtomOp::xor_}, {"EXCH", AtomOp::exch}};
constexpr Named<Type> types[] = {
    {"", Type::u32},       {"S32", Type::s32},        {"64", Type::u64},
    {"U64", Type::u64},    {"S64", Type::s64},        {"F32.FTZ.RN", Type::f32},
    {"F64.RN", Type::f64}, {"F16x2.RN", Type::f16x2}, {"BF16x2.RN", Type::bf16x2},
    {"128", Type::b128}};

struct Vector {
  Type type;  // of the whole
  std::uint32_t adds;
};
constexpr Named<Vector> vectors[] = {
    {"F32x2.FTZ.RN", {Type::b64, ptx::adds_f32}}, {"F32x4.FTZ.RN", {Type::b128, ptx::adds_f32}},
    {"F16x4.RN", {Type::b64, ptx::adds_f16}},     {"F16x8.RN", {Type::b128, ptx::adds_f16}},
    {"BF16x4.RN", {Type::b64, ptx::adds_bf16}},   {"BF16x8.RN", {Type::b128, ptx::adds_bf16}}};

// Logic and exchanges look at bits; a sum of signed numbers is that of unsigned ones.
Type type_for(AtomOp op, Type type) {
  const bool ordered = op == AtomOp::min || op == AtomOp::max;
  if (ordered || ptx::is_float(type) || type == Type::f16x2 || type == Type::bf16x2) return type;
  if (type == Type::b128) return type;
  const bool number = op == AtomOp::add || op == AtomOp::inc || op == AtomOp::dec;
  if (ptx::size_of(type) == 8) return number ? Type::u64 : Type::b64;
  return number ? Type::u32 : Type::b32;
}

bool is_executed(AtomOp op, Type type) {
  const bool is_float = ptx::is_float(type) || type == Type::f16x2 || type == Type::bf16x2;
  if (is_float) return op == AtomOp::add;
  if (type == Type::b128) return op == AtomOp::exch || op == AtomOp::cas;
  return ptx::size_of(type) == 4 || (op != AtomOp::inc && op != AtomOp::dec);
}

// A register, or as many as the type takes, in one value.
ptx::Operand value_of(Translator& t, const Operand& source, Type type) {
  const unsigned bytes = ptx::size_of(type);
  if (bytes == 4) return t.raw(source);
  if (bytes == 8) return t.raw_wide(source);
  const ptx::Operand low = t.temporary_wide(), high = t.temporary_wide();  // side by side
  const bool zero = source.number == zero_register;
  const auto part = [&](unsigned i) {
    return zero ? t.number(0) : i == 0 ? t.raw(source) : t.register_behind(source, i);
  };
  t.emit(Op::mov, Type::b64, {low}, {part(0), part(1)});
  t.emit(Op::mov, Type::b64, {high}, {part(2), part(3)});
  ptx::Operand whole = low;
  whole.bytes = 16;
  return whole;
}

// b: operand; c: what a compare-and-swap writes.
ptx::Inst& emit_atomic(Translator& t, AtomOp op, Type type, ptx::Space space, const ptx::Operand& address,
                       std::initializer_list<ptx::Operand> operands) {
  const bool reduces = !t.has("Rd");
  ptx::Inst& inst = t.emit_memory(reduces ? Op::red : Op::atom, type, {}, {address});
  for (const ptx::Operand& o : operands) inst.src[inst.src_count++] = o;
  inst.imm_offset = t.operand("mem").value;
  inst.mods.space = space;
  inst.mods.atom = op;
  inst.mods.order = ptx::MemOrder::relaxed;
  if (reduces) return inst;
  inst.dst[inst.dst_count++] = t.result("Rd");
  for (unsigned i = 1; i < ptx::size_of(type) / 4; ++i)
    inst.dst[inst.dst_count++] = t.register_behind(t.operand("Rd"), i);
  return inst;
}

// Pd: the unit has done it. It is false for windows that atomics of a generic address do not reach on
// hardware; the code then does it by itself. Here they reach them all.
void set_done(Translator& t) {
  if (!t.has("Pd") || t.operand("Pd").number == true_predicate) return;
  const ptx::Operand always = t.predicate({.kind = OperandKind::pred, .number = true_predicate});
  t.emit(Op::mov, Type::pred, {t.predicate_result("Pd")}, {always});
}

// Sums of two to eight floats side by side.
void add_vector(Translator& t, const Vector& vector, ptx::Space space) {
  const ptx::Operand address = t.address(t.operand("mem")), b = value_of(t, t.operand("Rb"), vector.type);
  emit_atomic(t, AtomOp::add, vector.type, space, address, {b}).mods.video = vector.adds;
  set_done(t);
}

void atomic(Translator& t, ptx::Space space) {
  const std::optional<AtomOp> op = value_of(operations, t.word("op"));
  if (const auto vector = value_of(vectors, t.word("type")); vector && op == AtomOp::add)
    return add_vector(t, *vector, space);
  const std::optional<Type> named = value_of(types, t.word("type"));
  if (!op || !named) t.refuse("is an atomic operation that is not executed");
  const Type type = type_for(*op, *named);
  if (!is_executed(*op, type)) t.refuse("is an atomic operation that is not executed");
  const ptx::Operand address = t.address(t.operand("mem")), b = value_of(t, t.operand("Rb"), type);
  emit_atomic(t, *op, type, space, address, {b});
  set_done(t);
}

// ATOMS.POPC.INC: adds the number of lanes that name the word. What the lanes would get is not known.
void count_lanes(Translator& t) {
  if (t.operand("Rd").number != zero_register) t.refuse("wants a result, which is not executed");
  emit_atomic(t, AtomOp::add, Type::u32, ptx::Space::shared, t.address(t.operand("mem")), {t.number(1)});
}

void compare_and_swap(Translator& t, ptx::Space space) {
  const std::string_view word = t.word("type");
  if (word != "" && word != "64" && word != "128") t.refuse("is an atomic operation that is not executed");
  const Type type = word == "" ? Type::b32 : word == "64" ? Type::b64 : Type::b128;
  const ptx::Operand address = t.address(t.operand("mem"));
  const ptx::Operand b = value_of(t, t.operand("Rb"), type), c = value_of(t, t.operand("Rc"), type);
  emit_atomic(t, AtomOp::cas, type, space, address, {b, c});
  set_done(t);
}

// ATOMS.CAST.SPIN: the result is 1 where the value was swapped, else 0. Those of shared memory are never
// late.
void swap_and_tell(Translator& t) {
  const bool wide = t.word("type") == "64";
  if (!wide && t.word("type") != "") t.refuse("is an atomic operation that is not executed");
  const Type type = wide ? Type::b64 : Type::b32;
  const ptx::Operand address = t.address(t.operand("mem"));
  const ptx::Operand b = value_of(t, t.operand("Rb"), type), c = value_of(t, t.operand("Rc"), type);
  const ptx::Operand old = wide ? t.temporary_wide() : t.temporary();
  ptx::Inst& inst = t.emit_memory(Op::atom, type, {old}, {address, b, c});
  inst.imm_offset = t.operand("mem").value;
  inst.mods.space = ptx::Space::shared;
  inst.mods.atom = AtomOp::cas;
  const ptx::Operand swapped = t.temporary_predicate();
  t.emit(Op::setp, type, {swapped}, {old, b}).mods.compare = ptx::Compare::eq;
  t.emit(Op::selp, Type::b32, {t.result("Rd")}, {t.number(1), t.number(0), swapped});
  if (wide) t.emit(Op::mov, Type::b32, {t.register_behind(t.operand("Rd"), 1)}, {t.number(0)});
}

bool tells(Translator& t) { return t.word("kind").starts_with("CAST"); }

void shared_atomic(Translator& t) {
  if (t.word("op") == "POPC.INC" && t.word("type") == "32") return count_lanes(t);
  if (t.word("op") == "ARRIVE" && t.word("type") == "64" && t.instruction().generation < 90)
    return arrive_ampere(t);
  atomic(t, ptx::Space::shared);
}

void shared_swap(Translator& t) {
  if (tells(t)) return swap_and_tell(t);
  compare_and_swap(t, ptx::Space::shared);
}

// ATOM.CAST.SPIN is for the shared memory of other blocks, which QSPC.D denies.
void generic_swap(Translator& t) {
  if (tells(t)) {
    t.action().flow = Flow::trap;
    return;
  }
  compare_and_swap(t, ptx::Space::generic);
}

}  // namespace

std::span<const SemanticsRow> atomic_semantics() {
  static constexpr SemanticsRow rows[] = {
      {"ATOM", [](Translator& t) { atomic(t, ptx::Space::generic); }},
      {"ATOM.F", [](Translator& t) { atomic(t, ptx::Space::generic); }},
      {"ATOM.CAS", generic_swap},
      {"ATOMG", [](Translator& t) { atomic(t, ptx::Space::global); }},
      {"ATOMG.F", [](Translator& t) { atomic(t, ptx::Space::global); }},
      {"ATOMG.CAS", [](Translator& t) { compare_and_swap(t, ptx::Space::global); }},
      {"ATOMS", shared_atomic},
      {"ATOMS.CAS", shared_swap},
      {"RED", [](Translator& t) { atomic(t, ptx::Space::global); }},
      {"RED.F", [](Translator& t) { atomic(t, ptx::Space::global); }},
  };
  return rows;
}

}  // namespace simtlab::machine
