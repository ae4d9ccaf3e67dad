// 64-bit values in two rows, low and high words, as machine code has them. A vector of each is taken apart
// into the values of the even lanes and those of the odd ones, which needs shifts and masks alone.
#pragma once

#include "exec/arith/vec.h"

namespace simtlab::exec::SIMTLAB_ISA {

using Words = Vec<u32, vector_bytes / 4>;
using Doublewords = Vec<u64, vector_bytes / 8>;
inline constexpr unsigned pair_lanes = vector_bytes / 4;
inline constexpr unsigned word_row = warp_lanes * 4;  // bytes

SIMTLAB_INLINE Doublewords low_mask() { return splat<Doublewords>(0xffffffffu); }

struct EvenOdd {
  Doublewords even, odd;
};
// The low words of a and b, then their high words: {a0 b0 ...} and {a1 b1 ...}. Done twice it changes
// nothing.
SIMTLAB_INLINE EvenOdd exchange(Doublewords a, Doublewords b) {
#if defined(__AVX512F__)
  return {(Doublewords)_mm512_mask_shuffle_epi32((__m512i)a, 0xaaaa, (__m512i)b, _MM_PERM_CCAA),
          (Doublewords)_mm512_mask_shuffle_epi32((__m512i)b, 0x5555, (__m512i)a, _MM_PERM_DDBB)};
#elif defined(__AVX2__)
  return {(Doublewords)_mm256_blend_epi32((__m256i)a, (__m256i)(b << 32), 0xaa),
          (Doublewords)_mm256_blend_epi32((__m256i)b, (__m256i)(a >> 32), 0x55)};
#else
  return {(a & low_mask()) | (b << 32), (a >> 32) | (b & ~low_mask())};
#endif
}
SIMTLAB_INLINE EvenOdd split(Words low, Words high) { return exchange((Doublewords)low, (Doublewords)high); }
SIMTLAB_INLINE EvenOdd load_pair(const std::byte* low, const std::byte* high, unsigned lane) {
  return split(load<Words>(low, lane), load<Words>(high, lane));
}
SIMTLAB_INLINE Words low_words(EvenOdd v) { return (Words)exchange(v.even, v.odd).even; }
SIMTLAB_INLINE Words high_words(EvenOdd v) { return (Words)exchange(v.even, v.odd).odd; }
SIMTLAB_INLINE void store_pair(const WarpCtx& w, bool all, std::byte* low, std::byte* high, unsigned lane,
                               EvenOdd v) {
  if (all) {
    store(low, lane, low_words(v));
    store(high, lane, high_words(v));
  } else {
    store_active(w, low, lane, low_words(v));
    store_active(w, high, lane, high_words(v));
  }
}
// The low, and the high, words of 64-bit values side by side: those of a, then those of b.
SIMTLAB_INLINE Words words_of(Doublewords a, Doublewords b, bool high) {
#if defined(__AVX512F__)
  const __m512i low = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  return (Words)_mm512_permutex2var_epi32((__m512i)a, _mm512_add_epi32(low, _mm512_set1_epi32(high ? 1 : 0)),
                                          (__m512i)b);
#else
  Words out;
  constexpr unsigned half = lanes_of<Doublewords>;
  const int shift = high ? 32 : 0;
  for (unsigned i = 0; i < half; ++i) {
    out[i] = (u32)(a[i] >> shift);
    out[half + i] = (u32)(b[i] >> shift);
  }
  return out;
#endif
}
// Words of two rows to 64-bit values side by side, in the order of the lanes.
struct Halves {
  Doublewords first, second;
};
SIMTLAB_INLINE Halves side_by_side(Words low, Words high) {
#if defined(__AVX512F__)
  const __m512i first = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  const __m512i a = _mm512_permutex2var_epi32((__m512i)low, first, (__m512i)high),
                b = _mm512_permutex2var_epi32((__m512i)low, _mm512_add_epi32(first, _mm512_set1_epi32(8)),
                                              (__m512i)high);
#elif defined(__AVX2__)
  const __m256i p = _mm256_unpacklo_epi32((__m256i)low, (__m256i)high),
                q = _mm256_unpackhi_epi32((__m256i)low, (__m256i)high);
  const __m256i a = _mm256_permute2x128_si256(p, q, 0x20), b = _mm256_permute2x128_si256(p, q, 0x31);
#elif defined(__SSE2__)
  const __m128i a = _mm_unpacklo_epi32((__m128i)low, (__m128i)high),
                b = _mm_unpackhi_epi32((__m128i)low, (__m128i)high);
#else
  Doublewords a, b;
  for (unsigned i = 0; i < pair_lanes / 2; ++i) {
    a[i] = low[i] | (u64)high[i] << 32;
    b[i] = low[pair_lanes / 2 + i] | (u64)high[pair_lanes / 2 + i] << 32;
  }
#endif
  return {(Doublewords)a, (Doublewords)b};
}

// 64-bit values of pair_lanes lanes in the order that costs least: where only lanes of one number meet, any
// order will do that is the same for all operands.
struct AnyOrder {
  Doublewords first, second;
};
// Read once: the compiler would read a row again for each use of it.
SIMTLAB_INLINE Words loaded(Words v) {
#if defined(__AVX512F__)
  asm("" : "+v"(v));
#elif defined(__SSE2__)
  asm("" : "+x"(v));
#endif
  return v;
}
SIMTLAB_INLINE AnyOrder any_order(Words low, Words high) {
#if defined(__AVX512F__)
  return {(Doublewords)_mm512_unpacklo_epi32((__m512i)low, (__m512i)high),
          (Doublewords)_mm512_unpackhi_epi32((__m512i)low, (__m512i)high)};
#elif defined(__AVX2__)
  return {(Doublewords)_mm256_unpacklo_epi32((__m256i)low, (__m256i)high),
          (Doublewords)_mm256_unpackhi_epi32((__m256i)low, (__m256i)high)};
#elif defined(__SSE2__)
  return {(Doublewords)_mm_unpacklo_epi32((__m128i)low, (__m128i)high),
          (Doublewords)_mm_unpackhi_epi32((__m128i)low, (__m128i)high)};
#else
  const EvenOdd v = split(low, high);
  return {v.even, v.odd};
#endif
}
struct TwoRows {
  Words low, high;
};
SIMTLAB_INLINE TwoRows rows_of(const AnyOrder& v) {
#if defined(__AVX512F__)
  const auto a = (__m512)v.first, b = (__m512)v.second;
  return {(Words)_mm512_shuffle_ps(a, b, 0x88), (Words)_mm512_shuffle_ps(a, b, 0xdd)};
#elif defined(__AVX2__)
  const auto a = (__m256)v.first, b = (__m256)v.second;
  return {(Words)_mm256_shuffle_ps(a, b, 0x88), (Words)_mm256_shuffle_ps(a, b, 0xdd)};
#elif defined(__SSE2__)
  const auto a = (__m128)v.first, b = (__m128)v.second;
  return {(Words)_mm_shuffle_ps(a, b, 0x88), (Words)_mm_shuffle_ps(a, b, 0xdd)};
#else
  return {low_words({v.first, v.second}), high_words({v.first, v.second})};
#endif
}
// The active lanes of both.
SIMTLAB_INLINE AnyOrder active_lanes(const WarpCtx& w, unsigned lane) {
  Words m;
  __builtin_memcpy(&m, w.lanes + lane, sizeof m);
  return any_order(m, m);
}

}  // namespace simtlab::exec::SIMTLAB_ISA
