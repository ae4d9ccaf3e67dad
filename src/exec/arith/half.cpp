// f16, bf16 and their pairs: add, sub, mul, fma, neg, abs, min, max, ex2, tanh.
//
// Operands are widened to double, where products are exact; sums are rounded to odd (an inexact sum gets its
// last bit set), so that the second rounding, to the 16-bit format, sees on which side of a tie the exact
// value lies. NaN results are 0x7fff.
#include "exec/arith/half.h"

#include "exec/arith/elementary.h"
#include "exec/arith/select.h"

namespace simtlab::exec::SIMTLAB_ISA {
namespace {

using ptx::Op;
using ptx::Type;

struct F16 {
  static constexpr int precision = 11, smallest_exponent = -14;
  static constexpr double overflow = 0x1p16;
  template <class U>
  SIMTLAB_INLINE static AsF<U> widen(U half) {
    return widen_f16(half);
  }
  // f16 bits of values that f16 can represent, in the low bits of each element.
  template <class F>
  SIMTLAB_INLINE static AsU<F> narrow(F v) {
    using U = AsU<F>;
    const U sign = (U)v & 0x80000000u, magnitude = (U)v ^ sign;
    const U finite = (U)((F)magnitude * splat<F>(0x1p-112f)) >> 13;
    const U bits = magnitude >= splat<U>(0x7f800000u) ? splat<U>(0x7c00u) : finite;
    return blend(v == v, bits | (sign >> 16), splat<U>(0x7fffu));
  }
};
struct Bf16 {
  static constexpr int precision = 8, smallest_exponent = -126;
  static constexpr double overflow = 0x1p128;
  template <class U>
  SIMTLAB_INLINE static AsF<U> widen(U half) {
    return widen_bf16(half);
  }
  template <class F>
  SIMTLAB_INLINE static AsU<F> narrow(F v) {
    using U = AsU<F>;
    return blend(v == v, (U)v >> 16, splat<U>(0x7fffu));
  }
};

// To nearest even, to a multiple of the format's last place at v: adding and subtracting 1.5 * 2^52 of those
// places.
template <class Format, class D>
SIMTLAB_INLINE D round_to_format(D v) {
  using U = AsU<D>;
  const U bits = (U)v, sign = bits & Layout<D>::sign;
  const U least = splat<U>(1023 + Format::smallest_exponent), most = splat<U>(1023 + 200);
  U exponent = (bits >> 52) & 0x7ff;
  exponent = exponent < least ? least : exponent;
  exponent = exponent > most ? most : exponent;
  const D magic = (D)(((exponent + (52 - (Format::precision - 1))) << 52) | 0x8000000000000ull);
  const D magnitude = (D)(bits ^ sign);
  D r = (magnitude + magic) - magic;
  r = r >= splat<D>(Format::overflow) ? splat<D>(__builtin_inf()) : r;
  return (D)((U)r | sign);
}
template <class D>
SIMTLAB_INLINE D sum_to_odd(D a, D b) {
  using U = AsU<D>;
  const D s = a + b, part = s - a;
  const D error = (a - (s - part)) + (b - part);
  const U inexact = (U)((error < D{}) | (error > D{}));
  const U toward_zero = ((U)s ^ (U)error) >> 63;  // 1: the exact sum is nearer to zero than s
  const U odd = ((U)s - toward_zero) | 1;
  return blend(inexact, (D)odd, s);
}

template <class Format>
struct HalfMods {
  bool ftz, sat, relu;
  SIMTLAB_INLINE explicit HalfMods(const XInst& x)
      : ftz(x.inst->mods.ftz), sat(x.inst->mods.sat), relu(x.inst->mods.relu) {}
  template <class F>
  SIMTLAB_INLINE F flushed(F v) const {
    if (!ftz) return v;
    if constexpr (Format::precision == 11)
      return flush_f16(v);
    else
      return flush(v);
  }
  // From a double to the format's value, as a float.
  template <class F, class D>
  SIMTLAB_INLINE F finish(D v) const {
    return limited(flushed((F) __builtin_convertvector(round_to_format<Format>(v), F)));
  }
  template <class F>
  SIMTLAB_INLINE F limited(F r) const {
    if (sat) return saturate01(r);
    if (relu) return r <= F{} ? F{} : r;
    return r;
  }
};

// Operations on widened values.
struct Add {
  template <class D>
  SIMTLAB_INLINE static D compute(D a, D b) {
    return sum_to_odd(a, b);
  }
};
struct Sub {
  template <class D>
  SIMTLAB_INLINE static D compute(D a, D b) {
    return sum_to_odd(a, -b);
  }
};
struct Mul {
  template <class D>
  SIMTLAB_INLINE static D compute(D a, D b) {
    return a * b;
  }
};
struct Fma {
  template <class D>
  SIMTLAB_INLINE static D compute(D a, D b, D c) {
    return sum_to_odd(a * b, c);
  }
};
struct Ex2 {
  template <class D>
  SIMTLAB_INLINE static D compute(D a) {
    return exp2_of(a);
  }
};
struct Tanh {
  template <class D>
  SIMTLAB_INLINE static D compute(D a) {
    return tanh_of(a);
  }
};

// Op on the low 16 bits of elements.
template <class Format, class Op>
struct Rounded : HalfMods<Format> {
  using HalfMods<Format>::HalfMods;
  static constexpr unsigned wide = 8;
  template <class U, class... Us>
  SIMTLAB_INLINE U one(U a, Us... rest) const {
    using F = AsF<U>;
    using D = Vec<double, lanes_of<U>>;
    const D r = Op::compute(__builtin_convertvector(this->flushed(Format::widen(a)), D),
                            __builtin_convertvector(this->flushed(Format::widen(rest)), D)...);
    return Format::narrow(this->template finish<F>(r));
  }
};
// add and sub, and mul of f16, in f32: its 24 bits are enough (twice the format's and 2 more) for the second
// rounding to be harmless, and products of f16 are exact. Not so products of bf16, which may be f32
// subnormals.
struct AddSingle {
  template <class F>
  SIMTLAB_INLINE static F compute(F a, F b) {
    return a + b;
  }
};
struct SubSingle {
  template <class F>
  SIMTLAB_INLINE static F compute(F a, F b) {
    return a - b;
  }
};
template <class Format, class Op>
struct Single : HalfMods<Format> {
  using HalfMods<Format>::HalfMods;
  template <class U>
  SIMTLAB_INLINE U one(U a, U b) const {
    const auto r =
        this->limited(Op::compute(this->flushed(Format::widen(a)), this->flushed(Format::widen(b))));
    if constexpr (Format::precision == 8) {
      return narrow_bf16(r);
    } else {
#if defined(__F16C__)
      const U half = narrow_f16(r);
      return this->ftz && Format::precision == 11 ? ((half & 0x7c00) == U{} ? half & 0x8000 : half) : half;
#endif
    }
  }
};

template <class Format, bool is_max>
struct Extremum : HalfMods<Format> {
  ExtremumMods mods;
  SIMTLAB_INLINE explicit Extremum(const XInst& x) : HalfMods<Format>(x), mods(x) {}
  template <class U>
  SIMTLAB_INLINE U one(U a, U b) const {
    const auto r = extremum<is_max>(this->flushed(Format::widen(a)), this->flushed(Format::widen(b)), mods);
    return Format::narrow(this->limited(r));
  }
};
// abs and neg change the sign bit only.
template <class Format, bool negate>
struct Sign : HalfMods<Format> {
  using HalfMods<Format>::HalfMods;
  template <class U>
  SIMTLAB_INLINE U one(U a) const {
    const U small = Format::precision == 11 ? 0x7c00 & a : 0x7f80 & a;
    if (this->ftz) a = small == U{} ? a & 0x8000 : a;
    return negate ? a ^ 0x8000 : a & 0x7fff;
  }
};

template <class F, bool pair>
struct Halves : F {
  using F::F;
  template <class U, class... Us>
  SIMTLAB_INLINE U operator()(U a, Us... rest) const {
    const U low = F::one(a & 0xffff, (rest & 0xffff)...);
    if constexpr (!pair)
      return low;
    else
      return low | (F::one(a >> 16, (rest >> 16)...) << 16);
  }
};
template <class F, class... S>
Handler single_or_pair(bool pair) {
  return pair ? run<Halves<F, true>, u32, S...> : run<Halves<F, false>, u32, S...>;
}

template <class Format>
Handler select_format(const ptx::Inst& inst, bool pair) {
  constexpr bool is_bf16 = Format::precision == 8;
#if defined(__F16C__)
  constexpr bool single = true;
#else
  constexpr bool single = is_bf16;
#endif
  if constexpr (single) {
    if (inst.op == Op::add) return single_or_pair<Single<Format, AddSingle>, u32, u32>(pair);
    if (inst.op == Op::sub) return single_or_pair<Single<Format, SubSingle>, u32, u32>(pair);
    if (inst.op == Op::mul && !is_bf16) return single_or_pair<Single<Format, Mul>, u32, u32>(pair);
  }
  switch (inst.op) {
    case Op::add: return single_or_pair<Rounded<Format, Add>, u32, u32>(pair);
    case Op::sub: return single_or_pair<Rounded<Format, Sub>, u32, u32>(pair);
    case Op::mul: return single_or_pair<Rounded<Format, Mul>, u32, u32>(pair);
    case Op::fma: return single_or_pair<Rounded<Format, Fma>, u32, u32, u32>(pair);
    case Op::min:
      return inst.src_count == 2 ? single_or_pair<Extremum<Format, false>, u32, u32>(pair) : nullptr;
    case Op::max:
      return inst.src_count == 2 ? single_or_pair<Extremum<Format, true>, u32, u32>(pair) : nullptr;
    case Op::neg: return single_or_pair<Sign<Format, true>, u32>(pair);
    case Op::abs: return single_or_pair<Sign<Format, false>, u32>(pair);
    case Op::ex2: return single_or_pair<Rounded<Format, Ex2>, u32>(pair);
    case Op::tanh: return single_or_pair<Rounded<Format, Tanh>, u32>(pair);
    default: return nullptr;
  }
}

}  // namespace

Handler select_half(const ptx::Inst& inst) {
  switch (inst.type) {
    case Type::f16: return select_format<F16>(inst, false);
    case Type::f16x2: return select_format<F16>(inst, true);
    case Type::bf16: return select_format<Bf16>(inst, false);
    case Type::bf16x2: return select_format<Bf16>(inst, true);
    default: return nullptr;
  }
}

}  // namespace simtlab::exec::SIMTLAB_ISA
