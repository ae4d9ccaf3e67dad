// Products and sums that PTX leaves to the assembler become fused multiply-adds.
//
// mul and add or sub without a rounding modifier may be fused (PTX ISA: "may be optimized aggressively"), and
// the vendor's assembler does, so that the result has one rounding: it is what a board computes. The rules
// are those that its code of small kernels shows (ptxas 12.9, sm_90):
//  - both are of one floating-point type, f16 to f64, and flush subnormals alike; the product does not
//  saturate;
//  - they lie in one block, and the product is not guarded;
//  - every use of the product is such a sum; a product that anything else reads stays, and so do its sums;
//  - a sum of two products takes in its first operand, unless that has other sums and the second has not.
// It fuses across copies and signs, too, and where PTX writes the register of a product more than once: those
// products stay here.
#pragma once

#include "ptx/decode.h"

namespace simtlab::ptx {

void contract(VirtualFunction& function);

}  // namespace simtlab::ptx
