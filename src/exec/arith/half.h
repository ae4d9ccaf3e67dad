// f16 and bf16 values in vectors: exact widening to float.
#pragma once

#include "exec/arith/float.h"

namespace simtlab::exec::SIMTLAB_ISA {

// Low 16 bits of every element are an f16. The exponent is rebiased by a multiplication, which also normalises subnormals.
template <class U>
SIMTLAB_INLINE AsF<U> widen_f16(U half) {
  const U magnitude = half & 0x7fff;
  const AsF<U> scaled = (AsF<U>)(magnitude << 13) * splat<AsF<U>>(0x1p112f);
  const U special = (U)(magnitude > splat<U>(0x7bff)) & 0x7f800000u;
  return (AsF<U>)((U)scaled | special | ((half & 0x8000) << 16));
}
template <class U>
SIMTLAB_INLINE AsF<U> widen_bf16(U half) {
  return (AsF<U>)(half << 16);
}
// Subnormals of f16, widened, become zeros.
template <class F>
SIMTLAB_INLINE F flush_f16(F v) {
  const AsU<F> bits = (AsU<F>)v;
  return blend((bits & 0x7fffffff) < splat<AsU<F>>(0x38800000u), (F)(bits & 0x80000000u), v);
}

}  // namespace simtlab::exec::SIMTLAB_ISA
