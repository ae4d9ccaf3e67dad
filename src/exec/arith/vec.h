// Explicit vectors over rows for the arithmetic handlers, and the loops that apply an operation to the lanes
// of a warp.
//
// Compiled once per instruction set (SIMTLAB_ISA is baseline, avx2 or avx512), everything in that namespace;
// rules of such files: exec/rules.cmake. Two loops:
//   run<F, D, S...>   F works on vectors of row elements (u32, s32, float, u64, s64, double)
//   each<F, D, S...>  F works on single lanes with the value types of PTX (s8 ... u64, float, double): rare
//   or scalar operations
// Rows may alias, also a 32-bit row inside a 64-bit one: sources are read before anything that overlaps them
// is stored. Both write active lanes only. F is constructed from the XInst, so that it can pick up what the
// instruction fixes.
#pragma once

#if defined(__SSE2__)
// g++ 12 warns about its own headers: the undefined vectors in them are meant.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

#include <cstdint>

#include "exec/warp.h"

#ifndef SIMTLAB_ISA
#error "handler sources are compiled once per instruction set, with SIMTLAB_ISA defined"
#endif

namespace simtlab::exec::SIMTLAB_ISA {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;

inline constexpr unsigned vector_bytes = SIMTLAB_VECTOR_BYTES;
inline constexpr unsigned warp_lanes = 32;
inline constexpr u32 all_lanes = 0xffffffffu;

template <class T, unsigned L>
struct VecOf {
  typedef T type __attribute__((vector_size(sizeof(T) * L)));
};
template <class T, unsigned L>
using Vec = typename VecOf<T, L>::type;

template <class T>
struct Plain {
  using type = T;
};
template <class T>
struct Plain<T&> {
  using type = T;
};
template <class T>
struct Plain<T&&> {
  using type = T;
};
// Element type and lane count of a vector.
template <class V>
using Elem = typename Plain<decltype(V{}[0])>::type;
template <class V>
inline constexpr unsigned lanes_of = sizeof(V) / sizeof(Elem<V>);

template <unsigned bytes>
struct Sized {
  using u = u32;
  using s = s32;
  using f = float;
};
template <>
struct Sized<8> {
  using u = u64;
  using s = s64;
  using f = double;
};
// The vector with elements of the same size that are unsigned, signed, floating.
template <class V>
using AsU = Vec<typename Sized<sizeof(Elem<V>)>::u, lanes_of<V>>;
template <class V>
using AsS = Vec<typename Sized<sizeof(Elem<V>)>::s, lanes_of<V>>;
template <class V>
using AsF = Vec<typename Sized<sizeof(Elem<V>)>::f, lanes_of<V>>;

template <class V>
SIMTLAB_INLINE V splat(Elem<V> x) {
  return x - V{};  // x - 0 is x for every x, -0 too
}
template <class V>
SIMTLAB_INLINE V load(const std::byte* row, unsigned lane) {
  V v;
  __builtin_memcpy(&v, __builtin_assume_aligned(row + lane * sizeof(Elem<V>), sizeof(V)), sizeof v);
  return v;
}
template <class V>
SIMTLAB_INLINE void store(std::byte* row, unsigned lane, V v) {
  __builtin_memcpy(__builtin_assume_aligned(row + lane * sizeof(Elem<V>), sizeof(V)), &v, sizeof v);
}
// m ? a : b by bits; every lane of m is 0 or ~0.
template <class V, class M>
SIMTLAB_INLINE V blend(M m, V a, V b) {
  using U = AsU<V>;
  return (V)(((U)m & (U)a) | (~(U)m & (U)b));
}

// Active lanes as a vector mask for elements like V's.
template <class V>
SIMTLAB_INLINE AsS<V> lane_mask(const WarpCtx& w, unsigned lane) {
  using M = Vec<s32, lanes_of<V>>;
  M m;
  __builtin_memcpy(&m, w.lanes + lane, sizeof m);
  return __builtin_convertvector(m, AsS<V>);
}
// Bits lane.. of a predicate word as a vector mask.
template <class V>
SIMTLAB_INLINE AsS<V> expand_bits(u32 bits, unsigned lane) {
  using U = AsU<V>;
  U bit;
  for (unsigned i = 0; i < lanes_of<V>; ++i) bit[i] = Elem<U>{1} << i;
  return (AsS<V>)((splat<U>(bits >> lane) & bit) == bit);
}
// One bit a lane of a vector mask.
template <class M>
SIMTLAB_INLINE u32 pack_bits(M m) {
#if defined(__AVX512F__)
  if constexpr (sizeof(M) == 64 && sizeof(Elem<M>) == 4) return _mm512_movepi32_mask((__m512i)m);
  if constexpr (sizeof(M) == 64 && sizeof(Elem<M>) == 8) return _mm512_movepi64_mask((__m512i)m);
  if constexpr (sizeof(M) == 32 && sizeof(Elem<M>) == 4) return _mm256_movepi32_mask((__m256i)m);
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(M) == 32 && sizeof(Elem<M>) == 4) return (u32)_mm256_movemask_ps((__m256)m);
  if constexpr (sizeof(M) == 32 && sizeof(Elem<M>) == 8) return (u32)_mm256_movemask_pd((__m256d)m);
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(M) == 16 && sizeof(Elem<M>) == 4) return (u32)_mm_movemask_ps((__m128)m);
  if constexpr (sizeof(M) == 16 && sizeof(Elem<M>) == 8) return (u32)_mm_movemask_pd((__m128d)m);
#endif
  u32 bits = 0;
  for (unsigned i = 0; i < lanes_of<M>; ++i) bits |= (u32)(m[i] & 1) << i;
  return bits;
}

template <class V>
SIMTLAB_INLINE void store_active(const WarpCtx& w, std::byte* row, unsigned lane, V v) {
  store(row, lane, blend(lane_mask<V>(w, lane), v, load<V>(row, lane)));
}

// Operations without state derive from this.
struct Stateless {
  SIMTLAB_INLINE explicit Stateless(const XInst&) {}
};

// An operation on vectors a, b, c of one type V whose result has V's layout.
#define SIMTLAB_OP1(Name, ...)               \
  struct Name : Stateless {                  \
    using Stateless::Stateless;              \
    template <class V>                       \
    SIMTLAB_INLINE V operator()(V a) const { \
      return (V)(__VA_ARGS__);               \
    }                                        \
  };
#define SIMTLAB_OP2(Name, ...)                    \
  struct Name : Stateless {                       \
    using Stateless::Stateless;                   \
    template <class V>                            \
    SIMTLAB_INLINE V operator()(V a, V b) const { \
      return (V)(__VA_ARGS__);                    \
    }                                             \
  };
#define SIMTLAB_OP3(Name, ...)                         \
  struct Name : Stateless {                            \
    using Stateless::Stateless;                        \
    template <class V>                                 \
    SIMTLAB_INLINE V operator()(V a, V b, V c) const { \
      return (V)(__VA_ARGS__);                         \
    }                                                  \
  };

template <class... S>
inline constexpr unsigned widest = 4;
template <class T, class... S>
inline constexpr unsigned widest<T, S...> = sizeof(T) > widest<S...> ? (unsigned)sizeof(T) : widest<S...>;
template <class T, class... S>
inline constexpr bool same_size = ((sizeof(T) == sizeof(S)) && ...);

// Result of F for the lane group of L lanes that starts at `lane`.
template <class F, unsigned L, class S0>
SIMTLAB_INLINE auto apply(const F& f, const WarpCtx& w, const XInst& x, unsigned lane) {
  return f(load<Vec<S0, L>>(w.row(x.src[0]), lane));
}
template <class F, unsigned L, class S0, class S1>
SIMTLAB_INLINE auto apply(const F& f, const WarpCtx& w, const XInst& x, unsigned lane) {
  return f(load<Vec<S0, L>>(w.row(x.src[0]), lane), load<Vec<S1, L>>(w.row(x.src[1]), lane));
}
template <class F, unsigned L, class S0, class S1, class S2>
SIMTLAB_INLINE auto apply(const F& f, const WarpCtx& w, const XInst& x, unsigned lane) {
  return f(load<Vec<S0, L>>(w.row(x.src[0]), lane), load<Vec<S1, L>>(w.row(x.src[1]), lane),
           load<Vec<S2, L>>(w.row(x.src[2]), lane));
}

// F on operands whose inactive lanes are zero, for masked work in floating point: what happens to lie there
// might be a subnormal number, which costs processors a hundred cycles.
template <class F>
struct Quiet {
  const F& f;
  const WarpCtx& w;
  unsigned lane;
  template <class V>
  SIMTLAB_INLINE V operand(V v) const {
    if constexpr (Elem<V>(0.5) == Elem<V>(0))
      return v;
    else
      return (V)((AsU<V>)v & (AsU<V>)lane_mask<V>(w, lane));
  }
  template <class... V>
  SIMTLAB_INLINE auto operator()(V... v) const {
    return f(operand(v)...);
  }
};

// The vector loop. L lanes at a time: as many as fit the widest element in one vector register, unless F
// works on wider intermediate values (F::wide = bytes of the widest).
template <class F>
concept HasWide = requires {
  F::wide;
};
template <class F>
inline constexpr unsigned inner_bytes = 4;
template <HasWide F>
inline constexpr unsigned inner_bytes<F> = F::wide;

template <class F, class D, class... S>
void run(WarpCtx& w, const XInst& x) {
  constexpr unsigned bytes = widest < D, S... >> inner_bytes<F> ? widest<D, S...> : inner_bytes<F>;
  constexpr unsigned L = vector_bytes / bytes;
  const F f(x);
  std::byte* dst = w.row(x.dst);
  if constexpr (same_size<D, S...>) {
    if (w.mask == all_lanes) {
#pragma GCC unroll 4
      for (unsigned i = 0; i < warp_lanes; i += L)
        store<Vec<D, L>>(dst, i, (Vec<D, L>)apply<F, L, S...>(f, w, x, i));
    } else {
#pragma GCC unroll 2
      for (unsigned i = 0; i < warp_lanes; i += L) {
        const Quiet<F> q{f, w, i};
        store_active<Vec<D, L>>(w, dst, i, (Vec<D, L>)apply<Quiet<F>, L, S...>(q, w, x, i));
      }
    }
  } else {
    Vec<D, L> result[warp_lanes / L];
    if (w.mask == all_lanes) {
#pragma GCC unroll 4
      for (unsigned i = 0; i < warp_lanes / L; ++i) result[i] = (Vec<D, L>)apply<F, L, S...>(f, w, x, i * L);
#pragma GCC unroll 4
      for (unsigned i = 0; i < warp_lanes / L; ++i) store(dst, i * L, result[i]);
    } else {
#pragma GCC unroll 2
      for (unsigned i = 0; i < warp_lanes / L; ++i) {
        const Quiet<F> q{f, w, i * L};
        result[i] = (Vec<D, L>)apply<Quiet<F>, L, S...>(q, w, x, i * L);
      }
#pragma GCC unroll 2
      for (unsigned i = 0; i < warp_lanes / L; ++i) store_active(w, dst, i * L, result[i]);
    }
  }
}

// Rows of values of type T have elements of this type.
template <class T>
using RowElem = typename Sized<sizeof(T) == 8 ? 8 : 4>::u;
template <class T>
struct Bits {
  using type = RowElem<T>;
};
template <>
struct Bits<u8> {
  using type = u8;
};
template <>
struct Bits<s8> {
  using type = u8;
};
template <>
struct Bits<u16> {
  using type = u16;
};
template <>
struct Bits<s16> {
  using type = u16;
};

// Value of one lane; narrow types are the low bits of their element.
template <class T>
SIMTLAB_INLINE T get(const std::byte* row, unsigned lane) {
  T v;
  __builtin_memcpy(&v, row + lane * sizeof(RowElem<T>), sizeof v);
  return v;
}
// What a row holds for a value: its bits, zero-extended.
template <class T>
SIMTLAB_INLINE RowElem<T> row_bits(T value) {
  typename Bits<T>::type bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
// Stores the active lanes of a whole row of results.
template <class E>
SIMTLAB_INLINE void store_row(const WarpCtx& w, std::byte* dst, const E (&result)[warp_lanes]) {
  using V = Vec<E, vector_bytes / sizeof(E)>;
  const std::byte* from = reinterpret_cast<const std::byte*>(result);
  for (unsigned i = 0; i < warp_lanes; i += lanes_of<V>) store_active<V>(w, dst, i, load<V>(from, i));
}

template <class F, class S0>
SIMTLAB_INLINE auto apply_one(const F& f, const WarpCtx& w, const XInst& x, unsigned lane) {
  return f(get<S0>(w.row(x.src[0]), lane));
}
template <class F, class S0, class S1>
SIMTLAB_INLINE auto apply_one(const F& f, const WarpCtx& w, const XInst& x, unsigned lane) {
  return f(get<S0>(w.row(x.src[0]), lane), get<S1>(w.row(x.src[1]), lane));
}
template <class F, class S0, class S1, class S2>
SIMTLAB_INLINE auto apply_one(const F& f, const WarpCtx& w, const XInst& x, unsigned lane) {
  return f(get<S0>(w.row(x.src[0]), lane), get<S1>(w.row(x.src[1]), lane), get<S2>(w.row(x.src[2]), lane));
}
template <class F, class S0, class S1, class S2, class S3>
SIMTLAB_INLINE auto apply_one(const F& f, const WarpCtx& w, const XInst& x, unsigned lane) {
  return f(get<S0>(w.row(x.src[0]), lane), get<S1>(w.row(x.src[1]), lane), get<S2>(w.row(x.src[2]), lane),
           get<S3>(w.row(x.src[3]), lane));
}

// The lane loop: only active lanes are computed.
template <class F, class D, class... S>
void each(WarpCtx& w, const XInst& x) {
  const F f(x);
  alignas(64) RowElem<D> result[warp_lanes];
  __builtin_memset(result, 0, sizeof result);
  for (u32 m = w.mask; m != 0; m &= m - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(m);
    result[lane] = row_bits<D>((D)apply_one<F, S...>(f, w, x, lane));
  }
  store_row(w, w.row(x.dst), result);
}

}  // namespace simtlab::exec::SIMTLAB_ISA
