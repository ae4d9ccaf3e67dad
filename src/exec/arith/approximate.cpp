// .approx and .full forms: rcp, sqrt, rsqrt, div, sin, cos, lg2, ex2, tanh.
//
// The GPU's own approximations are not public bit by bit. What one instruction of the hardware does is
// computed in double and rounded once, so results are nearly always the correctly rounded ones; what ptxas
// writes around it (scaling, products) is done as there. Results are inside the PTX manual's bounds
// (docs/lab/accuracy.md has the measured errors). They do not depend on the instruction set: no fused
// multiply-adds, the same order of operations everywhere.
#include "exec/arith/elementary.h"
#include "exec/arith/select.h"

namespace simtlab::exec::SIMTLAB_ISA {
namespace {

using ptx::Op;
using ptx::Type;

template <class V>
using Doubles = Vec<double, lanes_of<V>>;
template <class V>
SIMTLAB_INLINE Doubles<V> to_double(V v) {
  return __builtin_convertvector(v, Doubles<V>);
}
template <class V, class D>
SIMTLAB_INLINE V to_float(D v) {
  return __builtin_convertvector(v, V);
}
// Flushes and settles NaN around F.
template <class F>
struct Approximation : F {
  bool ftz;
  SIMTLAB_INLINE explicit Approximation(const XInst& x) : F(x), ftz(x.inst->mods.ftz) {}
  template <class V, class... Vs>
  SIMTLAB_INLINE V operator()(V a, Vs... rest) const {
    if (!ftz) return settle_nan(F::operator()(a, rest...), a, rest...);
    return settle_nan(flush(F::operator()(flush(a), flush(rest)...)), a, rest...);
  }
};

SIMTLAB_OP1(Rcp, splat<V>(1) / a)
SIMTLAB_OP1(Sqrt, square_root(a))

// Quotients are products with a reciprocal, which flushes (MUFU), as ptxas writes them; so they are rounded
// twice. What is below 2^-126 is multiplied by 2^24 before, what is beyond 2^126 by 1/4.
template <class V>
SIMTLAB_INLINE V flushed_reciprocal(V a) {
  return flush(splat<V>(1) / flush(a));
}
template <bool shrinks, class V>
SIMTLAB_INLINE V scale_of(V divisor) {
  const AsU<V> magnitude = (AsU<V>)divisor & ~Layout<V>::sign;
  const V scale = blend((AsS<V>)(magnitude < splat<AsU<V>>(0x00800000u)), splat<V>(0x1p24f), splat<V>(1));
  if (!shrinks) return scale;
  const auto huge =
      (AsS<V>)((magnitude > splat<AsU<V>>(0x7e800000u)) & (magnitude <= splat<AsU<V>>(Layout<V>::exponent)));
  return blend(huge, splat<V>(0.25f), scale);
}
struct ScaledRcp : Stateless {
  using Stateless::Stateless;
  template <class V>
  SIMTLAB_INLINE V operator()(V a) const {
    const V scale = scale_of<true>(a);
    return scale * flushed_reciprocal(a * scale);
  }
};
// full: beyond 2^126, too; .approx gives 0 there.
template <bool full>
struct Quotient : Stateless {
  using Stateless::Stateless;
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b) const {
    const V scale = scale_of<full>(b);
    return (a * scale) * flushed_reciprocal(b * scale);
  }
};
struct Rsqrt : Stateless {
  using Stateless::Stateless;
  static constexpr unsigned wide = 8;
  template <class V>
  SIMTLAB_INLINE V operator()(V a) const {
    const Doubles<V> root = square_root(to_double(a));
    return to_float<V>(splat<Doubles<V>>(1.0) / root);
  }
};

// Sine or cosine of q quarter turns and r, at most pi/4.
template <bool is_cos, class D>
SIMTLAB_INLINE D quadrant_value(D q, D r) {
  using M = AsS<D>;
  const D r2 = r * r;
  const D sine = r * polynomial(r2, {1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                                     1.0 / 6227020800.0});
  const D cosine =
      polynomial(r2, {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600.0});
  const AsU<D> quadrant = integer_bits(q) + (is_cos ? 1 : 0);
  const D result = blend((M)((quadrant & 1) != AsU<D>{}), cosine, sine);
  return (D)((AsU<D>)result ^ ((quadrant & 2) << 62));
}
// Of an angle in turns: whole turns are taken off exactly, which leaves at most half a turn.
template <bool is_cos, class D>
SIMTLAB_INLINE D sine_of_turns(D turns) {
  const D x = (turns - round_integral(turns, Integral::nearest)) * splat<D>(4.0);
  const D q = round_integral(x, Integral::nearest);
  const D result = quadrant_value<is_cos>(q, (x - q) * splat<D>(0x1.921fb54442d18p0));
  return is_cos ? result : blend((AsS<D>)(turns == D{}), turns, result);  // keeps the sign of zero
}
template <bool is_cos>
struct TrigonometricTurns : Stateless {
  using Stateless::Stateless;
  static constexpr unsigned wide = 8;
  template <class V>
  SIMTLAB_INLINE V operator()(V a) const {
    return to_float<V>(sine_of_turns<is_cos>(to_double(a)));
  }
};
// Of an angle in radians, as GPUs compute it (ptxas writes FMUL.RZ and MUFU, which flushes): the angle times
// 1 / (2 pi), as f32 cut to f32, in turns. So errors grow with the angle, as the PTX manual's bounds do.
template <bool is_cos>
struct Trigonometric : Stateless {
  using Stateless::Stateless;
  static constexpr unsigned wide = 8;
  template <class V>
  SIMTLAB_INLINE V operator()(V a) const {
    using D = Doubles<V>;
    using U = AsU<D>;
    constexpr u64 below_single = 0x1fffffff;  // bits of the fraction that f32 does not have
    const U product = (U)(to_double(a) * splat<D>(0x1.45f306p-3));
    const U magnitude = product & ~Layout<D>::sign;
    const auto tiny = (AsS<D>)(magnitude < splat<U>(0x3810000000000000ull));  // 2^-126
    const D turns = blend(tiny, (D)(product & Layout<D>::sign), (D)(product & ~below_single));
    return to_float<V>(sine_of_turns<is_cos>(turns));
  }
};

// MUFU flushes: where the result is subnormal, ptxas squares that of half the operand.
struct Ex2 : Stateless {
  using Stateless::Stateless;
  static constexpr unsigned wide = 8;
  template <class V>
  SIMTLAB_INLINE V operator()(V a) const {
    const auto small = (AsS<V>)(a < splat<V>(-126));
    const V r = to_float<V>(exp2_of(to_double(blend(small, a * splat<V>(0.5f), a))));
    return blend(small, r * r, r);
  }
};
// Of subnormal numbers as ptxas writes it, too: of 2^24 times as much, less 24. log2 by m in [sqrt(1/2),
// sqrt(2)) and the series of atanh((m - 1) / (m + 1)).
struct Lg2 : Stateless {
  using Stateless::Stateless;
  static constexpr unsigned wide = 8;
  template <class V>
  SIMTLAB_INLINE V operator()(V a) const {
    using D = Doubles<V>;
    using U = AsU<D>;
    using M = AsS<D>;
    const auto small = (AsS<V>)(((AsU<V>)a & Layout<V>::exponent) == AsU<V>{});
    const D x = to_double(blend(small, a * splat<V>(0x1p24f), a));
    const U bits = (U)x, shifted = bits - splat<U>(0x3fe6a09e667f3bcdull);
    const U exponent = (U)((M)shifted >> 52);
    const D m = (D)(bits - (exponent << 52));
    const D e = (D)((exponent + splat<U>(1ull << 51)) | splat<U>(0x4330000000000000ull)) - splat<D>(0x1.8p52);
    const D t = (m - splat<D>(1.0)) / (m + splat<D>(1.0)), t2 = t * t;
    const D series = polynomial(t2, {1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15});
    D r = e + t * series * splat<D>(0x1.71547652b82fep1);
    r = blend((M)(x > D{}), r, splat<D>(__builtin_nan("")));
    r = blend((M)(x == D{}), splat<D>(-__builtin_inf()), r);
    r = blend((M)(x == splat<D>(__builtin_inf())), x, r);
    const V result = to_float<V>(r);
    return blend(small, result - splat<V>(24), result);
  }
};
struct Tanh : Stateless {
  using Stateless::Stateless;
  static constexpr unsigned wide = 8;
  template <class V>
  SIMTLAB_INLINE V operator()(V a) const {
    return to_float<V>(tanh_of(to_double(a)));
  }
};

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 work on the upper 32 bits of the operand and give 32 bits.
template <bool root>
struct Coarse : Stateless {
  using Stateless::Stateless;
  template <class D>
  SIMTLAB_INLINE D operator()(D a) const {
    using U = AsU<D>;
    const U upper = splat<U>(0xffffffff00000000ull);
    const D cut = (D)((U)a & upper);
    const D x = flush(cut);
    const D exact = splat<D>(1.0) / (root ? square_root(x) : x);
    const D rounded = (D)(((U)exact + splat<U>(0x80000000ull)) & upper);
    const D r =
        flush(blend(((U)exact & Layout<D>::exponent) == splat<U>(Layout<D>::exponent), exact, rounded));
    return blend((cut == cut) & (r == r), r, (D)splat<U>(0x7fffffff00000000ull));
  }
};
struct RsqrtF64 : Stateless {
  using Stateless::Stateless;
  template <class D>
  SIMTLAB_INLINE D operator()(D a) const {
    return settle_nan(splat<D>(1.0) / square_root(a), a);
  }
};

template <class F>
constexpr Handler unary = run<Approximation<F>, float, float>;

}  // namespace

Handler select_approximate(const ptx::Inst& inst) {
  const bool ftz = inst.mods.ftz;
  if (inst.type == Type::f64) {
    if (inst.op == Op::rcp && inst.mods.approx && ftz) return run<Coarse<false>, double, double>;
    if (inst.op == Op::rsqrt) return ftz ? run<Coarse<true>, double, double> : run<RsqrtF64, double, double>;
    return nullptr;
  }
  if (inst.type != Type::f32 || inst.mods.sat) return nullptr;
  switch (inst.op) {
    case Op::rcp: return ftz ? unary<Rcp> : unary<ScaledRcp>;
    case Op::sqrt: return unary<Sqrt>;
    case Op::rsqrt: return unary<Rsqrt>;
    case Op::sin: return inst.mods.turns ? unary<TrigonometricTurns<false>> : unary<Trigonometric<false>>;
    case Op::cos: return inst.mods.turns ? unary<TrigonometricTurns<true>> : unary<Trigonometric<true>>;
    case Op::ex2: return unary<Ex2>;
    case Op::lg2: return unary<Lg2>;
    case Op::tanh: return unary<Tanh>;
    case Op::div:
      return inst.mods.full ? run<Approximation<Quotient<true>>, float, float, float>
                            : run<Approximation<Quotient<false>>, float, float, float>;
    default: return nullptr;
  }
}

}  // namespace simtlab::exec::SIMTLAB_ISA
