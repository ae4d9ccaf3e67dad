// The parts of expand(), one function a group of instructions. False: the instruction stays as it is. What is
// not done is refused by name (Builder::refuse).
#pragma once

#include "assembler/expand_builder.h"

namespace simtlab::assembler {

bool expand_single(Builder& b);      // f32: div, rcp, sqrt, and the approximations
bool expand_real(Builder& b);        // f64: div, rcp, sqrt, rsqrt, min, max
bool expand_division(Builder& b);    // div and rem of integers
bool expand_integer(Builder& b);     // products, sums, extrema of integers
bool expand_bits(Builder& b);        // bit fields and counts
bool expand_comparison(Builder& b);  // set, slct, testp, copysign
bool expand_atomic(Builder& b);      // atom, red
bool expand_video(Builder& b);       // vadd ... vset4

void divide_by_number(Builder& b);  // the divisor is known

// For the other parts: of 64 bits.
ptx::Operand high_product64(Builder& b, const ptx::Operand& x, const ptx::Operand& y, bool is_signed);
ptx::Operand absolute64(Builder& b, const ptx::Operand& x);

}  // namespace simtlab::assembler
