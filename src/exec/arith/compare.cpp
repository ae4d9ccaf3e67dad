// setp, set, slct and testp.
//
// A comparison of two rows gives one bit a lane. Ordered comparisons are false if an operand is a NaN, the
// ...u forms are then true. Plain setp on 32- and 64-bit types has a handler of its own each; the other forms
// choose the comparison when they run, 16-bit types after widening their rows.
#include "exec/arith/half.h"
#include "exec/arith/select.h"

namespace simtlab::exec::SIMTLAB_ISA {
namespace {

using ptx::BoolOp;
using ptx::Compare;
using ptx::Op;
using ptx::Type;

constexpr bool is_float_elem(float) { return true; }
constexpr bool is_float_elem(double) { return true; }
template <class T>
constexpr bool is_float_elem(T) {
  return false;
}

#if defined(__AVX512F__)
constexpr int vcmp_code(Compare compare, bool floating) {
  switch (compare) {
    case Compare::eq: return floating ? _CMP_EQ_OQ : _MM_CMPINT_EQ;
    case Compare::ne: return floating ? _CMP_NEQ_OQ : _MM_CMPINT_NE;
    case Compare::lt: return floating ? _CMP_LT_OQ : _MM_CMPINT_LT;
    case Compare::le: return floating ? _CMP_LE_OQ : _MM_CMPINT_LE;
    case Compare::gt: return floating ? _CMP_GT_OQ : _MM_CMPINT_NLE;
    case Compare::ge: return floating ? _CMP_GE_OQ : _MM_CMPINT_NLT;
    case Compare::equ: return _CMP_EQ_UQ;
    case Compare::neu: return _CMP_NEQ_UQ;
    case Compare::ltu: return _CMP_NGE_UQ;
    case Compare::leu: return _CMP_NGT_UQ;
    case Compare::gtu: return _CMP_NLE_UQ;
    case Compare::geu: return _CMP_NLT_UQ;
    case Compare::num: return _CMP_ORD_Q;
    default: return _CMP_UNORD_Q;
  }
}
#endif

template <Compare compare, class V>
SIMTLAB_INLINE AsS<V> compare_vectors(V a, V b) {
  using M = AsS<V>;
  switch (compare) {
    case Compare::eq: return (M)(a == b);
    case Compare::ne: return is_float_elem(Elem<V>{}) ? (M)((a < b) | (a > b)) : (M)(a != b);
    case Compare::lt: return (M)(a < b);
    case Compare::le: return (M)(a <= b);
    case Compare::gt: return (M)(a > b);
    case Compare::ge: return (M)(a >= b);
    case Compare::equ: return ~(M)((a < b) | (a > b));
    case Compare::neu: return (M)(a != b);
    case Compare::ltu: return ~(M)(a >= b);
    case Compare::leu: return ~(M)(a > b);
    case Compare::gtu: return ~(M)(a <= b);
    case Compare::geu: return ~(M)(a < b);
    case Compare::num: return (M)((a == a) & (b == b));
    default: return ~(M)((a == a) & (b == b));
  }
}
template <Compare compare, class V>
SIMTLAB_INLINE u32 compare_bits(V a, V b) {
#if defined(__AVX512F__)
  using T = Elem<V>;
  constexpr bool floating = is_float_elem(T{}), is_signed = T(-1) < T(0);
  constexpr int code = vcmp_code(compare, floating);
  if constexpr (floating && sizeof(T) == 4)
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, code);
  else if constexpr (floating)
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, code);
  else if constexpr (sizeof(T) == 4 && is_signed)
    return _mm512_cmp_epi32_mask((__m512i)a, (__m512i)b, code);
  else if constexpr (sizeof(T) == 4)
    return _mm512_cmp_epu32_mask((__m512i)a, (__m512i)b, code);
  else if constexpr (is_signed)
    return _mm512_cmp_epi64_mask((__m512i)a, (__m512i)b, code);
  else
    return _mm512_cmp_epu64_mask((__m512i)a, (__m512i)b, code);
#else
  return pack_bits(compare_vectors<compare>(a, b));
#endif
}

template <Compare compare, class T, bool ftz>
SIMTLAB_INLINE u32 compare_rows(const std::byte* a, const std::byte* b) {
  using V = Vec<T, vector_bytes / sizeof(T)>;
  u32 bits = 0;
#pragma GCC unroll 4
  for (unsigned i = 0; i < warp_lanes; i += lanes_of<V>) {
    V left = load<V>(a, i), right = load<V>(b, i);
    if constexpr (ftz) {
      left = flush(left);
      right = flush(right);
    }
    bits |= compare_bits<compare>(left, right) << i;
  }
  return bits;
}
template <Compare compare, class T, bool ftz>
void setp(WarpCtx& w, const XInst& x) {
  w.set_pred(x.pdst, compare_rows<compare, T, ftz>(w.row(x.src[0]), w.row(x.src[1])));
}

// The unsigned spellings of comparisons of integers, and equality in its bit form, come down to six.
constexpr Compare integer_compare(Compare compare) {
  switch (compare) {
    case Compare::lo: return Compare::lt;
    case Compare::ls: return Compare::le;
    case Compare::hi: return Compare::gt;
    case Compare::hs: return Compare::ge;
    default: return compare;
  }
}
// Calls visit.operator()<compare>() for the comparison; false if the type has none of that name.
template <class Visit>
SIMTLAB_INLINE bool visit_integer(Compare compare, Visit visit) {
  switch (integer_compare(compare)) {
    case Compare::eq: visit.template operator()<Compare::eq>(); return true;
    case Compare::ne: visit.template operator()<Compare::ne>(); return true;
    case Compare::lt: visit.template operator()<Compare::lt>(); return true;
    case Compare::le: visit.template operator()<Compare::le>(); return true;
    case Compare::gt: visit.template operator()<Compare::gt>(); return true;
    case Compare::ge: visit.template operator()<Compare::ge>(); return true;
    default: return false;
  }
}
template <class Visit>
SIMTLAB_INLINE bool visit_float(Compare compare, Visit visit) {
  switch (compare) {
    case Compare::equ: visit.template operator()<Compare::equ>(); return true;
    case Compare::neu: visit.template operator()<Compare::neu>(); return true;
    case Compare::ltu: visit.template operator()<Compare::ltu>(); return true;
    case Compare::leu: visit.template operator()<Compare::leu>(); return true;
    case Compare::gtu: visit.template operator()<Compare::gtu>(); return true;
    case Compare::geu: visit.template operator()<Compare::geu>(); return true;
    case Compare::num: visit.template operator()<Compare::num>(); return true;
    case Compare::nan: visit.template operator()<Compare::nan>(); return true;
    case Compare::lo:
    case Compare::ls:
    case Compare::hi:
    case Compare::hs: return false;
    default: return visit_integer(compare, visit);
  }
}

template <class T, bool ftz = false>
Handler plain_setp(Compare compare) {
  Handler handler = nullptr;
  const auto pick = [&]<Compare c>() { handler = setp<c, T, ftz>; };
  if constexpr (is_float_elem(T{}))
    visit_float(compare, pick);
  else
    visit_integer(compare, pick);
  return handler;
}

template <class T>
u32 compare_as(Compare compare, const std::byte* a, const std::byte* b) {
  u32 bits = 0;
  const auto run = [&]<Compare c>() { bits = compare_rows<c, T, false>(a, b); };
  if constexpr (is_float_elem(T{}))
    visit_float(compare, run);
  else
    visit_integer(compare, run);
  return bits;
}

// A row of 16-bit values (the low or high half of each element) as 32-bit values, flushed if that is asked
// for.
struct Widened {
  alignas(64) std::byte row[warp_lanes * 4];
  Widened(const std::byte* from, Type type, bool high, bool ftz) {
    using U = Vec<u32, vector_bytes / 4>;
    for (unsigned i = 0; i < warp_lanes; i += lanes_of<U>) {
      U v = load<U>(from, i);
      if (high)
        v >>= 16;
      else
        v &= 0xffff;
      store<U>(row, i, widen(v, type, ftz));
    }
  }

 private:
  template <class U>
  SIMTLAB_INLINE static U widen(U v, Type type, bool ftz) {
    switch (type) {
      case Type::s16: return (U)((AsS<U>)(v << 16) >> 16);
      case Type::f16:
      case Type::f16x2: return (U)(ftz ? flush_f16(widen_f16(v)) : widen_f16(v));
      case Type::bf16:
      case Type::bf16x2: return (U)(ftz ? flush(widen_bf16(v)) : widen_bf16(v));
      default: return v;
    }
  }
};

// Comparison of the first two sources in any form. high: of the upper halves of pairs.
u32 compare_sources(const WarpCtx& w, const XInst& x, Type type, bool high) {
  const Compare compare = x.inst->mods.compare;
  const std::byte *a = w.row(x.src[0]), *b = w.row(x.src[1]);
  const bool ftz = x.inst->mods.ftz;
  switch (type) {
    case Type::b32:
    case Type::u32: return compare_as<u32>(compare, a, b);
    case Type::s32: return compare_as<s32>(compare, a, b);
    case Type::b64:
    case Type::u64: return compare_as<u64>(compare, a, b);
    case Type::s64: return compare_as<s64>(compare, a, b);
    case Type::f64: return compare_as<double>(compare, a, b);
    case Type::f32: {
      if (!ftz) return compare_as<float>(compare, a, b);
      alignas(64) std::byte flushed[2][warp_lanes * 4];
      using V = Vec<float, vector_bytes / 4>;
      for (unsigned i = 0; i < warp_lanes; i += lanes_of<V>) {
        store(flushed[0], i, flush(load<V>(a, i)));
        store(flushed[1], i, flush(load<V>(b, i)));
      }
      return compare_as<float>(compare, flushed[0], flushed[1]);
    }
    case Type::b16:
    case Type::u16:
    case Type::s16: {
      const Widened left(a, type, false, false), right(b, type, false, false);
      return compare_as<s32>(compare, left.row, right.row);
    }
    default: {
      const Widened left(a, type, high, ftz), right(b, type, high, ftz);
      return compare_as<float>(compare, left.row, right.row);
    }
  }
}

u32 combine(BoolOp op, u32 compared, const WarpCtx& w, const XInst& x) {
  switch (op) {
    case BoolOp::and_: return compared & w.pred(x.psrc[0]);
    case BoolOp::or_: return compared | w.pred(x.psrc[0]);
    case BoolOp::xor_: return compared ^ w.pred(x.psrc[0]);
    default: return compared;
  }
}

bool is_pair(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }

// setp in every form: p = (a cmp b) op c, q = !(a cmp b) op c; of pairs: p from the low, q from the high
// halves.
void setp_any(WarpCtx& w, const XInst& x) {
  const Type type = x.inst->type;
  const BoolOp op = x.inst->mods.bool_op;
  const u32 low = compare_sources(w, x, type, false);
  const u32 second = is_pair(type) ? compare_sources(w, x, type, true) : ~low;
  const u32 p = combine(op, low, w, x), q = combine(op, second, w, x);
  w.set_pred(x.pdst, p);
  if (x.pdst2 != no_pred) w.set_pred(x.pdst2, q);
}

// setp_ex: r decides where the high words are equal; p = that op c, q = !that op c.
void setp_ex(WarpCtx& w, const XInst& x) {
  const std::byte *a = w.row(x.src[0]), *b = w.row(x.src[1]);
  const u32 equal = compare_rows<Compare::eq, u32, false>(a, b), low = w.pred(x.psrc[0]);
  const u32 compared = (equal & low) | (~equal & compare_sources(w, x, x.inst->type, false));
  const auto combined = [&](u32 value) {
    switch (x.inst->mods.bool_op) {
      case BoolOp::and_: return value & w.pred(x.psrc[1]);
      case BoolOp::or_: return value | w.pred(x.psrc[1]);
      case BoolOp::xor_: return value ^ w.pred(x.psrc[1]);
      default: return value;
    }
  };
  const u32 p = combined(compared), q = combined(~compared);
  w.set_pred(x.pdst, p);
  if (x.pdst2 != no_pred) w.set_pred(x.pdst2, q);
}

// The value that set writes for true.
u32 true_value(Type type) {
  switch (type) {
    case Type::f32: return 0x3f800000u;
    case Type::f16:
    case Type::f16x2: return 0x3c00u;
    case Type::bf16:
    case Type::bf16x2: return 0x3f80u;
    case Type::b16:
    case Type::u16:
    case Type::s16: return 0xffffu;
    default: return 0xffffffffu;
  }
}
void set_any(WarpCtx& w, const XInst& x) {
  const Type source = x.inst->stype;
  const BoolOp op = x.inst->mods.bool_op;
  const u32 low = combine(op, compare_sources(w, x, source, false), w, x);
  const bool pair = is_pair(source);
  const u32 high = pair ? combine(op, compare_sources(w, x, source, true), w, x) : 0;
  const u32 yes = true_value(pair && !is_pair(x.inst->type) ? Type::u16 : x.inst->type);  // masks of halves
  alignas(64) u32 result[warp_lanes];
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    result[lane] = ((low >> lane) & 1u) != 0 ? yes : 0;
    if (((high >> lane) & 1u) != 0) result[lane] |= yes << 16;
  }
  store_row(w, w.row(x.dst), result);
}

bool has_compare(Type type, Compare compare) {
  const auto none = []<Compare>() {};
  switch (type) {
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2:
    case Type::f32:
    case Type::f64: return visit_float(compare, none);
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::b32:
    case Type::u32:
    case Type::s32:
    case Type::b64:
    case Type::u64:
    case Type::s64: return visit_integer(compare, none);
    default: return false;
  }
}

Handler select_setp(const ptx::Inst& inst) {
  const Compare compare = inst.mods.compare;
  if (!has_compare(inst.type, compare)) return nullptr;
  if (inst.mods.bool_op != BoolOp::none || inst.dst_count > 1) return setp_any;
  switch (inst.type) {
    case Type::b16:
    case Type::u16:
    case Type::b32:
    case Type::u32: return plain_setp<u32>(compare);
    case Type::s32: return plain_setp<s32>(compare);
    case Type::b64:
    case Type::u64: return plain_setp<u64>(compare);
    case Type::s64: return plain_setp<s64>(compare);
    case Type::f32: return inst.mods.ftz ? plain_setp<float, true>(compare) : plain_setp<float>(compare);
    case Type::f64: return plain_setp<double>(compare);
    default: return setp_any;
  }
}

// slct: a if c >= 0, else b (also for a NaN).
template <class C>
struct Slct {
  bool ftz;
  SIMTLAB_INLINE explicit Slct(const XInst& x) : ftz(x.inst->mods.ftz) {}
  template <class V, class W>
  SIMTLAB_INLINE V operator()(V a, V b, W c) const {
    AsS<W> keep = (AsS<W>)(c >= W{});
    if constexpr (is_float_elem(C{})) keep = (AsS<W>)((ftz ? flush(c) : c) >= W{});
    return blend(__builtin_convertvector(keep, AsS<V>), a, b);
  }
};
Handler select_slct(const ptx::Inst& inst) {
  const bool floating = inst.stype == Type::f32;
  switch (ptx_bytes(inst.type)) {
    case 2:
    case 4: return floating ? run<Slct<float>, u32, u32, u32, float> : run<Slct<s32>, u32, u32, u32, s32>;
    case 8: return floating ? run<Slct<float>, u64, u64, u64, float> : run<Slct<s32>, u64, u64, u64, s32>;
    default: return nullptr;
  }
}

template <class E>
u32 classify(const WarpCtx& w, const XInst& x) {
  using V = Vec<E, vector_bytes / sizeof(E)>;
  using U = AsU<V>;
  u32 bits = 0;
  for (unsigned i = 0; i < warp_lanes; i += lanes_of<V>) {
    const U magnitude = (U)load<V>(w.row(x.src[0]), i) & ~Layout<V>::sign;
    const U exponent = splat<U>(Layout<V>::exponent), smallest_normal = exponent & (U{} - exponent);
    AsS<V> is{};
    switch (x.inst->mods.testp) {
      case 0: is = (AsS<V>)(magnitude < exponent); break;
      case 1: is = (AsS<V>)(magnitude == exponent); break;
      case 2: is = (AsS<V>)(magnitude <= exponent); break;
      case 3: is = (AsS<V>)(magnitude > exponent); break;
      case 4:  // zeros, too, says the PTX manual
        is = (AsS<V>)(((magnitude >= smallest_normal) & (magnitude < exponent)) | (magnitude == U{}));
        break;
      default: is = (AsS<V>)((magnitude < smallest_normal) & (magnitude != U{})); break;
    }
    bits |= pack_bits(is) << i;
  }
  return bits;
}
template <class E>
void testp(WarpCtx& w, const XInst& x) {
  w.set_pred(x.pdst, classify<E>(w, x));
}

// testp 6: whether a / b needs the slow division (machine/semantics_floating.cpp has the rule).
void needs_slow_division(WarpCtx& w, const XInst& x) {
  using V = Vec<u32, vector_bytes / 4>;
  constexpr u32 bias = 127;
  u32 bits = 0;
  for (unsigned i = 0; i < warp_lanes; i += lanes_of<V>) {
    const V a = load<V>(w.row(x.src[0]), i) >> 23 & 0xff, b = load<V>(w.row(x.src[1]), i) >> 23 & 0xff;
    const auto slow = (a - (bias - 102) > splat<V>(254 - (bias - 102))) | (b - 1 > splat<V>(bias + 124)) |
                      (a - b + 125 > splat<V>(251));
    bits |= pack_bits((AsS<V>)slow) << i;
  }
  w.set_pred(x.pdst, bits);
}

}  // namespace

Handler select_compare(const ptx::Inst& inst) {
  switch (inst.op) {
    case Op::setp: return select_setp(inst);
    case Op::setp_ex: return setp_ex;
    case Op::set: return has_compare(inst.stype, inst.mods.compare) ? set_any : nullptr;
    case Op::slct: return select_slct(inst);
    case Op::testp:
      if (inst.mods.testp == 6 && inst.type == Type::f32 && inst.src_count == 2) return needs_slow_division;
      if (inst.mods.testp > 5) return nullptr;
      return inst.type == Type::f32 ? testp<float> : inst.type == Type::f64 ? testp<double> : nullptr;
    default: return nullptr;
  }
}

}  // namespace simtlab::exec::SIMTLAB_ISA
