// f16 and bf16 values in vectors: exact widening to float.
#pragma once

#include "exec/arith/float.h"

namespace simtlab::exec::SIMTLAB_ISA {

// Low 16 bits of every element are an f16. The exponent is rebiased by a multiplication, which also
// normalises subnormals.
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
// f32 to the nearest bf16 and f16, in the low 16 bits of each element. NaN: 0x7fff.
template <class F>
SIMTLAB_INLINE AsU<F> narrow_bf16(F v) {
  using U = AsU<F>;
  const U bits = (U)v;
  return blend(v == v, (bits + 0x7fff + ((bits >> 16) & 1)) >> 16, splat<U>(0x7fff));
}
#if defined(__F16C__)
template <class F>
SIMTLAB_INLINE AsU<F> narrow_f16(F v) {
  using U = AsU<F>;
  using H = Vec<u16, lanes_of<F>>;
  H half;
#if defined(__AVX512F__)
  static_assert(sizeof(F) == 64);
  half = (H)_mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT);
#else
  static_assert(sizeof(F) == 32);
  half = (H)_mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT);
#endif
  return blend(v == v, __builtin_convertvector(half, U), splat<U>(0x7fff));
}
#endif
// Subnormals of f16, widened, become zeros.
template <class F>
SIMTLAB_INLINE F flush_f16(F v) {
  const AsU<F> bits = (AsU<F>)v;
  return blend((bits & 0x7fffffff) < splat<AsU<F>>(0x38800000u), (F)(bits & 0x80000000u), v);
}

}  // namespace simtlab::exec::SIMTLAB_ISA
