// Full products of 32-bit vectors: 64-bit elements.
#pragma once

#include "exec/arith/vec.h"

namespace simtlab::exec::SIMTLAB_ISA {

// The 64-bit vector with as many lanes.
template <class V>
using Wide = Vec<typename Sized<8>::u, lanes_of<V>>;
template <class V>
using WideSigned = Vec<s64, lanes_of<V>>;

// a * b of 32-bit elements, signed if V is. The result is in unsigned 64-bit elements.
template <class V>
SIMTLAB_INLINE Wide<V> full_product(V a, V b) {
  constexpr bool is_signed = Elem<V>(-1) < Elem<V>(0);
  using W = typename VecOf<typename Sized<8>::s, lanes_of<V>>::type;
  if constexpr (is_signed) {
    const W x = __builtin_convertvector(a, W), y = __builtin_convertvector(b, W);
#if defined(__AVX512F__)
    if constexpr (sizeof(W) == 64) return (Wide<V>)_mm512_mul_epi32((__m512i)x, (__m512i)y);
#elif defined(__AVX2__)
    if constexpr (sizeof(W) == 32) return (Wide<V>)_mm256_mul_epi32((__m256i)x, (__m256i)y);
#endif
    return (Wide<V>)x * (Wide<V>)y;
  } else {
    const Wide<V> x = __builtin_convertvector(a, Wide<V>), y = __builtin_convertvector(b, Wide<V>);
#if defined(__AVX512F__)
    if constexpr (sizeof(W) == 64) return (Wide<V>)_mm512_mul_epu32((__m512i)x, (__m512i)y);
#elif defined(__AVX2__)
    if constexpr (sizeof(W) == 32) return (Wide<V>)_mm256_mul_epu32((__m256i)x, (__m256i)y);
#elif defined(__SSE2__)
    if constexpr (sizeof(W) == 16) return (Wide<V>)_mm_mul_epu32((__m128i)x, (__m128i)y);
#endif
    return x * y;
  }
}
template <class V>
SIMTLAB_INLINE V high_product(V a, V b) {
  return (V) __builtin_convertvector(full_product(a, b) >> 32, AsU<V>);
}

}  // namespace simtlab::exec::SIMTLAB_ISA
