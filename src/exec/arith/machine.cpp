// Integer operations of machine code whose like PTX does not have: sums of three with carries, 64-bit
// products on pairs of registers, scaled sums, comparisons of high words, tables over predicates. What the
// bits of Mods::video say: ptx/machine_ops.h.
#include "exec/arith/pairs.h"
#include "exec/arith/product.h"
#include "exec/arith/select.h"
#include "ptx/machine_ops.h"

namespace simtlab::exec::SIMTLAB_ISA {
namespace {

using ptx::Op;
using U = Vec<u32, vector_bytes / 4>;
using S = AsS<U>;
inline constexpr unsigned step = lanes_of<U>;

SIMTLAB_INLINE U all_or_none(u32 bits, u32 which) { return splat<U>((bits & which) != 0 ? ~0u : 0); }
SIMTLAB_INLINE u32 bits_of(const WarpCtx& w, PredRef ref) { return ref == no_pred ? 0 : w.pred(ref); }
// As in run(): no blend where all lanes are active.
template <class V>
SIMTLAB_INLINE void put(const WarpCtx& w, bool all, std::byte* row, unsigned lane, V v) {
  if (all)
    store(row, lane, v);
  else
    store_active(w, row, lane, v);
}
// 0 or -1 a lane.
SIMTLAB_INLINE U lanes_of_bits(u32 bits, unsigned lane) {
#if defined(__AVX512F__)
  return (U)_mm512_movm_epi32((__mmask16)(bits >> lane));
#else
  return (U)expand_bits<U>(bits, lane);
#endif
}
// The lanes where a < b: where the sum a carried.
SIMTLAB_INLINE u32 less_bits(U a, U b) {
#if defined(__AVX512F__)
  return _mm512_cmp_epu32_mask((__m512i)a, (__m512i)b, _MM_CMPINT_LT);
#else
  return pack_bits((S)(a < b));
#endif
}

SIMTLAB_OP3(Add3, a + b + c)

// Carries of up to three additions: whether there is one, whether there are two.
struct Carries {
  u32 one = 0, two = 0;
  SIMTLAB_INLINE void add(u32 x, u32 y, u32 z, unsigned lane) {
    one |= (x | y | z) << lane;
    two |= ((x & y) | (z & (x | y))) << lane;
  }
  SIMTLAB_INLINE void write(WarpCtx& w, const XInst& x) const {
    if (x.pdst != no_pred) w.set_pred(x.pdst, one);
    if (x.pdst2 != no_pred) w.set_pred(x.pdst2, two);
  }
};

// What is added beside the operands of a sum: a constant, and a carry or two.
template <unsigned ins>
struct Addend {
  U constant;
  u32 first, second;
  SIMTLAB_INLINE Addend(const WarpCtx& w, const XInst& x)
      : constant(splat<U>(x.inst->mods.video >> ptx::sum_constant_shift)),
        first(ins > 0 ? bits_of(w, x.psrc[0]) : 0),
        second(ins > 1 ? bits_of(w, x.psrc[1]) : 0) {}
  SIMTLAB_INLINE U at(unsigned lane) const {
    U r = constant;
    if (ins > 0) r -= lanes_of_bits(first, lane);
    if (ins > 1) r -= lanes_of_bits(second, lane);
    return r;
  }
};

// inverts: some source is inverted, or a constant is added. ins: carries that are added; outs: whether they
// are counted.
template <bool inverts, unsigned ins, bool outs>
void iadd3(WarpCtx& w, const XInst& x) {
  const u32 bits = inverts ? x.inst->mods.video : 0;
  const U invert_a = all_or_none(bits, 1), invert_b = all_or_none(bits, 2), invert_c = all_or_none(bits, 4);
  const Addend<ins> more(w, x);
  const std::byte *ra = w.row(x.src[0]), *rb = w.row(x.src[1]), *rc = w.row(x.src[2]);
  std::byte* dst = w.row(x.dst);
  Carries carries;
  const bool all = w.mask == all_lanes;
#pragma GCC unroll 2
  for (unsigned i = 0; i < warp_lanes; i += step) {
    U a = load<U>(ra, i), b = load<U>(rb, i), c = load<U>(rc, i);
    if constexpr (inverts) a ^= invert_a, b ^= invert_b, c ^= invert_c;
    const U two = a + b, three = two + c;
    U sum = three;
    if constexpr (inverts || ins > 0) sum += more.at(i);
    if constexpr (outs)
      carries.add(less_bits(two, a), less_bits(three, two), inverts || ins > 0 ? less_bits(sum, three) : 0,
                  i);
    put(w, all, dst, i, sum);
  }
  if (outs) carries.write(w, x);
}
template <bool inverts, unsigned ins>
Handler select_iadd3_outs(const ptx::Inst& inst) {
  return inst.dst_count > 1 ? iadd3<inverts, ins, true> : iadd3<inverts, ins, false>;
}
template <bool inverts>
Handler select_iadd3_ins(const ptx::Inst& inst) {
  return inst.src_count == 3   ? select_iadd3_outs<inverts, 0>(inst)
         : inst.src_count == 4 ? select_iadd3_outs<inverts, 1>(inst)
                               : select_iadd3_outs<inverts, 2>(inst);
}
Handler select_iadd3(const ptx::Inst& inst) {
  if (inst.mods.video == 0 && inst.dst_count == 1 && inst.src_count == 3)
    return run<Add3, u32, u32, u32, u32>;
  return inst.mods.video != 0 ? select_iadd3_ins<true>(inst) : select_iadd3_ins<false>(inst);
}

// a * b + c with the product or the addend negated.
struct MadSigned {
  u32 product, addend;
  SIMTLAB_INLINE explicit MadSigned(const XInst& x)
      : product((x.inst->mods.video & ptx::product_negated) != 0 ? ~0u : 0),
        addend((x.inst->mods.video & ptx::addend_negated) != 0 ? ~0u : 0) {}
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b, V c) const {
    const V p = splat<V>(product), q = splat<V>(addend);
    return (((a * b) ^ p) - p) + ((c ^ q) - q);
  }
};

struct Xmad {
  u32 bits;
  ptx::XmadMode mode;
  SIMTLAB_INLINE explicit Xmad(const XInst& x)
      : bits(x.inst->mods.video),
        mode(static_cast<ptx::XmadMode>(x.inst->mods.video >> ptx::xmad_mode_at & 7)) {}
  template <class V>
  SIMTLAB_INLINE V half(V value, u32 high, u32 is_signed) const {
    using Signed = Vec<s32, lanes_of<V>>;
    const V top = (bits & high) != 0 ? value & 0xffff0000u : value << 16;
    return (bits & is_signed) != 0 ? (V)((Signed)top >> 16) : top >> 16;
  }
  template <class V>
  SIMTLAB_INLINE V other_half(V value, u32 high) const {
    return (bits & high) != 0 ? value & 0xffffu : value >> 16;
  }
  // 2^16 where a negative half meets another half than 0.
  template <class V>
  SIMTLAB_INLINE V of_sign(V half, V other) const {
    return ((half >> 31) & (V)(other != 0)) << 16 & 0x10000u;
  }
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b, V c) const {
    const V x = half(a, ptx::xmad_a_high, ptx::xmad_a_signed),
            y = half(b, ptx::xmad_b_high, ptx::xmad_b_signed);
    const V product = (bits & ptx::xmad_shifted) != 0 ? x * y << 16 : x * y;
    V addend = c;
    switch (mode) {
      case ptx::XmadMode::c: break;
      case ptx::XmadMode::c_low: addend = c & 0xffffu; break;
      case ptx::XmadMode::c_high: addend = c >> 16; break;
      case ptx::XmadMode::c_signs:
        addend =
            c - of_sign(x, other_half(b, ptx::xmad_b_high)) - of_sign(y, other_half(a, ptx::xmad_a_high));
        break;
      case ptx::XmadMode::c_and_b: addend = c + (b << 16); break;
    }
    const V sum = product + addend;
    return (bits & ptx::xmad_merged) != 0 ? (sum & 0xffffu) | b << 16 : sum;
  }
};

template <class V>
SIMTLAB_INLINE Wide<V> joined(V low, V high) {
  return __builtin_convertvector(low, Wide<V>) | (__builtin_convertvector(high, Wide<V>) << 32);
}

// The product of the low words of 64-bit elements. T: u32 or s32.
template <class T>
SIMTLAB_INLINE Doublewords low_product(Doublewords a, Doublewords b) {
#if defined(__AVX512F__)
  if constexpr (T(-1) < T(0)) return (Doublewords)_mm512_mul_epi32((__m512i)a, (__m512i)b);
  return (Doublewords)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  if constexpr (T(-1) < T(0)) return (Doublewords)_mm256_mul_epi32((__m256i)a, (__m256i)b);
  return (Doublewords)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
#if defined(__SSE2__)
  const auto product = (Doublewords)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
  const Doublewords product = (a & low_mask()) * (b & low_mask());
#endif
  if constexpr (T(-1) < T(0)) {
    // A negative factor was taken for one that is 2^32 above it.
    const Doublewords a_sign = Doublewords{} - (a >> 31 & 1), b_sign = Doublewords{} - (b >> 31 & 1);
    return product - ((a_sign & b) << 32) - ((b_sign & a) << 32);
  }
  return product;
#endif
}

// d:e = a * b + c:f. T: u32 or s32.
template <class T, bool plain>
void imad_wide(WarpCtx& w, const XInst& x) {
  using W = Doublewords;
  const u32 bits = x.inst->mods.video;
  const W negate = splat<W>((bits & ptx::product_negated) != 0 ? ~u64{0} : 0),
          invert = splat<W>((bits & ptx::addend_inverted) != 0 ? ~u64{0} : 0),
          constant = splat<W>(bits >> ptx::sum_constant_shift);
  const u32 in = plain ? 0 : bits_of(w, x.psrc[0]);
  const std::byte *ra = w.row(x.src[0]), *rb = w.row(x.src[1]), *rc = w.row(x.src[2]), *rf = w.row(x.src[3]);
  std::byte *low = w.row(x.dst), *high = w.row(x.dst2);
  u32 carry = 0;
  const bool all = w.mask == all_lanes;
  // The carry of each lane in both of its words
  const auto add = [&](W product, W c, W one, W & sum) __attribute__((always_inline)) {
    product = (product ^ negate) - negate;
    const W partial = product + (c ^ invert);
    sum = partial + constant + one;
    return (W)((partial < product) | (sum < partial));
  };
#pragma GCC unroll 2
  for (unsigned i = 0; i < warp_lanes; i += pair_lanes) {
    const auto a = (W)load<Words>(ra, i), b = (W)load<Words>(rb, i);
    const EvenOdd product{low_product<T>(a, b), low_product<T>(a >> 32, b >> 32)}, c = load_pair(rc, rf, i);
    EvenOdd sum;
    if constexpr (plain) {
      sum = {product.even + c.even, product.odd + c.odd};
    } else {
      const auto ones = (W)(lanes_of_bits(in, i) & 1);
      const EvenOdd carries{add(product.even, c.even, ones & low_mask(), sum.even),
                            add(product.odd, c.odd, ones >> 32, sum.odd)};
      carry |= pack_bits((S)low_words(carries)) << i;
    }
    store_pair(w, all, low, high, i, sum);
  }
  if (!plain && x.pdst != no_pred) w.set_pred(x.pdst, carry);
}
template <class T>
Handler select_imad_wide(const ptx::Inst& inst) {
  const bool plain = inst.mods.video == 0 && inst.src_count == 4 && inst.dst_count == 2;
  return plain ? imad_wide<T, true> : imad_wide<T, false>;
}

// (a << n) + b, low word.
struct LeaLow {
  u32 n;
  SIMTLAB_INLINE explicit LeaLow(const XInst& x) : n(x.inst->mods.video & 31) {}
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b) const {
    return (a << (s32)n) + b;
  }
};
struct Scaled {
  u32 n;
  bool high, extended;
  SIMTLAB_INLINE explicit Scaled(u32 bits)
      : n(bits & 31), high((bits & ptx::lea_high) != 0), extended((bits & ptx::lea_extended) != 0) {}
  SIMTLAB_INLINE U of(U a, U c) const {
    if (!high) return a << (s32)n;
    const U top = extended ? (U)((S)a >> 31) : c;
    return n == 0 ? top : (top << (s32)n) | (a >> (s32)(32 - n));
  }
};
void lea(WarpCtx& w, const XInst& x) {
  const u32 bits = x.inst->mods.video;
  const Scaled scaled(bits);
  const U invert_a = all_or_none(bits, ptx::lea_scaled_inverted),
          invert_b = all_or_none(bits, ptx::lea_b_inverted);
  const Addend<1> more(w, x);
  const std::byte *ra = w.row(x.src[0]), *rb = w.row(x.src[1]), *rc = w.row(x.src[2]);
  std::byte* dst = w.row(x.dst);
  Carries carries;
  const bool all = w.mask == all_lanes;
#pragma GCC unroll 2
  for (unsigned i = 0; i < warp_lanes; i += step) {
    const U a = scaled.of(load<U>(ra, i), load<U>(rc, i)) ^ invert_a, b = load<U>(rb, i) ^ invert_b;
    const U two = a + b, sum = two + more.at(i);
    if (x.pdst != no_pred) carries.add(less_bits(two, a), less_bits(sum, two), 0, i);
    put(w, all, dst, i, sum);
  }
  carries.write(w, x);
}
Handler select_lea(const ptx::Inst& inst) {
  const bool low = inst.mods.video < 32 && inst.dst_count == 1 && inst.src_count == 2;
  return low ? Handler(run<LeaLow, u32, u32, u32>) : lea;
}

// Shifts of 64-bit values in two rows; one word of the result.
template <class T>
struct WideShift {
  static constexpr unsigned wide = 8;
  bool left, wrap, high;
  SIMTLAB_INLINE explicit WideShift(const XInst& x)
      : left(x.inst->mods.left), wrap(x.inst->mods.wrap), high((x.inst->mods.video & 1) != 0) {}
  template <class V>
  SIMTLAB_INLINE V operator()(V low, V by, V top) const {
    using W = Wide<V>;
    using X = Vec<T, lanes_of<V>>;
    const W value = joined(low, top);
    W n = __builtin_convertvector(wrap ? by & 63 : by, W);
    const W beyond = (W)(n > 63);
    n &= 63;
    W r;
    if (left) {
      r = (value << n) & ~beyond;
    } else {
      const W ends = (W)((X)value >> 63);  // 0, or the sign
      r = ((W)((X)value >> (X)n) & ~beyond) | (ends & beyond & (T(-1) < T(0) ? ~W{} : W{}));
    }
    return __builtin_convertvector(high ? r >> 32 : r, V);
  }
};
Handler select_shift(const ptx::Inst& inst) {
  return inst.type == ptx::Type::s64 ? run<WideShift<s64>, u32, u32, u32, u32>
                                     : run<WideShift<u64>, u32, u32, u32, u32>;
}

// All predicates of an instruction by their number: tables over three of them, and moves from and to bits.
SIMTLAB_INLINE u32 word_of(const WarpCtx& w, const ptx::Operand& p) {
  return p.negated ? ~w.preds[p.index] : w.preds[p.index];
}
SIMTLAB_INLINE u32 choose(u32 by, u32 one, u32 zero) { return zero ^ (by & (one ^ zero)); }
SIMTLAB_INLINE u32 look_up(u32 table, u32 a, u32 b, u32 c) {
  u32 leaves[4];
  for (unsigned k = 0; k < 4; ++k)
    leaves[k] = choose(c, (table >> (2 * k + 1) & 1) != 0 ? ~0u : 0, (table >> (2 * k) & 1) != 0 ? ~0u : 0);
  return choose(a, choose(b, leaves[3], leaves[2]), choose(b, leaves[1], leaves[0]));
}
void plop3(WarpCtx& w, const XInst& x) {
  const ptx::Inst& inst = *x.inst;
  const u32 a = word_of(w, inst.src[0]), b = word_of(w, inst.src[1]), c = word_of(w, inst.src[2]);
  const u32 first = look_up(inst.mods.video & 0xff, a, b, c),
            second = look_up(inst.mods.video >> 8 & 0xff, a, b, c);
  w.set_pred(x.pdst, first);
  w.set_pred(x.pdst2, second);
}

struct PredicateBits {
  u32 mask, shift, first;
  SIMTLAB_INLINE explicit PredicateBits(const XInst& x)
      : mask(x.inst->mods.video & 0xff),
        shift(x.inst->mods.video >> ptx::predicates_shift_at & 31),
        first(x.inst->mods.video >> ptx::predicates_first_at) {}
};
void predicates_to_bits(WarpCtx& w, const XInst& x) {
  const PredicateBits which(x);
  const std::byte* ra = w.row(x.src[0]);
  std::byte* dst = w.row(x.dst);
  for (unsigned i = 0; i < warp_lanes; i += step) {
    U bits{};
    for (u32 m = which.mask; m != 0; m &= m - 1) {
      const auto k = (u32)__builtin_ctz(m);
      bits |= (lanes_of_bits(w.preds[which.first + k], i) & 1) << (s32)(k + which.shift);
    }
    store_active(w, dst, i, (load<U>(ra, i) & ~splat<U>(which.mask << which.shift)) | bits);
  }
}
void bits_to_predicates(WarpCtx& w, const XInst& x) {
  const PredicateBits which(x);
  const std::byte* ra = w.row(x.src[0]);
  for (u32 m = which.mask; m != 0; m &= m - 1) {
    const auto k = (u32)__builtin_ctz(m);
    u32 set = 0;
    for (unsigned i = 0; i < warp_lanes; i += step)
      set |= pack_bits((S)(load<U>(ra, i) << (s32)(31 - k - which.shift)) >> 31) << i;
    w.set_pred((PredRef)((which.first + k) * 2), set);
  }
}

}  // namespace

Handler select_machine(const ptx::Inst& inst) {
  const bool is_signed = inst.type == ptx::Type::s32;
  switch (inst.op) {
    case Op::iadd3: return select_iadd3(inst);
    case Op::imad: return run<MadSigned, u32, u32, u32, u32>;
    case Op::imad_wide: return is_signed ? select_imad_wide<s32>(inst) : select_imad_wide<u32>(inst);
    case Op::lea: return select_lea(inst);
    case Op::xmad: return run<Xmad, u32, u32, u32, u32>;
    case Op::shf_wide: return select_shift(inst);
    case Op::plop3: return plop3;
    case Op::p2r: return predicates_to_bits;
    case Op::r2p: return bits_to_predicates;
    default: return nullptr;
  }
}

}  // namespace simtlab::exec::SIMTLAB_ISA
