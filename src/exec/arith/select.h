// Handler choice, one function a group of instructions; null: not of that group or a form that PTX does not
// have.
#pragma once

#include "exec/arith/vec.h"

namespace simtlab::exec::SIMTLAB_ISA {

Handler select_integer(const ptx::Inst& inst);      // add .. max, logic, shifts
Handler select_multiply(const ptx::Inst& inst);     // mul, mad, mul24, mad24, sad, div, rem, dp4a, dp2a
Handler select_carry(const ptx::Inst& inst);        // .cc forms
Handler select_bits(const ptx::Inst& inst);         // popc .. szext, bfe, bfi, lop3, shf, prmt
Handler select_float(const ptx::Inst& inst);        // f32 and f64 arithmetic that is exactly rounded
Handler select_approximate(const ptx::Inst& inst);  // .approx and .full
Handler select_half(const ptx::Inst& inst);         // f16, bf16 and their pairs
Handler select_compare(const ptx::Inst& inst);      // set, setp, slct, testp
Handler select_convert(const ptx::Inst& inst);      // cvt
Handler select_move(const ptx::Inst& inst);         // mov, selp, predicate logic, cvta, isspacep
Handler select_warp(const ptx::Inst& inst);         // shfl, vote, match, redux, activemask, elect
Handler select_video(const ptx::Inst& inst);
Handler select_machine(const ptx::Inst& inst);  // integer operations that only machine code has

// Of integers, bits and floats with up to 64 bits; 0 for others. (ptx::size_of is a function of another
// library: fine to call, but not constexpr.)
SIMTLAB_INLINE unsigned ptx_bytes(ptx::Type type) {
  using ptx::Type;
  switch (type) {
    case Type::b8:
    case Type::u8:
    case Type::s8: return 1;
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16:
    case Type::e4m3x2:
    case Type::e5m2x2: return 2;
    case Type::b32:
    case Type::u32:
    case Type::s32:
    case Type::f32:
    case Type::tf32:
    case Type::f16x2:
    case Type::bf16x2:
    case Type::u16x2:
    case Type::s16x2: return 4;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64: return 8;
    default: return 0;
  }
}
SIMTLAB_INLINE bool is_floating(ptx::Type type) {
  using ptx::Type;
  return type == Type::f16 || type == Type::f16x2 || type == Type::bf16 || type == Type::bf16x2 ||
         type == Type::f32 || type == Type::f64;
}

}  // namespace simtlab::exec::SIMTLAB_ISA
