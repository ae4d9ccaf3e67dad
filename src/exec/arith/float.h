// Pieces of floating-point semantics on vectors of float and double: flushing, saturation, NaN results, fused
// multiply-add.
//
// NaN results: f32 gives the canonical NaN 0x7fffffff, as NVIDIA GPUs do. f64 gives the first NaN operand,
// made quiet, or 0xfff8000000000000 if there is none; that is fixed here because processors' operand order is
// the compiler's choice.
#pragma once

#include "exec/arith/vec.h"

extern "C" float fmaf(float, float, float) noexcept;
extern "C" double fma(double, double, double) noexcept;

namespace simtlab::exec::SIMTLAB_ISA {

template <unsigned bytes>
struct FloatLayout {  // of float
  static constexpr u32 sign = 0x80000000u, exponent = 0x7f800000u, canonical_nan = 0x7fffffffu;
};
template <>
struct FloatLayout<8> {
  static constexpr u64 sign = 0x8000000000000000ull, exponent = 0x7ff0000000000000ull,
                       canonical_nan = 0xfff8000000000000ull;
  static constexpr u64 quiet = 0x0008000000000000ull;
};
template <class V>
using Layout = FloatLayout<sizeof(Elem<V>)>;

// Subnormals become zeros of the same sign.
template <class V>
SIMTLAB_INLINE V flush(V v) {
  using U = AsU<V>;
  const U bits = (U)v;
  return blend((bits & Layout<V>::exponent) == U{}, (V)(bits & Layout<V>::sign), v);
}
template <class V>
SIMTLAB_INLINE V saturate01(V v) {
  const V one = splat<V>(1);
  const V low = v > V{} ? v : V{};  // NaN and -0 give +0
  return low < one ? low : one;
}
template <class V>
SIMTLAB_INLINE V first_nan() {
  return (V)splat<AsU<V>>(Layout<V>::canonical_nan);
}
template <class V, class... Vs>
SIMTLAB_INLINE V first_nan(V first, Vs... rest) {
  return blend(first != first, (V)((AsU<V>)first | Layout<V>::quiet), first_nan<V>(rest...));
}
template <class V>
SIMTLAB_INLINE bool any_nan(V v) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64 && sizeof(Elem<V>) == 8)
    return _mm512_cmp_pd_mask((__m512d)v, (__m512d)v, _CMP_UNORD_Q) != 0;
#endif
  return pack_bits(v != v) != 0;
}
// In either.
template <class V>
SIMTLAB_INLINE bool any_nan(V a, V b) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64 && sizeof(Elem<V>) == 8)
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_UNORD_Q) != 0;
#elif defined(__AVX2__)
  if constexpr (sizeof(V) == 32 && sizeof(Elem<V>) == 8)
    return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_UNORD_Q)) != 0;
#endif
  return pack_bits((a != a) | (b != b)) != 0;
}
// NaN lanes of a result get the NaN that the GPU would give.
template <class V, class... Vs>
SIMTLAB_INLINE V settle_nan(V r, Vs... sources) {
  if constexpr (sizeof(Elem<V>) == 4) {
    return blend(r == r, r, (V)splat<AsU<V>>(Layout<V>::canonical_nan));
  } else {
    if (__builtin_expect(!any_nan(r), 1)) return r;
    return blend(r == r, r, first_nan<V>(sources...));
  }
}

template <class V>
SIMTLAB_INLINE V fused(V a, V b, V c) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64 && sizeof(Elem<V>) == 4)
    return (V)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
  if constexpr (sizeof(V) == 64 && sizeof(Elem<V>) == 8)
    return (V)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#endif
#if defined(__FMA__)
  if constexpr (sizeof(V) == 32 && sizeof(Elem<V>) == 4)
    return (V)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
  if constexpr (sizeof(V) == 32 && sizeof(Elem<V>) == 8)
    return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#endif
  V r = a;
  for (unsigned i = 0; i < lanes_of<V>; ++i) {
    if constexpr (sizeof(Elem<V>) == 4)
      r[i] = ::fmaf(a[i], b[i], c[i]);
    else
      r[i] = ::fma(a[i], b[i], c[i]);
  }
  return r;
}

template <class V>
SIMTLAB_INLINE V square_root(V a) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64 && sizeof(Elem<V>) == 4) return (V)_mm512_sqrt_ps((__m512)a);
  if constexpr (sizeof(V) == 64 && sizeof(Elem<V>) == 8) return (V)_mm512_sqrt_pd((__m512d)a);
#endif
#if defined(__AVX__)
  if constexpr (sizeof(V) == 32 && sizeof(Elem<V>) == 4) return (V)_mm256_sqrt_ps((__m256)a);
  if constexpr (sizeof(V) == 32 && sizeof(Elem<V>) == 8) return (V)_mm256_sqrt_pd((__m256d)a);
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(V) == 16 && sizeof(Elem<V>) == 4) return (V)_mm_sqrt_ps((__m128)a);
  if constexpr (sizeof(V) == 16 && sizeof(Elem<V>) == 8) return (V)_mm_sqrt_pd((__m128d)a);
#endif
  V r = a;
  for (unsigned i = 0; i < lanes_of<V>; ++i) {
    if constexpr (sizeof(Elem<V>) == 4)
      r[i] = __builtin_sqrtf(a[i]);
    else
      r[i] = __builtin_sqrt(a[i]);
  }
  return r;
}

// Rounds to integral values without the SSE4.1 instruction, so that every instruction set gives the same
// code: adding 2^(p-1) to the magnitude leaves no fraction bits; larger values have none.
enum class Integral : u8 { nearest, zero, down, up };
template <class V>
SIMTLAB_INLINE V round_integral(V a, Integral mode) {
  using U = AsU<V>;
  const U sign = (U)a & Layout<V>::sign;
  const V magnitude = (V)((U)a ^ sign);
  const V big = splat<V>(sizeof(Elem<V>) == 4 ? (Elem<V>)8388608.0 : (Elem<V>)4503599627370496.0);
  const V one = splat<V>(1);
  V r = (magnitude + big) - big;
  if (mode == Integral::zero) r = r > magnitude ? r - one : r;
  V result = (V)((U)r | sign);
  if (mode == Integral::down) result = result > a ? result - one : result;
  if (mode == Integral::up) result = result < a ? result + one : result;
  if (mode == Integral::up) result = (V)((U)result | sign);  // -0.5 becomes -0
  return magnitude < big ? result : a;                       // also infinities and NaN
}

// min and max. A NaN loses against a number unless .NaN; -0 is less than +0; .xorsign.abs compares magnitudes
// and gives the result the exclusive or of the signs.
struct ExtremumMods {
  bool ftz, nan, xorsign;
  SIMTLAB_INLINE explicit ExtremumMods(const XInst& x)
      : ftz(x.inst->mods.ftz), nan(x.inst->mods.nan), xorsign(x.inst->mods.xorsign) {}
};
template <bool is_max, class V>
SIMTLAB_INLINE V extremum(V a, V b, ExtremumMods mods) {
  using U = AsU<V>;
  const U sign = ((U)a ^ (U)b) & Layout<V>::sign;
  if (mods.xorsign) {
    a = (V)((U)a & ~Layout<V>::sign);
    b = (V)((U)b & ~Layout<V>::sign);
  }
  V r = is_max ? (a > b ? a : b) : (a < b ? a : b);
  r = a == b ? (V)(is_max ? (U)a & (U)b : (U)a | (U)b) : r;
  r = b == b ? r : a;
  r = a == a ? r : b;
  const V result = mods.xorsign ? (V)((U)r | sign) : r;
  constexpr auto nan_bits = sizeof(Elem<V>) == 4 ? (Elem<U>)0x7fffffffu : (Elem<U>)0x7ff8000000000000ull;
  const auto number = (a == a) & (b == b);
  return blend(mods.nan ? (AsS<V>)number : (AsS<V>)(r == r), result, (V)splat<U>(nan_bits));
}

}  // namespace simtlab::exec::SIMTLAB_ISA
