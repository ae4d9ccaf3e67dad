// Helpers that the parts of fold() share.
#pragma once

#include <vector>

#include "ptx/module.h"

namespace simtlab::ptx {

inline bool is_integer(Type t) { return !is_float(t) && t != Type::pred && t != Type::none; }
inline bool is_register(const Operand& o) {
  return o.kind == OperandKind::reg || o.kind == OperandKind::pred;
}
inline bool is_logic(Op op) { return op == Op::and_ || op == Op::or_ || op == Op::xor_ || op == Op::not_; }
inline bool plain(const Inst& i) {
  return i.guard.kind == OperandKind::none && i.dst_count == 1 && is_register(i.dst[0]);
}
// add or sub without a flag.
inline bool is_sum(const Inst& i) {
  return (i.op == Op::add || i.op == Op::sub) && !i.mods.cc_in && !i.mods.cc_out && !i.mods.sat;
}

// Whether the operand is the address of an access.
inline bool is_base(const Inst& i, unsigned operand) {
  switch (i.op) {
    case Op::ld:
    case Op::ldu:
    case Op::st:
    case Op::atom:
    case Op::red:
    case Op::prefetch:
    case Op::prefetchu: return operand == 0;
    case Op::cp_async: return operand <= 1;
    default: return false;
  }
}

// Sets Inst::low_half, backwards from the instructions that read upper halves.
void find_low_halves(Function& function, const std::vector<Type>& types);

}  // namespace simtlab::ptx
