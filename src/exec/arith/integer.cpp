// Integer add, sub, abs, neg, min, max, logic and shifts.
//
// 16-bit values live zero-extended in 32-bit elements: operations that need their sign extend it first, all
// cut the result.
#include "exec/arith/select.h"

namespace simtlab::exec::SIMTLAB_ISA {
namespace {

using ptx::Op;
using ptx::Type;

SIMTLAB_OP2(Add, (AsU<V>)a + (AsU<V>)b)
SIMTLAB_OP2(Sub, (AsU<V>)a - (AsU<V>)b)
SIMTLAB_OP2(Min, a < b ? a : b)
SIMTLAB_OP2(Max, a > b ? a : b)
SIMTLAB_OP2(And, a& b)
SIMTLAB_OP2(Or, a | b)
SIMTLAB_OP2(Xor, a ^ b)
SIMTLAB_OP1(Not, ~a)
SIMTLAB_OP1(Cnot, (V)(a == V{}) & 1)
SIMTLAB_OP1(Neg, AsU<V>{} - (AsU<V>)a)
SIMTLAB_OP1(Abs, ((AsU<V>)a ^ (AsU<V>)(a < V{})) - (AsU<V>)(a < V{}))
template <class F>
struct Relu : F {
  using F::F;
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b) const {
    const V r = F::operator()(a, b);
    return r > V{} ? r : V{};
  }
};

// .sat.s32: overflow happened if the operands' signs allow it and the result's sign differs from a's.
template <class V>
SIMTLAB_INLINE V saturate(V a, V result, V may_overflow) {
  const V limit = (a >> 31) ^ 0x7fffffff;
  return (may_overflow & (a ^ result)) < V{} ? limit : result;
}
SIMTLAB_OP2(AddSat, saturate<V>(a, (V)((AsU<V>)a + (AsU<V>)b), ~(a ^ b)))
SIMTLAB_OP2(SubSat, saturate<V>(a, (V)((AsU<V>)a - (AsU<V>)b), a ^ b))

template <class V>
SIMTLAB_INLINE V widen_shift(Vec<u32, lanes_of<V>> n) {
  return (V) __builtin_convertvector(n, AsU<V>);
}
// Shifts by at least the width give 0, or the sign.
struct Shl : Stateless {
  using Stateless::Stateless;
  template <class V>
  SIMTLAB_INLINE V operator()(V a, Vec<u32, lanes_of<V>> by) const {
    const V n = widen_shift<V>(by);
    constexpr bool is32 = sizeof(Elem<V>) == 4;
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64)
      return is32 ? (V)_mm512_sllv_epi32((__m512i)a, (__m512i)n)
                  : (V)_mm512_sllv_epi64((__m512i)a, (__m512i)n);
#elif defined(__AVX2__)
    if constexpr (sizeof(V) == 32)
      return is32 ? (V)_mm256_sllv_epi32((__m256i)a, (__m256i)n)
                  : (V)_mm256_sllv_epi64((__m256i)a, (__m256i)n);
#endif
    constexpr unsigned bits = is32 ? 32 : 64;
    return n > bits - 1 ? V{} : a << (n & (bits - 1));
  }
};
struct ShrU : Stateless {
  using Stateless::Stateless;
  template <class V>
  SIMTLAB_INLINE V operator()(V a, Vec<u32, lanes_of<V>> by) const {
    const V n = widen_shift<V>(by);
    constexpr bool is32 = sizeof(Elem<V>) == 4;
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64)
      return is32 ? (V)_mm512_srlv_epi32((__m512i)a, (__m512i)n)
                  : (V)_mm512_srlv_epi64((__m512i)a, (__m512i)n);
#elif defined(__AVX2__)
    if constexpr (sizeof(V) == 32)
      return is32 ? (V)_mm256_srlv_epi32((__m256i)a, (__m256i)n)
                  : (V)_mm256_srlv_epi64((__m256i)a, (__m256i)n);
#endif
    constexpr unsigned bits = is32 ? 32 : 64;
    return n > bits - 1 ? V{} : a >> (n & (bits - 1));
  }
};
struct ShrS : Stateless {
  using Stateless::Stateless;
  template <class V>
  SIMTLAB_INLINE V operator()(V a, Vec<u32, lanes_of<V>> by) const {
    constexpr bool is32 = sizeof(Elem<V>) == 4;
    using U = AsU<V>;
    const U n = widen_shift<U>(by);
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64)
      return is32 ? (V)_mm512_srav_epi32((__m512i)a, (__m512i)n)
                  : (V)_mm512_srav_epi64((__m512i)a, (__m512i)n);
#elif defined(__AVX2__)
    if constexpr (sizeof(V) == 32 && is32) return (V)_mm256_srav_epi32((__m256i)a, (__m256i)n);
#endif
    constexpr unsigned last = is32 ? 31 : 63;
    const V clamped = (V)(n > last ? splat<U>(last) : n);
    return a >> clamped;
  }
};

template <class V>
SIMTLAB_INLINE V sign16(V a) {
  return (V)(((AsS<V>)a << 16) >> 16);
}
// F on 16-bit values; is_signed: their signs matter to it.
template <class F, bool is_signed>
struct On16 : F {
  using F::F;
  template <class V>
  SIMTLAB_INLINE V operator()(V a) const {
    return F::operator()(is_signed ? sign16(a) : a) & 0xffff;
  }
  template <class V, class W>
  SIMTLAB_INLINE V operator()(V a, W b) const {
    return F::operator()(is_signed ? sign16(a) : a, is_signed ? (W)sign16(b) : b) & 0xffff;
  }
};
// Shift amounts are 32-bit: only the value is extended.
struct ShrS16 : ShrS {
  using ShrS::ShrS;
  template <class V, class W>
  SIMTLAB_INLINE V operator()(V a, W b) const {
    return ShrS::operator()(sign16(a), b) & 0xffff;
  }
};
template <class F>
struct Cut16 : F {
  using F::F;
  template <class V, class W>
  SIMTLAB_INLINE V operator()(V a, W b) const {
    return F::operator()(a, b) & 0xffff;
  }
};
// F on each half of a 32-bit element.
template <class F, bool is_signed>
struct OnPairs : F {
  using F::F;
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b) const {
    using U = AsU<V>;
    const U low = (U)F::operator()(half(a, false), half(b, false)) & 0xffff;
    return (V)(low | ((U)F::operator()(half(a, true), half(b, true)) << 16));
  }

 private:
  template <class V>
  SIMTLAB_INLINE static V half(V a, bool high) {
    const AsU<V> placed = high ? (AsU<V>)a : (AsU<V>)a << 16;
    return is_signed ? (V)((AsS<V>)placed >> 16) : (V)(placed >> 16);
  }
};

template <class F>
Handler binary(Type type) {
  switch (type) {
    case Type::b16:
    case Type::u16: return run<On16<F, false>, u32, u32, u32>;
    case Type::s16: return run<On16<F, true>, s32, s32, s32>;
    case Type::b32:
    case Type::u32: return run<F, u32, u32, u32>;
    case Type::s32: return run<F, s32, s32, s32>;
    case Type::b64:
    case Type::u64: return run<F, u64, u64, u64>;
    case Type::s64: return run<F, s64, s64, s64>;
    case Type::u16x2: return run<OnPairs<F, false>, u32, u32, u32>;
    case Type::s16x2: return run<OnPairs<F, true>, s32, s32, s32>;
    default: return nullptr;
  }
}
template <class F>
Handler unary(Type type) {
  switch (type) {
    case Type::b16:
    case Type::u16: return run<On16<F, false>, u32, u32>;
    case Type::s16: return run<On16<F, true>, s32, s32>;
    case Type::b32:
    case Type::u32: return run<F, u32, u32>;
    case Type::s32: return run<F, s32, s32>;
    case Type::b64:
    case Type::u64: return run<F, u64, u64>;
    case Type::s64: return run<F, s64, s64>;
    default: return nullptr;
  }
}
// Logic has no signs: one instance a width.
template <class F>
Handler logic(Type type) {
  switch (ptx_bytes(type)) {
    case 2: return run<F, u32, u32, u32>;
    case 4: return run<F, u32, u32, u32>;
    case 8: return run<F, u64, u64, u64>;
    default: return nullptr;
  }
}

Handler select_shift(const ptx::Inst& inst) {
  if (inst.op == Op::shl) {
    switch (ptx_bytes(inst.type)) {
      case 2: return run<Cut16<Shl>, u32, u32, u32>;
      case 4: return run<Shl, u32, u32, u32>;
      case 8: return run<Shl, u64, u64, u32>;
      default: return nullptr;
    }
  }
  switch (inst.type) {
    case Type::b16:
    case Type::u16: return run<ShrU, u32, u32, u32>;
    case Type::s16: return run<ShrS16, s32, s32, u32>;
    case Type::b32:
    case Type::u32: return run<ShrU, u32, u32, u32>;
    case Type::s32: return run<ShrS, s32, s32, u32>;
    case Type::b64:
    case Type::u64: return run<ShrU, u64, u64, u32>;
    case Type::s64: return run<ShrS, s64, s64, u32>;
    default: return nullptr;
  }
}

}  // namespace

Handler select_integer(const ptx::Inst& inst) {
  const Type type = inst.type;
  const bool sat = inst.mods.sat, relu = inst.mods.relu;
  if (is_floating(type) || type == Type::pred || inst.mods.cc_in || inst.mods.cc_out) return nullptr;
  switch (inst.op) {
    case Op::add:
      return sat ? (type == Type::s32 ? Handler(run<AddSat, s32, s32, s32>) : nullptr) : binary<Add>(type);
    case Op::sub:
      return sat ? (type == Type::s32 ? Handler(run<SubSat, s32, s32, s32>) : nullptr) : binary<Sub>(type);
    case Op::min: return relu ? binary<Relu<Min>>(type) : binary<Min>(type);
    case Op::max: return relu ? binary<Relu<Max>>(type) : binary<Max>(type);
    case Op::and_: return logic<And>(type);
    case Op::or_: return logic<Or>(type);
    case Op::xor_: return logic<Xor>(type);
    case Op::not_: return unary<Not>(type);
    case Op::cnot: return unary<Cnot>(type);
    case Op::neg: return unary<Neg>(type);
    case Op::abs: return unary<Abs>(type);
    case Op::shl:
    case Op::shr: return select_shift(inst);
    default: return nullptr;
  }
}

}  // namespace simtlab::exec::SIMTLAB_ISA
