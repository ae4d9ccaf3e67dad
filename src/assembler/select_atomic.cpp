// Atomics. What no unit does, expand() has made of compare-and-swap.
#include <algorithm>

#include "assembler/selector.h"

namespace simtlab::assembler {
namespace {

using ptx::AtomOp;
using ptx::MemOrder;

std::string_view atomic_word(AtomOp op) {
  switch (op) {
    case AtomOp::add: return "ADD";
    case AtomOp::min: return "MIN";
    case AtomOp::max: return "MAX";
    case AtomOp::inc: return "INC";
    case AtomOp::dec: return "DEC";
    case AtomOp::and_: return "AND";
    case AtomOp::or_: return "OR";
    case AtomOp::xor_: return "XOR";
    case AtomOp::exch: return "EXCH";
    default: return {};
  }
}

bool adds_floats(Type type) { return type == Type::f32 || type == Type::f64 || is_half_pair(type); }

std::string_view atomic_type(AtomOp op, Type type) {
  const bool looks_at_bits = op == AtomOp::exch || op == AtomOp::cas || op == AtomOp::and_ ||
                             op == AtomOp::or_ || op == AtomOp::xor_;
  const bool wide = ptx::size_of(type) == 8;
  if (looks_at_bits) return wide ? "64" : "";
  switch (type) {
    case Type::f32: return "F32.FTZ.RN";
    case Type::f64: return "F64.RN";
    case Type::f16x2: return "F16x2.RN";
    case Type::bf16x2: return "BF16x2.RN";
    case Type::s32: return "S32";
    case Type::s64: return op == AtomOp::add ? "64" : "S64";
    default: return wide ? "64" : "";
  }
}

void set_word(Selector& s, Instruction& i, std::string_view name, std::string_view word) {
  const int at = i.code.form->field(machine::Name(name));
  if (at >= 0)
    for (const auto& [value, text] : i.code.form->fields[static_cast<std::size_t>(at)]->values)
      if (text == word) {
        i.code.fields[static_cast<std::size_t>(at)] = static_cast<std::uint16_t>(value);
        return;
      }
  s.give_up("an atomic operation that the generation lacks");
}

// They are always strong.
void set_atomic_order(Selector& s, Instruction& i, ptx::Scope scope) {
  Builder& out = s.out();
  const bool system = scope == ptx::Scope::sys, block = scope == ptx::Scope::cta;
  if (i.code.form->field("order") >= 0) {
    constexpr unsigned of_block = 5, of_device = 7, of_system = 10;
    return out.set_field(i, "order", system ? of_system : block ? of_block : of_device);
  }
  constexpr unsigned strong = 2;
  out.set_field(i, "sem", strong);
  out.set_field(i, "scope", system ? 3 : block ? 0 : 2);
}

std::string_view atomic_name(const Selector& s, const Inst& inst, bool reduces) {
  const Space space = inst.mods.space;
  const AtomOp op = inst.mods.atom;
  if (space == Space::shared) return op == AtomOp::cas ? "ATOMS.CAS" : "ATOMS";
  const bool global = space == Space::global;
  if (op == AtomOp::cas) return global ? "ATOMG.CAS" : "ATOM.CAS";
  const bool floats = s.generation() >= 90 && adds_floats(inst.type);
  if (reduces) return floats ? "RED.F" : "RED";
  if (global) return floats ? "ATOMG.F" : "ATOMG";
  return floats ? "ATOM.F" : "ATOM";
}

// The unit of shared memory adds words; of 64 bits it exchanges.
void refuse_unknown(const Selector& s, const Inst& inst) {
  const AtomOp op = inst.mods.atom;
  const unsigned bytes = ptx::size_of(inst.type);
  const bool floats = ptx::is_float(inst.type);
  const bool ordered = op == AtomOp::min || op == AtomOp::max;
  if (inst.mods.vector > 1 || (bytes != 4 && bytes != 8) || (floats && ordered) || op == AtomOp::none)
    Selector::give_up("an atomic operation of this type");
  if (inst.type == Type::bf16x2 && op == AtomOp::add && s.generation() < 90)
    Selector::give_up("a sum of bf16 in memory on this generation");
  if (inst.mods.space != Space::shared) return;
  if ((floats && op == AtomOp::add) || (bytes == 8 && op != AtomOp::exch && op != AtomOp::cas))
    Selector::give_up("an atomic operation of this type in shared memory");
}

// Lanes that count in a word of shared memory: the unit counts those that name it. ptxas does so from Ampere
// on, for unsigned words.
bool counts_lanes(const Selector& s, const Inst& inst, bool wanted) {
  return s.generation() >= 80 && inst.mods.space == Space::shared && inst.mods.atom == AtomOp::add &&
         inst.type == Type::u32 && !wanted && s.known(inst.src[1]) == std::uint64_t{1};
}

void count_lanes(Selector& s, const Inst& inst) {
  const Place at = s.place(inst, false);
  Instruction& i = s.out().access("ATOMS", {}, at.base, at.offset, at.wide, {}, {});
  set_word(s, i, "op", "POPC.INC");
  set_word(s, i, "type", "32");
}

void atomic(Selector& s, const Inst& inst) {
  refuse_unknown(s, inst);
  Builder& out = s.out();
  const Space space = inst.mods.space;
  const AtomOp op = inst.mods.atom;
  const bool shared = space == Space::shared, wanted = inst.op == Op::atom && s.is_read(inst.dst[0]);
  // RED is for global memory, and exchanges nothing.
  const bool reduces = !wanted && space == Space::global && op != AtomOp::exch && op != AtomOp::cas;
  const MemOrder order = inst.mods.order;
  const bool unordered = order == MemOrder::relaxed || order == MemOrder::weak;
  if (unordered && counts_lanes(s, inst, wanted)) return count_lanes(s, inst);
  const Place at = s.place(inst, !shared);
  const Value b = s.plain_source(inst, 1), c = op == AtomOp::cas ? s.plain_source(inst, 2) : zero();
  if (order == MemOrder::release || order == MemOrder::acq_rel || order == MemOrder::sc)
    release(s, inst.mods.scope);
  const Ref d = wanted ? s.result(inst) : Ref{};
  const std::string_view name = atomic_name(s, inst, reduces);
  Instruction& i = op == AtomOp::cas ? out.access(name, d, at.base, at.offset, at.wide, {b, c}, {})
                                     : out.access(name, d, at.base, at.offset, at.wide, {b}, {});
  if (op != AtomOp::cas) set_word(s, i, "op", atomic_word(op));
  set_word(s, i, "type", atomic_type(op, inst.type));
  if (!shared) {
    set_word(s, i, "e", "E");
    set_atomic_order(s, i, inst.mods.scope);
  }
  if (order == MemOrder::acquire || order == MemOrder::acq_rel || order == MemOrder::sc)
    acquire(s, inst.mods.scope, space);
}

}  // namespace

std::span<const SelectionRow> atomic_selections() {
  static constexpr SelectionRow rows[] = {{Op::atom, atomic}, {Op::red, atomic}};
  return rows;
}

}  // namespace simtlab::assembler
