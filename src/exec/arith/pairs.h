// 64-bit values in two rows, low and high words, as machine code has them. A vector of each is taken apart
// into the values of the even lanes and those of the odd ones, which needs shifts and masks alone.
#pragma once

#include "exec/arith/vec.h"

namespace simtlab::exec::SIMTLAB_ISA {

using Words = Vec<u32, vector_bytes / 4>;
using Doublewords = Vec<u64, vector_bytes / 8>;
inline constexpr unsigned pair_lanes = vector_bytes / 4;

SIMTLAB_INLINE Doublewords low_mask() { return splat<Doublewords>(0xffffffffu); }

struct EvenOdd {
  Doublewords even, odd;
};
SIMTLAB_INLINE EvenOdd split(Words low, Words high) {
  const auto l = (Doublewords)low, h = (Doublewords)high;
  return {(l & low_mask()) | (h << 32), (l >> 32) | (h & ~low_mask())};
}
SIMTLAB_INLINE EvenOdd load_pair(const std::byte* low, const std::byte* high, unsigned lane) {
  return split(load<Words>(low, lane), load<Words>(high, lane));
}
SIMTLAB_INLINE Words low_words(EvenOdd v) { return (Words)((v.even & low_mask()) | (v.odd << 32)); }
SIMTLAB_INLINE Words high_words(EvenOdd v) { return (Words)((v.even >> 32) | (v.odd & ~low_mask())); }
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
// The active lanes of both.
SIMTLAB_INLINE EvenOdd active_pairs(const WarpCtx& w, unsigned lane) {
  Words m;
  __builtin_memcpy(&m, w.lanes + lane, sizeof m);
  return split(m, m);
}

}  // namespace simtlab::exec::SIMTLAB_ISA
