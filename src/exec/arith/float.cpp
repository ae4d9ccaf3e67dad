// f32 and f64 arithmetic: add, sub, mul, fma, div, rcp, sqrt (exactly rounded), abs, neg, min, max, copysign.
//
// Round to nearest is the host's default. The other roundings set the host's rounding control around the
// warp's loop; empty assembly statements keep the compiler from moving the arithmetic out of it. .ftz: the
// IEEE result is computed and then flushed if it is subnormal.
#include "exec/arith/float.h"

#include "exec/arith/pairs.h"
#include "exec/arith/select.h"
#include "ptx/machine_ops.h"

#if !defined(__SSE2__)
#include <fenv.h>
#endif

namespace simtlab::exec::SIMTLAB_ISA {
namespace {

using ptx::Op;
using ptx::Rounding;
using ptx::Type;

SIMTLAB_OP2(Add, a + b)
SIMTLAB_OP2(Sub, a - b)
SIMTLAB_OP2(Mul, a* b)
SIMTLAB_OP2(Div, a / b)
SIMTLAB_OP3(Fma, fused(a, b, c))
SIMTLAB_OP1(Rcp, splat<V>(1) / a)
SIMTLAB_OP1(Sqrt, square_root(a))

// f32 quotients with .ftz. The code that ptxas writes for them flushes what is below 2^-126 when it is
// rounded to 24 bits, whatever its exponent. The host rounds to the coarser steps of subnormal numbers, and
// so up to 2^-126 from farther below.
struct FlushedQuotient {
  bool away[2];  // by the sign of the quotient: the rounding goes away from 0
  double limit[2];
  SIMTLAB_INLINE explicit FlushedQuotient(const XInst& x) {
    const Rounding mode = x.inst->mods.rounding;
    for (unsigned sign = 0; sign < 2; ++sign) {
      away[sign] = mode == (sign == 0 ? Rounding::rp : Rounding::rm);
      // What is just rounded up to 2^-126, and what is the number below it.
      limit[sign] = away[sign] ? 0x1.fffffep-127 : 0x1.ffffffp-127;
    }
  }
  template <class V>
  SIMTLAB_INLINE V of(V a, V b) const {
    V r = a / b;
    const AsU<V> least = splat<AsU<V>>(0x00800000u);
    const auto doubtful = (AsS<V>)(((AsU<V>)r & ~Layout<V>::sign) == least);
    if (__builtin_expect(pack_bits(doubtful) == 0, 1)) return r;
    for (unsigned i = 0; i < lanes_of<V>; ++i) {
      if (doubtful[i] == 0) continue;
      const unsigned sign = __builtin_signbit(r[i]) != 0 ? 1 : 0;
      const double dividend = __builtin_fabs((double)a[i]),
                   bound = __builtin_fabs((double)b[i]) * limit[sign];  // exact: 24 and 25 bits
      if (dividend < bound || (away[sign] && dividend == bound)) r[i] = sign != 0 ? -0.0f : 0.0f;
    }
    return r;
  }
};
struct FlushedDiv : FlushedQuotient {
  using FlushedQuotient::FlushedQuotient;
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b) const {
    return of(a, b);
  }
};
struct FlushedRcp : FlushedQuotient {
  using FlushedQuotient::FlushedQuotient;
  template <class V>
  SIMTLAB_INLINE V operator()(V a) const {
    return of(splat<V>(1), a);
  }
};

template <class F, bool ftz, bool sat>
struct Nearest : F {
  using F::F;
  template <class V, class... Vs>
  SIMTLAB_INLINE V operator()(V a, Vs... rest) const {
    if constexpr (ftz) {
      const V r = flush(F::operator()(flush(a), flush(rest)...));
      return sat ? saturate01(r) : settle_nan(r, a, rest...);
    } else {
      const V r = F::operator()(a, rest...);
      return sat ? saturate01(r) : settle_nan(r, a, rest...);
    }
  }
};

class RoundingScope {
 public:
  explicit RoundingScope(Rounding mode) {
#if defined(__SSE2__)
    saved_ = _mm_getcsr();
    const unsigned control = mode == Rounding::rm   ? 1u
                             : mode == Rounding::rp ? 2u
                             : mode == Rounding::rz ? 3u
                                                    : 0u;
    _mm_setcsr((saved_ & ~0x6000u) | (control << 13));
#else
    saved_ = (unsigned)fegetround();
    fesetround(mode == Rounding::rm   ? FE_DOWNWARD
               : mode == Rounding::rp ? FE_UPWARD
               : mode == Rounding::rz ? FE_TOWARDZERO
                                      : FE_TONEAREST);
#endif
  }
  ~RoundingScope() {
#if defined(__SSE2__)
    _mm_setcsr(saved_);
#else
    fesetround((int)saved_);
#endif
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  unsigned saved_;
};

// The value is used and defined here, between the changes of the rounding control.
template <class V>
SIMTLAB_INLINE V pinned(V v) {
#if defined(__SSE2__)
  asm volatile("" : "+x"(v));
#else
  asm volatile("" : "+m"(v));
#endif
  return v;
}

template <class F>
struct Directed : F {
  bool ftz, sat;
  SIMTLAB_INLINE explicit Directed(const XInst& x) : F(x), ftz(x.inst->mods.ftz), sat(x.inst->mods.sat) {}
  template <class V, class... Vs>
  SIMTLAB_INLINE V operator()(V a, Vs... rest) const {
    V r;
    if (ftz)
      r = flush(pinned(F::operator()(pinned(flush(a)), pinned(flush(rest))...)));
    else
      r = pinned(F::operator()(pinned(a), pinned(rest)...));
    return sat ? saturate01(r) : settle_nan(r, a, rest...);
  }
};
template <class F, class D, class... S>
void run_directed(WarpCtx& w, const XInst& x) {
  const RoundingScope scope(x.inst->mods.rounding);
  run<Directed<F>, D, S...>(w, x);
}

template <class F, class... S>  // S: float for each source
Handler rounded32(const ptx::Inst& inst) {
  const bool ftz = inst.mods.ftz, sat = inst.mods.sat;
  switch (inst.mods.rounding) {
    case Rounding::none:
    case Rounding::rn:
      if (sat)
        return ftz ? run<Nearest<F, true, true>, float, S...> : run<Nearest<F, false, true>, float, S...>;
      return ftz ? run<Nearest<F, true, false>, float, S...> : run<Nearest<F, false, false>, float, S...>;
    case Rounding::rz:
    case Rounding::rm:
    case Rounding::rp: return run_directed<F, float, S...>;
    default: return nullptr;
  }
}
template <class F, class... S>
Handler rounded64(const ptx::Inst& inst) {
  switch (inst.mods.rounding) {
    case Rounding::none:
    case Rounding::rn: return run<Nearest<F, false, false>, double, S...>;
    case Rounding::rz:
    case Rounding::rm:
    case Rounding::rp: return run_directed<F, double, S...>;
    default: return nullptr;
  }
}
// f64 in two rows side by side, of low and of high words, as machine code has it. What the bits of
// Mods::video say: ptx/machine_ops.h.
template <bool signs>
SIMTLAB_INLINE AnyOrder pair_at(const std::byte* row, unsigned lane, u32 bits) {
  AnyOrder v = any_order(loaded(load<Words>(row, lane)), loaded(load<Words>(row + word_row, lane)));
  if constexpr (signs) {
    constexpr u64 sign = FloatLayout<8>::sign;
    const auto keep = splat<Doublewords>((bits & 1) != 0 ? ~sign : ~u64{0}),
               change = splat<Doublewords>((bits & 2) != 0 ? sign : 0);
    v.first = (v.first & keep) ^ change;
    v.second = (v.second & keep) ^ change;
  }
  return v;
}
// As in Quiet: lanes that are not active are zero.
SIMTLAB_INLINE void quieten(AnyOrder& v, const AnyOrder& active) {
  v.first &= active.first;
  v.second &= active.second;
}
using Doubles = Vec<double, lanes_of<Doublewords>>;
// F on all lanes of the operands. To nearest: Nearest<F> but for one look for NaN in both vectors.
template <class F, bool nearest, class... Operands>
SIMTLAB_INLINE AnyOrder apply_to_pairs(const F& f, const Operands&... operands) {
  Doubles first = f((Doubles)operands.first...), second = f((Doubles)operands.second...);
  if constexpr (nearest) {
    if (__builtin_expect(any_nan(first, second), 0)) {
      first = settle_nan(first, (Doubles)operands.first...);
      second = settle_nan(second, (Doubles)operands.second...);
    }
  }
  return {(Doublewords)first, (Doublewords)second};
}
template <class F, bool nearest, unsigned operands, bool signs, bool all>
SIMTLAB_INLINE void run_pairs_of(WarpCtx& w, const XInst& x) {
  const F f(x);
  std::byte* const dst = w.row(x.dst);
  const std::byte *const ra = w.row(x.src[0]), *const rb = w.row(x.src[1]), *const rc = w.row(x.src[2]);
  const u32 bits = signs ? x.inst->mods.video : 0;
#pragma GCC unroll 2
  for (unsigned i = 0; i < warp_lanes; i += pair_lanes) {
    AnyOrder a = pair_at<signs>(ra, i, bits), b = pair_at<signs>(rb, i, bits >> 2), c{}, r;
    if constexpr (operands > 2) c = pair_at<signs>(rc, i, bits >> 4);
    if constexpr (!all) {
      const AnyOrder active = active_lanes(w, i);
      quieten(a, active);
      quieten(b, active);
      quieten(c, active);
    }
    if constexpr (operands > 2)
      r = apply_to_pairs<F, nearest>(f, a, b, c);
    else
      r = apply_to_pairs<F, nearest>(f, a, b);
    const TwoRows out = rows_of(r);
    if constexpr (all) {
      store(dst, i, out.low);
      store(dst + word_row, i, out.high);
    } else {
      store_active(w, dst, i, out.low);
      store_active(w, dst + word_row, i, out.high);
    }
  }
}
template <class F, bool nearest, unsigned operands, bool signs>
void run_pairs(WarpCtx& w, const XInst& x) {
  if (w.mask == all_lanes)
    run_pairs_of<F, nearest, operands, signs, true>(w, x);
  else
    run_pairs_of<F, nearest, operands, signs, false>(w, x);
}
template <class F, unsigned operands, bool signs>
void run_pairs_directed(WarpCtx& w, const XInst& x) {
  const RoundingScope scope(x.inst->mods.rounding);
  run_pairs<Directed<F>, false, operands, signs>(w, x);
}
template <class F, unsigned operands, bool signs>
Handler paired(const ptx::Inst& inst) {
  switch (inst.mods.rounding) {
    case Rounding::none:
    case Rounding::rn: return run_pairs<F, true, operands, signs>;
    case Rounding::rz:
    case Rounding::rm:
    case Rounding::rp: return run_pairs_directed<F, operands, signs>;
    default: return nullptr;
  }
}
template <class F, unsigned operands>
Handler paired(const ptx::Inst& inst) {
  return (inst.mods.video & ptx::f64_signs) != 0 ? paired<F, operands, true>(inst)
                                                 : paired<F, operands, false>(inst);
}
Handler select_paired(const ptx::Inst& inst) {
  switch (inst.op) {
    case Op::add: return paired<Add, 2>(inst);
    case Op::sub: return paired<Sub, 2>(inst);
    case Op::mul: return paired<Mul, 2>(inst);
    case Op::fma: return paired<Fma, 3>(inst);
    default: return nullptr;
  }
}

// Quotients, which have approximations of their own.
template <class F, class... S>
Handler rounded32_of(const ptx::Inst& inst) {
  return inst.mods.approx || inst.mods.full ? nullptr : rounded32<F, S...>(inst);
}
template <class F>
Handler rounded1(const ptx::Inst& inst) {
  if (inst.mods.approx || inst.mods.full) return nullptr;
  return inst.type == Type::f32 ? rounded32<F, float>(inst) : rounded64<F, double>(inst);
}
template <class F>
Handler rounded2(const ptx::Inst& inst) {
  if (inst.mods.approx || inst.mods.full) return nullptr;
  return inst.type == Type::f32 ? rounded32<F, float, float>(inst) : rounded64<F, double, double>(inst);
}
template <class F>
Handler rounded3(const ptx::Inst& inst) {
  return inst.type == Type::f32 ? rounded32<F, float, float, float>(inst)
                                : rounded64<F, double, double, double>(inst);
}

// abs, neg and copysign touch the sign only: NaN keep their payload.
SIMTLAB_OP1(Abs, (AsU<V>)a & ~Layout<V>::sign)
SIMTLAB_OP1(Neg, (AsU<V>)a ^ Layout<V>::sign)
SIMTLAB_OP1(AbsFtz, (AsU<V>)flush(a) & ~Layout<V>::sign)
SIMTLAB_OP1(NegFtz, (AsU<V>)flush(a) ^ Layout<V>::sign)
SIMTLAB_OP2(Copysign, ((AsU<V>)a & Layout<V>::sign) | ((AsU<V>)b & ~Layout<V>::sign))

template <bool is_max>
struct Extremum {
  ExtremumMods mods;
  SIMTLAB_INLINE explicit Extremum(const XInst& x) : mods(x) {}
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b) const {
    return mods.ftz ? extremum<is_max>(flush(a), flush(b), mods) : extremum<is_max>(a, b, mods);
  }
};

}  // namespace

Handler select_float(const ptx::Inst& inst) {
  const bool f32 = inst.type == Type::f32, ftz = inst.mods.ftz;
  if (!f32 && inst.type != Type::f64) return nullptr;
  if (!f32 && (inst.mods.video & ptx::f64_in_halves) != 0) return select_paired(inst);
  switch (inst.op) {
    case Op::add: return rounded2<Add>(inst);
    case Op::sub: return rounded2<Sub>(inst);
    case Op::mul: return rounded2<Mul>(inst);
    case Op::div:
      return inst.mods.ftz && inst.type == Type::f32 ? rounded32_of<FlushedDiv, float, float>(inst)
                                                     : rounded2<Div>(inst);
    case Op::fma:
    case Op::mad: return rounded3<Fma>(inst);
    case Op::rcp:
      return inst.mods.ftz && inst.type == Type::f32 ? rounded32_of<FlushedRcp, float>(inst)
                                                     : rounded1<Rcp>(inst);
    case Op::sqrt: return rounded1<Sqrt>(inst);
    case Op::abs:
      return !f32 ? run<Abs, double, double> : ftz ? run<AbsFtz, float, float> : run<Abs, float, float>;
    case Op::neg:
      return !f32 ? run<Neg, double, double> : ftz ? run<NegFtz, float, float> : run<Neg, float, float>;
    case Op::copysign:
      return f32 ? run<Copysign, float, float, float> : run<Copysign, double, double, double>;
    case Op::min:
      if (inst.src_count != 2) return nullptr;
      return f32 ? run<Extremum<false>, float, float, float> : run<Extremum<false>, double, double, double>;
    case Op::max:
      if (inst.src_count != 2) return nullptr;
      return f32 ? run<Extremum<true>, float, float, float> : run<Extremum<true>, double, double, double>;
    default: return nullptr;
  }
}

}  // namespace simtlab::exec::SIMTLAB_ISA
