// Integer mul, mad, mul24, mad24, sad, div, rem, dp4a and dp2a.
//
// Division by zero gives all ones, and so does the remainder, as NVIDIA GPUs do (the PTX manual leaves it
// open).
#include "exec/arith/float.h"
#include "exec/arith/product.h"
#include "exec/arith/select.h"

namespace simtlab::exec::SIMTLAB_ISA {
namespace {

using ptx::MulMode;
using ptx::Op;
using ptx::Type;

SIMTLAB_OP2(MulLo, (AsU<V>)a*(AsU<V>)b)
SIMTLAB_OP3(MadLo, (AsU<V>)a*(AsU<V>)b + (AsU<V>)c)

template <class V>
SIMTLAB_INLINE V low16(V a) {
  constexpr bool is_signed = Elem<V>(-1) < Elem<V>(0);
  return is_signed ? (a << 16) >> 16 : a & 0xffff;
}
// 16-bit forms, in 32-bit elements.
SIMTLAB_OP2(MulLo16, ((AsU<V>)a * (AsU<V>)b) & 0xffff)
SIMTLAB_OP3(MadLo16, ((AsU<V>)a * (AsU<V>)b + (AsU<V>)c) & 0xffff)
SIMTLAB_OP2(MulHi16, ((low16(a) * low16(b)) >> 16) & 0xffff)
SIMTLAB_OP3(MadHi16, (((low16(a) * low16(b)) >> 16) + c) & 0xffff)
SIMTLAB_OP2(MulWide16, low16(a) * low16(b))
SIMTLAB_OP3(MadWide16, (AsU<V>)(low16(a) * low16(b)) + (AsU<V>)c)

struct MulHi : Stateless {
  using Stateless::Stateless;
  static constexpr unsigned wide = 8;
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b) const {
    return high_product(a, b);
  }
};
struct MadHi : Stateless {
  using Stateless::Stateless;
  static constexpr unsigned wide = 8;
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b, V c) const {
    return (V)((AsU<V>)high_product(a, b) + (AsU<V>)c);
  }
};
// Sum of two s32 vectors, saturated.
template <class V>
SIMTLAB_INLINE V saturated_sum(V a, V b) {
  const V r = (V)((AsU<V>)a + (AsU<V>)b);
  return (~(a ^ b) & (a ^ r)) < V{} ? (a >> 31) ^ 0x7fffffff : r;
}
struct MadHiSat : Stateless {
  using Stateless::Stateless;
  static constexpr unsigned wide = 8;
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b, V c) const {
    return saturated_sum(high_product(a, b), c);
  }
};
struct MulWide : Stateless {
  using Stateless::Stateless;
  template <class V>
  SIMTLAB_INLINE Wide<V> operator()(V a, V b) const {
    return full_product(a, b);
  }
};
struct MadWide : Stateless {
  using Stateless::Stateless;
  template <class V>
  SIMTLAB_INLINE Wide<V> operator()(V a, V b, Wide<V> c) const {
    return full_product(a, b) + c;
  }
};

// 24-bit products have 48 bits: lo is bits 31..0, hi is bits 47..16.
template <class V>
SIMTLAB_INLINE V low24(V a) {
  constexpr bool is_signed = Elem<V>(-1) < Elem<V>(0);
  return is_signed ? (V)((V)((AsU<V>)a << 8) >> 8) : a & 0xffffff;
}
template <class V>
SIMTLAB_INLINE V high_product24(V a, V b) {
  return (V) __builtin_convertvector(full_product(low24(a), low24(b)) >> 16, AsU<V>);
}
SIMTLAB_OP2(Mul24Lo, (AsU<V>)low24(a) * (AsU<V>)low24(b))
SIMTLAB_OP3(Mad24Lo, (AsU<V>)low24(a) * (AsU<V>)low24(b) + (AsU<V>)c)
struct Mul24Hi : Stateless {
  using Stateless::Stateless;
  static constexpr unsigned wide = 8;
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b) const {
    return high_product24(a, b);
  }
};
struct Mad24Hi : Stateless {
  using Stateless::Stateless;
  static constexpr unsigned wide = 8;
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b, V c) const {
    return (V)((AsU<V>)high_product24(a, b) + (AsU<V>)c);
  }
};
struct Mad24HiSat : Stateless {
  using Stateless::Stateless;
  static constexpr unsigned wide = 8;
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b, V c) const {
    return saturated_sum(high_product24(a, b), c);
  }
};

template <class T>
struct MulHi64 : Stateless {
  using Stateless::Stateless;
  u64 operator()(T a, T b) const {
    if constexpr (T(-1) < T(0))
      return (u64)(((s128)a * b) >> 64);
    else
      return (u64)(((u128)a * b) >> 64);
  }
};
template <class T>
struct MadHi64 : MulHi64<T> {
  using MulHi64<T>::MulHi64;
  u64 operator()(T a, T b, T c) const { return MulHi64<T>::operator()(a, b) + (u64)c; }
};

SIMTLAB_OP3(Sad, (AsU<V>)c + (a > b ? (AsU<V>)a - (AsU<V>)b : (AsU<V>)b - (AsU<V>)a))
struct Sad16 : Sad {
  using Sad::Sad;
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b, V c) const {
    return Sad::operator()(low16(a), low16(b), c) & 0xffff;
  }
};

// 32-bit quotients through double: the quotient of two 32-bit integers, rounded to 53 bits, never reaches the
// next integer.
template <class U>
SIMTLAB_INLINE Vec<double, lanes_of<U>> to_double(U a) {
  using W = Vec<u64, lanes_of<U>>;
  using F = Vec<double, lanes_of<U>>;
  return (F)(__builtin_convertvector(a, W) | 0x4330000000000000ull) - splat<F>(0x1p52);
}
template <class U>
SIMTLAB_INLINE U quotient(U a, U b) {
  using W = Vec<u64, lanes_of<U>>;
  using F = Vec<double, lanes_of<U>>;
  const F q = round_integral(to_double(a) / to_double(b), Integral::zero);
  return __builtin_convertvector((W)(q + splat<F>(0x1p52)), U);
}
template <bool remainder>
struct Divide : Stateless {
  using Stateless::Stateless;
  static constexpr unsigned wide = 8;
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b) const {
    using U = AsU<V>;
    const U zero_divisor = (U)(b == V{});
    const U sign_a = (U)(a < V{}), sign_b = (U)(b < V{});  // 0 for unsigned
    const U x = ((U)a ^ sign_a) - sign_a, y = ((U)b ^ sign_b) - sign_b;
    const U q = quotient(x, y | (zero_divisor & 1));
    const U sign = remainder ? sign_a : sign_a ^ sign_b;
    const U r = remainder ? x - q * y : q;
    return (V)(((r ^ sign) - sign) | zero_divisor);
  }
};
template <class F>
struct On16 : F {
  using F::F;
  template <class V>
  SIMTLAB_INLINE V operator()(V a, V b) const {
    return F::operator()(low16(a), low16(b)) & 0xffff;
  }
};
template <class T, bool remainder>
struct DivideOne : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b) const {
    if (b == 0) return (T) ~(u64)0;
    if (T(-1) < T(0) && b == (T)-1) return remainder ? 0 : (T)(0 - (u64)a);  // also the one overflow
    return remainder ? (T)(a % b) : (T)(a / b);
  }
};
// With 16-byte vectors the processor's division is faster.
template <bool remainder>
Handler select_divide(Type type) {
  constexpr bool vectors = vector_bytes > 16;
  switch (type) {
    case Type::u16: return run<On16<Divide<remainder>>, u32, u32, u32>;
    case Type::s16: return run<On16<Divide<remainder>>, s32, s32, s32>;
    case Type::u32:
      return vectors ? run<Divide<remainder>, u32, u32, u32> : each<DivideOne<u32, remainder>, u32, u32, u32>;
    case Type::s32:
      return vectors ? run<Divide<remainder>, s32, s32, s32> : each<DivideOne<s32, remainder>, s32, s32, s32>;
    case Type::u64: return each<DivideOne<u64, remainder>, u64, u64, u64>;
    case Type::s64: return each<DivideOne<s64, remainder>, s64, s64, s64>;
    default: return nullptr;
  }
}

Handler select_mul(const ptx::Inst& inst) {
  const MulMode mode = inst.mods.mul;
  switch (inst.type) {
    case Type::u16:
      return mode == MulMode::wide ? run<MulWide16, u32, u32, u32>
             : mode == MulMode::hi ? run<MulHi16, u32, u32, u32>
                                   : run<MulLo16, u32, u32, u32>;
    case Type::s16:
      return mode == MulMode::wide ? run<MulWide16, s32, s32, s32>
             : mode == MulMode::hi ? run<MulHi16, s32, s32, s32>
                                   : run<MulLo16, u32, u32, u32>;
    case Type::u32:
      return mode == MulMode::wide ? run<MulWide, u64, u32, u32>
             : mode == MulMode::hi ? run<MulHi, u32, u32, u32>
                                   : run<MulLo, u32, u32, u32>;
    case Type::s32:
      return mode == MulMode::wide ? run<MulWide, u64, s32, s32>
             : mode == MulMode::hi ? run<MulHi, s32, s32, s32>
                                   : run<MulLo, u32, u32, u32>;
    case Type::u64:
      return mode == MulMode::hi ? each<MulHi64<u64>, u64, u64, u64> : run<MulLo, u64, u64, u64>;
    case Type::s64:
      return mode == MulMode::hi ? each<MulHi64<s64>, u64, s64, s64> : run<MulLo, u64, u64, u64>;
    default: return nullptr;
  }
}
Handler select_mad(const ptx::Inst& inst) {
  const MulMode mode = inst.mods.mul;
  if (inst.mods.sat)
    return inst.type == Type::s32 && mode == MulMode::hi ? run<MadHiSat, s32, s32, s32, s32> : nullptr;
  switch (inst.type) {
    case Type::u16:
      return mode == MulMode::wide ? run<MadWide16, u32, u32, u32, u32>
             : mode == MulMode::hi ? run<MadHi16, u32, u32, u32, u32>
                                   : run<MadLo16, u32, u32, u32, u32>;
    case Type::s16:
      return mode == MulMode::wide ? run<MadWide16, s32, s32, s32, s32>
             : mode == MulMode::hi ? run<MadHi16, s32, s32, s32, s32>
                                   : run<MadLo16, u32, u32, u32, u32>;
    case Type::u32:
      return mode == MulMode::wide ? run<MadWide, u64, u32, u32, u64>
             : mode == MulMode::hi ? run<MadHi, u32, u32, u32, u32>
                                   : run<MadLo, u32, u32, u32, u32>;
    case Type::s32:
      return mode == MulMode::wide ? run<MadWide, u64, s32, s32, u64>
             : mode == MulMode::hi ? run<MadHi, s32, s32, s32, s32>
                                   : run<MadLo, u32, u32, u32, u32>;
    case Type::u64:
      return mode == MulMode::hi ? each<MadHi64<u64>, u64, u64, u64, u64> : run<MadLo, u64, u64, u64, u64>;
    case Type::s64:
      return mode == MulMode::hi ? each<MadHi64<s64>, u64, s64, s64, s64> : run<MadLo, u64, u64, u64, u64>;
    default: return nullptr;
  }
}
Handler select_24(const ptx::Inst& inst) {
  const bool hi = inst.mods.mul == MulMode::hi, is_signed = inst.type == Type::s32;
  if (!is_signed && inst.type != Type::u32) return nullptr;
  if (inst.op == Op::mul24) {
    if (is_signed) return hi ? run<Mul24Hi, s32, s32, s32> : run<Mul24Lo, s32, s32, s32>;
    return hi ? run<Mul24Hi, u32, u32, u32> : run<Mul24Lo, u32, u32, u32>;
  }
  if (inst.mods.sat) return hi && is_signed ? run<Mad24HiSat, s32, s32, s32, s32> : nullptr;
  if (is_signed) return hi ? run<Mad24Hi, s32, s32, s32, s32> : run<Mad24Lo, s32, s32, s32, s32>;
  return hi ? run<Mad24Hi, u32, u32, u32, u32> : run<Mad24Lo, u32, u32, u32, u32>;
}
Handler select_sad(Type type) {
  switch (type) {
    case Type::u16: return run<Sad16, u32, u32, u32, u32>;
    case Type::s16: return run<Sad16, s32, s32, s32, s32>;
    case Type::u32: return run<Sad, u32, u32, u32, u32>;
    case Type::s32: return run<Sad, s32, s32, s32, s32>;
    case Type::u64: return run<Sad, u64, u64, u64, u64>;
    case Type::s64: return run<Sad, s64, s64, s64, s64>;
    default: return nullptr;
  }
}

// dp4a: c + sum of products of bytes. dp2a: of the halves of a with two bytes of b (.hi: the upper two).
// Each of a and b has its own signedness: dp4a.atype.btype.
struct DotProduct {
  bool a_signed, b_signed, pairs;
  unsigned first;
  SIMTLAB_INLINE explicit DotProduct(const XInst& x)
      : a_signed(x.inst->type == Type::s32),
        b_signed(x.inst->stype == Type::s32),
        pairs(x.inst->op == Op::dp2a),
        first(x.inst->op == Op::dp2a && x.inst->mods.src_type_hi != 0 ? 2 : 0) {}
  template <class U>
  SIMTLAB_INLINE U operator()(U a, U b, U c) const {
    const unsigned count = pairs ? 2 : 4, width = pairs ? 16 : 8;
    for (unsigned i = 0; i < count; ++i)
      c += field(a, i * width, width, a_signed) * field(b, (i + first) * 8, 8, b_signed);
    return c;
  }

 private:
  template <class U>
  SIMTLAB_INLINE static U field(U v, unsigned at, unsigned width, bool is_signed) {
    const U top = v << (32 - width - at);
    return is_signed ? (U)((AsS<U>)top >> (s32)(32 - width)) : top >> (32 - width);
  }
};

}  // namespace

Handler select_multiply(const ptx::Inst& inst) {
  if (inst.mods.cc_in || inst.mods.cc_out) return nullptr;
  switch (inst.op) {
    case Op::mul: return select_mul(inst);
    case Op::mad: return select_mad(inst);
    case Op::mul24:
    case Op::mad24: return select_24(inst);
    case Op::sad: return select_sad(inst.type);
    case Op::div: return select_divide<false>(inst.type);
    case Op::rem: return select_divide<true>(inst.type);
    case Op::dp4a:
    case Op::dp2a: return run<DotProduct, u32, u32, u32, u32>;
    default: return nullptr;
  }
}

}  // namespace simtlab::exec::SIMTLAB_ISA
