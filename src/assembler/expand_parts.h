// The parts of expand(), one function a group of instructions. False: the instruction stays as it is. What is
// not done is refused by name (Expansion::refuse).
#pragma once

#include "assembler/expand_builder.h"

namespace simtlab::assembler {

bool expand_single(Expansion& b);      // f32: div, rcp, sqrt, and the approximations
bool expand_real(Expansion& b);        // f64: div, rcp, sqrt, rsqrt
bool expand_half(Expansion& b);        // bf16
bool expand_division(Expansion& b);    // div and rem of integers
bool expand_integer(Expansion& b);     // products, extrema, saturating sums
bool expand_bits(Expansion& b);        // bit fields and counts
bool expand_comparison(Expansion& b);  // set, slct, cnot, testp, copysign
bool expand_atomic(Expansion& b);      // atom, red
bool expand_video(Expansion& b);       // vadd to vset4

// ---- of one part for others ----

void divide_by_number(Expansion& b);  // the divisor is known

// Of 64 bits.
ptx::Operand high_product64(Expansion& b, const ptx::Operand& x, const ptx::Operand& y, bool is_signed);
ptx::Operand absolute64(Expansion& b, const ptx::Operand& x);

ptx::Operand add_brain_floats(Expansion& b, ptx::Type type, const ptx::Operand& x, const ptx::Operand& y);

}  // namespace simtlab::assembler
