// Bit manipulation: popc, clz, bfind, fns, brev, bfe, bfi, bmsk, szext, lop3, shf, prmt.
#include "exec/arith/select.h"
#include "ptx/machine_ops.h"

namespace simtlab::exec::SIMTLAB_ISA {
namespace {

using ptx::BoolOp;
using ptx::Op;
using ptx::PrmtMode;
using ptx::Type;

template <class T>
struct Popc : Stateless {
  using Stateless::Stateless;
  u32 operator()(T a) const { return (u32)__builtin_popcountll(a); }
};
template <class T>
struct Clz : Stateless {
  using Stateless::Stateless;
  u32 operator()(T a) const {
    return a == 0 ? 8 * sizeof(T) : (u32)__builtin_clzll(a) - (64 - 8 * (u32)sizeof(T));
  }
};
// Position of the highest bit that differs from the sign; ~0 if there is none.
template <class T>
struct Bfind {
  bool shift_amount;
  explicit Bfind(const XInst& x) : shift_amount(x.inst->mods.shift_amount) {}
  u32 operator()(T a) const {
    constexpr u32 top = 8 * sizeof(T) - 1;
    const u64 bits = a < 0 ? ~(u64)a : (u64)a;
    if (bits == 0) return ~0u;
    const u32 position = 63 - (u32)__builtin_clzll(bits);
    return shift_amount ? top - position : position;
  }
};
struct Fns : Stateless {
  using Stateless::Stateless;
  u32 operator()(u32 mask, u32 base, s32 offset) const {
    if (offset == 0) return base < 32 && (mask >> base & 1) != 0 ? base : ~0u;
    const u32 step = offset > 0 ? 1 : ~0u;
    u32 left = offset > 0 ? (u32)offset : 0 - (u32)offset;
    for (u32 at = base; at < 32; at += step)
      if ((mask >> at & 1) != 0 && --left == 0) return at;
    return ~0u;
  }
};
template <class T>
struct Brev : Stateless {
  using Stateless::Stateless;
  T operator()(T a) const {
    u64 v = a;
    v = (v >> 1 & 0x5555555555555555ull) | (v & 0x5555555555555555ull) << 1;
    v = (v >> 2 & 0x3333333333333333ull) | (v & 0x3333333333333333ull) << 2;
    v = (v >> 4 & 0x0f0f0f0f0f0f0f0full) | (v & 0x0f0f0f0f0f0f0f0full) << 4;
    return (T)(__builtin_bswap64(v) >> (64 - 8 * sizeof(T)));
  }
};
template <class T>
SIMTLAB_INLINE T low_mask(u32 bits) {
  return bits >= 8 * sizeof(T) ? (T)~T{0} : (T)((T{1} << bits) - 1);
}
// T unsigned: the field is zero-extended; signed: by its top bit, which is the value's sign if the field
// reaches beyond it.
template <class T>
struct Bfe : Stateless {
  using Stateless::Stateless;
  T operator()(T a, u32 b, u32 c) const {
    using U = RowElem<T>;
    constexpr u32 top = 8 * sizeof(T) - 1;
    const u32 pos = b & 0xff, len = c & 0xff;
    const U field = pos > top ? 0 : (U)a >> pos;
    const u32 inside = pos > top ? 0 : len < top + 1 - pos ? len : top + 1 - pos;
    const U mask = low_mask<U>(inside);
    const u32 last = pos + len - 1 < top ? pos + len - 1 : top;
    const bool ones = T(-1) < T(0) && len != 0 && ((U)a >> last & 1) != 0;
    return (T)((field & mask) | (ones ? ~mask : 0));
  }
};
template <class T>
struct Bfi : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b, u32 c, u32 d) const {
    const u32 pos = c & 0xff, len = d & 0xff;
    if (pos >= 8 * sizeof(T)) return b;
    const T mask = (T)(low_mask<T>(len) << pos);
    return (T)((b & ~mask) | ((a << pos) & mask));
  }
};
struct Bmsk {
  bool clamp;
  explicit Bmsk(const XInst& x) : clamp(!x.inst->mods.wrap) {}
  u32 operator()(u32 a, u32 b) const {
    if (clamp && a >= 32) return 0;
    const u32 start = a & 31, end = start + (b & 31);
    const bool over = end >= 32 || (clamp && b >= 32);
    return (~0u << start) & ~(over ? 0 : ~0u << end);
  }
};
struct Szext {
  bool clamp, is_signed;
  explicit Szext(const XInst& x) : clamp(!x.inst->mods.wrap), is_signed(x.inst->type == Type::s32) {}
  u32 operator()(u32 a, u32 b) const {
    if (clamp && b >= 32) return a;
    const u32 width = b & 31, mask = ~0u << width;
    const bool ones = is_signed && width != 0 && (a >> (width - 1) & 1) != 0;
    return (a & ~mask) | (ones ? mask : 0);
  }
};

// The table is a tree of choices: c picks in pairs, b among the pairs, a between the halves.
struct Lop3 {
  u32 lut[8];
  SIMTLAB_INLINE explicit Lop3(const XInst& x) {
    for (unsigned k = 0; k < 8; ++k) lut[k] = (x.inst->mods.lut >> k & 1) != 0 ? ~0u : 0;
  }
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b, V c) const {
    const V low = choose(b, leaf(c, 2), leaf(c, 0)), high = choose(b, leaf(c, 6), leaf(c, 4));
    return choose(a, high, low);
  }

 private:
  template <class V>
  SIMTLAB_INLINE static V choose(V by, V one, V zero) {
    return zero ^ (by & (one ^ zero));
  }
  template <class V>
  SIMTLAB_INLINE V leaf(V c, unsigned k) const {
    return choose(c, splat<V>(lut[k + 1]), splat<V>(lut[k]));
  }
};
// lop3.BoolOp: p = (d != 0) op q.
void lop3_pred(WarpCtx& w, const XInst& x) {
  using V = Vec<u32, vector_bytes / 4>;
  const Lop3 f(x);
  u32 nonzero = 0;
  std::byte* dst = w.row(x.dst);
  for (unsigned i = 0; i < warp_lanes; i += lanes_of<V>) {
    const V r = apply<Lop3, lanes_of<V>, u32, u32, u32>(f, w, x, i);
    nonzero |= pack_bits((AsS<V>)(r != V{})) << i;
    store_active(w, dst, i, r);
  }
  const u32 q = x.psrc[0] == no_pred ? 0 : w.pred(x.psrc[0]);
  switch (x.inst->mods.bool_op) {
    case BoolOp::and_: nonzero &= q; break;
    case BoolOp::or_: nonzero |= q; break;
    case BoolOp::xor_: nonzero ^= q; break;
    default: break;
  }
  if (x.pdst != no_pred) w.set_pred(x.pdst, nonzero);
}

template <class V>
SIMTLAB_INLINE Vec<u64, lanes_of<V>> join(V low, V high) {
  using W = Vec<u64, lanes_of<V>>;
  return __builtin_convertvector(low, W) | (__builtin_convertvector(high, W) << 32);
}
template <bool left>
struct Shf {
  static constexpr unsigned wide = 8;
  bool wrap;
  SIMTLAB_INLINE explicit Shf(const XInst& x) : wrap(x.inst->mods.wrap) {}
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b, V c) const {
    using W = Vec<u64, lanes_of<V>>;
    const V limit = splat<V>(32);
    const W n = __builtin_convertvector(wrap ? c & 31 : (c < limit ? c : limit), W);
    const W both = join(a, b);
    return __builtin_convertvector(left ? (both << n) >> 32 : both >> n, V);
  }
};

struct Prmt {
  static constexpr unsigned wide = 8;
  PrmtMode mode;
  SIMTLAB_INLINE explicit Prmt(const XInst& x) : mode(x.inst->mods.prmt) {}
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b, V c) const {
    using W = Vec<u64, lanes_of<V>>;
    const W bytes = join(a, b),
            selector = __builtin_convertvector(mode == PrmtMode::none ? c : selectors(c), W);
    W r{};
    for (unsigned i = 0; i < 4; ++i) {
      const W pick = selector >> (4 * i);
      const W byte = (bytes >> ((pick & 7) << 3)) & 0xff;
      const W sign = (W{} - (byte >> 7)) & 0xff;
      r |= blend((W)((pick & 8) != W{}), sign, byte) << (8 * i);
    }
    return __builtin_convertvector(r, V);
  }

 private:
  // The special modes as selectors of the general one, by the low two bits of c.
  template <class V>
  SIMTLAB_INLINE V selectors(V c) const {
    static constexpr u32 table[6][4] = {{0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
                                        {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
                                        {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
    const u32(&row)[4] = table[(unsigned)mode - (unsigned)PrmtMode::f4e];
    V r = splat<V>(row[0]);
    for (u32 k = 1; k < 4; ++k) r = (c & 3) == splat<V>(k) ? splat<V>(row[k]) : r;
    return r;
  }
};

// prmt with a selector that is known before it runs.
struct PrmtKnown {
  u32 selector;
#if defined(__AVX2__)
  u32 from_a = 0, from_b = 0;  // for shuffles of bytes: 0x80 gives 0
  bool signs;
#endif
  SIMTLAB_INLINE explicit PrmtKnown(const XInst& x) : selector(x.inst->mods.video & 0xffff) {
#if defined(__AVX2__)
    for (unsigned i = 0; i < 4; ++i) {
      const u32 pick = selector >> (4 * i) & 7;
      from_a |= (pick < 4 ? pick : 0x80) << (8 * i);
      from_b |= (pick < 4 ? 0x80 : pick - 4) << (8 * i);
    }
    signs = (selector & 0x8888) != 0;
#endif
  }
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b, V) const {
#if defined(__AVX512BW__)
    if constexpr (sizeof(V) == 64)
      if (!signs)
        return (V)_mm512_or_si512(_mm512_shuffle_epi8((__m512i)a, (__m512i)control<V>(from_a)),
                                  _mm512_shuffle_epi8((__m512i)b, (__m512i)control<V>(from_b)));
#elif defined(__AVX2__)
    if constexpr (sizeof(V) == 32)
      if (!signs)
        return (V)_mm256_or_si256(_mm256_shuffle_epi8((__m256i)a, (__m256i)control<V>(from_a)),
                                  _mm256_shuffle_epi8((__m256i)b, (__m256i)control<V>(from_b)));
#endif
    V r{};
    for (unsigned i = 0; i < 4; ++i) {
      const u32 pick = selector >> (4 * i) & 15;
      const V word = (pick & 4) == 0 ? a : b;
      const s32 up = (s32)(24 - 8 * (pick & 3));  // brings the byte to the top
      const V top = word << up;
      r |= ((pick & 8) == 0 ? top >> 24 : (V)((AsS<V>)top >> 31) & 0xff) << (s32)(8 * i);
    }
    return r;
  }

#if defined(__AVX2__)
 private:
  // Bytes are chosen inside 16 of them.
  template <class V>
  SIMTLAB_INLINE static V control(u32 word) {
    V v = splat<V>(word);
    for (unsigned i = 0; i < lanes_of<V>; ++i) v[i] += 0x04040404u * (i % 4);
    return v;
  }
#endif
};

Handler select_bfind(Type type) {
  switch (type) {
    case Type::u32: return each<Bfind<u32>, u32, u32>;
    case Type::s32: return each<Bfind<s32>, u32, s32>;
    case Type::u64: return each<Bfind<u64>, u32, u64>;
    case Type::s64: return each<Bfind<s64>, u32, s64>;
    default: return nullptr;
  }
}
Handler select_bfe(Type type) {
  switch (type) {
    case Type::u32: return each<Bfe<u32>, u32, u32, u32, u32>;
    case Type::s32: return each<Bfe<s32>, s32, s32, u32, u32>;
    case Type::u64: return each<Bfe<u64>, u64, u64, u32, u32>;
    case Type::s64: return each<Bfe<s64>, s64, s64, u32, u32>;
    default: return nullptr;
  }
}
Handler by_size(Type type, Handler four, Handler eight) {
  const unsigned bytes = ptx_bytes(type);
  return bytes == 4 ? four : bytes == 8 ? eight : nullptr;
}

}  // namespace

Handler select_bits(const ptx::Inst& inst) {
  const Type type = inst.type;
  switch (inst.op) {
    case Op::popc: return by_size(type, each<Popc<u32>, u32, u32>, each<Popc<u64>, u32, u64>);
    case Op::clz: return by_size(type, each<Clz<u32>, u32, u32>, each<Clz<u64>, u32, u64>);
    case Op::bfind: return select_bfind(type);
    case Op::fns: return each<Fns, u32, u32, u32, s32>;
    case Op::brev: return by_size(type, each<Brev<u32>, u32, u32>, each<Brev<u64>, u64, u64>);
    case Op::bfe: return select_bfe(type);
    case Op::bfi:
      return by_size(type, each<Bfi<u32>, u32, u32, u32, u32, u32>, each<Bfi<u64>, u64, u64, u64, u32, u32>);
    case Op::bmsk: return each<Bmsk, u32, u32, u32>;
    case Op::szext: return each<Szext, u32, u32, u32>;
    case Op::lop3:
      return inst.mods.bool_op != BoolOp::none || inst.dst_count > 1 ? lop3_pred
                                                                     : run<Lop3, u32, u32, u32, u32>;
    case Op::shf:
      return inst.mods.left ? run<Shf<true>, u32, u32, u32, u32> : run<Shf<false>, u32, u32, u32, u32>;
    case Op::prmt:
      return (inst.mods.video & ptx::prmt_known) != 0 ? run<PrmtKnown, u32, u32, u32, u32>
                                                      : run<Prmt, u32, u32, u32, u32>;
    default: return nullptr;
  }
}

}  // namespace simtlab::exec::SIMTLAB_ISA
