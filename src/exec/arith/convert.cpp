// cvt: every pair of integer and floating types.
//
// The frequent pairs work on vectors; the rest (saturating integers, directed roundings to a float, small
// formats) go lane by lane through exact integers or doubles. Results narrower than their register are
// extended to it as their type says; 16-bit registers hold zero-extended values. NaN to integer: 0, or the
// integer's most negative pattern if the source is f64 or the destination has 64 bits (PTX manual).
#include "exec/arith/format.h"

namespace simtlab::exec::SIMTLAB_ISA {
namespace {

using ptx::Rounding;
using ptx::Type;

struct IntType {
  unsigned bits;
  bool is_signed;
};
// bits 0: not an integer.
SIMTLAB_INLINE IntType int_type(Type type) {
  switch (type) {
    case Type::b8:
    case Type::u8: return {8, false};
    case Type::s8: return {8, true};
    case Type::b16:
    case Type::u16: return {16, false};
    case Type::s16: return {16, true};
    case Type::b32:
    case Type::u32: return {32, false};
    case Type::s32: return {32, true};
    case Type::b64:
    case Type::u64: return {64, false};
    case Type::s64: return {64, true};
    default: return {0, false};
  }
}
// Bytes of an operand's row element: 4 or 8.
unsigned row_bytes(const ptx::Operand& operand, Type type) {
  const unsigned bytes = operand.bytes != 0 ? operand.bytes : ptx_bytes(type);
  return bytes == 8 ? 8 : 4;
}
Integral integral_mode(Rounding mode) {
  switch (mode) {
    case Rounding::rni:
    case Rounding::rn: return Integral::nearest;
    case Rounding::rmi:
    case Rounding::rm: return Integral::down;
    case Rounding::rpi:
    case Rounding::rp: return Integral::up;
    default: return Integral::zero;
  }
}
bool rounds_to_integer(Rounding mode) {
  return mode == Rounding::rni || mode == Rounding::rzi || mode == Rounding::rmi || mode == Rounding::rpi;
}

// Keeps the low bits of an element and extends them; V's sign decides how.
template <class V>
SIMTLAB_INLINE V extend(V v, unsigned drop) {
  return (V)((AsU<V>)v << (Elem<AsU<V>>)drop) >> (Elem<V>)drop;
}

// Integer to integer without saturation. S, D: row elements with the signs of the types.
template <class S, class D>
struct IntToInt {
  unsigned source_drop, result_drop;
  u64 keep;
  SIMTLAB_INLINE explicit IntToInt(const XInst& x)
      : source_drop(8 * sizeof(S) - int_type(x.inst->stype).bits),
        result_drop(8 * sizeof(D) - int_type(x.inst->type).bits),
        keep(x.inst->dst[0].bytes == 1   ? 0xff
             : x.inst->dst[0].bytes == 2 ? 0xffff
                                         : ~u64{0}) {}
  template <class V>
  SIMTLAB_INLINE auto operator()(V v) const {
    using R = Vec<D, lanes_of<V>>;
    const R r = extend((R) __builtin_convertvector(extend(v, source_drop), R), result_drop);
    return r & splat<R>((D)keep);
  }
};
template <class S>
Handler int_to_int_from(IntType to, unsigned dst_bytes) {
  // A result of 32 bits or fewer in a 64-bit register is extended to 64 bits.
  if (dst_bytes == 8) return to.is_signed ? run<IntToInt<S, s64>, s64, S> : run<IntToInt<S, u64>, u64, S>;
  return to.is_signed ? run<IntToInt<S, s32>, s32, S> : run<IntToInt<S, u32>, u32, S>;
}

// Integer (8 to 64 bits) to f32 or f64, to nearest.
template <class S, class F>
struct IntToFloat {
  unsigned drop;
  SIMTLAB_INLINE explicit IntToFloat(const XInst& x) : drop(8 * sizeof(S) - int_type(x.inst->stype).bits) {}
  template <class V>
  SIMTLAB_INLINE auto operator()(V v) const {
    return __builtin_convertvector(extend(v, drop), Vec<F, lanes_of<V>>);
  }
};
template <class S>
Handler int_to_float_from(Type to) {
  return to == Type::f32 ? run<IntToFloat<S, float>, float, S> : run<IntToFloat<S, double>, double, S>;
}

// f32 or f64 to a 32- or 64-bit integer in a register of its size.
template <class F, class D>
struct FloatToInt {
  Integral mode;
  bool ftz;
  SIMTLAB_INLINE explicit FloatToInt(const XInst& x)
      : mode(integral_mode(x.inst->mods.rounding)), ftz(x.inst->mods.ftz && sizeof(F) == 4) {}
  template <class V>
  SIMTLAB_INLINE auto operator()(V v) const {
    using R = Vec<D, lanes_of<V>>;
    constexpr bool is_signed = D(-1) < D(0);
    constexpr unsigned bits = 8 * sizeof(D);
    constexpr D lowest = is_signed ? (D)(u64{1} << (bits - 1)) : 0, highest = (D)(~lowest);
    const V limit =
        splat<V>((F)(is_signed ? (bits == 32 ? 0x1p31 : 0x1p63) : (bits == 32 ? 0x1p32 : 0x1p64)));
    const V floor = splat<V>((F)(is_signed ? (bits == 32 ? -0x1p31 : -0x1p63) : 0.0));
    if (ftz) v = flush(v);
    V r = v;
    switch (mode) {
      case Integral::nearest: r = round_integral(v, Integral::nearest); break;
      case Integral::zero: r = round_integral(v, Integral::zero); break;
      case Integral::down: r = round_integral(v, Integral::down); break;
      default: r = round_integral(v, Integral::up); break;
    }
    const AsS<V> over = (AsS<V>)(r >= limit), under = (AsS<V>)(r < floor), nan = (AsS<V>)(v != v);
    const R inside = __builtin_convertvector(blend(over | under | nan, V{}, r), R);
    constexpr D nan_value = sizeof(F) == 8 || bits == 64 ? (D)(u64{1} << (bits - 1)) : 0;
    using M = Vec<typename Sized<sizeof(D)>::s, lanes_of<V>>;
    R result = blend(__builtin_convertvector(over, M), splat<R>(highest), inside);
    result = blend(__builtin_convertvector(under, M), splat<R>(lowest), result);
    return blend(__builtin_convertvector(nan, M), splat<R>(nan_value), result);
  }
};
template <class F>
Handler float_to_int(IntType to) {
  if (to.bits == 32) return to.is_signed ? run<FloatToInt<F, s32>, s32, F> : run<FloatToInt<F, u32>, u32, F>;
  return to.is_signed ? run<FloatToInt<F, s64>, s64, F> : run<FloatToInt<F, u64>, u64, F>;
}

struct F32ToF64 {
  bool ftz, sat;
  SIMTLAB_INLINE explicit F32ToF64(const XInst& x) : ftz(x.inst->mods.ftz), sat(x.inst->mods.sat) {}
  template <class V>
  SIMTLAB_INLINE auto operator()(V v) const {
    using R = Vec<double, lanes_of<V>>;
    const R r = __builtin_convertvector(ftz ? flush(v) : v, R);
    return sat ? saturate01(r) : r;
  }
};
struct F64ToF32 {
  bool ftz, sat;
  SIMTLAB_INLINE explicit F64ToF32(const XInst& x) : ftz(x.inst->mods.ftz), sat(x.inst->mods.sat) {}
  template <class V>
  SIMTLAB_INLINE auto operator()(V v) const {
    using R = Vec<float, lanes_of<V>>;
    R r = __builtin_convertvector(v, R);
    if (ftz) r = flush(r);
    return sat ? saturate01(r) : settle_nan(r);
  }
};
// f32 to f32 and f64 to f64: rounding to an integer, saturation, flushing.
struct SameFloat {
  Integral mode;
  bool integral, ftz, sat;
  SIMTLAB_INLINE explicit SameFloat(const XInst& x)
      : mode(integral_mode(x.inst->mods.rounding)),
        integral(rounds_to_integer(x.inst->mods.rounding)),
        ftz(x.inst->mods.ftz),
        sat(x.inst->mods.sat) {}
  template <class V>
  SIMTLAB_INLINE V operator()(V v) const {
    if (ftz) v = flush(v);
    V r = v;
    if (integral) {
      switch (mode) {
        case Integral::nearest: r = round_integral(v, Integral::nearest); break;
        case Integral::zero: r = round_integral(v, Integral::zero); break;
        case Integral::down: r = round_integral(v, Integral::down); break;
        default: r = round_integral(v, Integral::up); break;
      }
    }
    return sat ? saturate01(r) : settle_nan(r, v);
  }
};

struct F16ToF32 : Stateless {
  using Stateless::Stateless;
  template <class V>
  SIMTLAB_INLINE auto operator()(V v) const {
    return settle_nan(widen_f16(v));
  }
};
struct Bf16ToF32 : Stateless {
  using Stateless::Stateless;
  template <class V>
  SIMTLAB_INLINE auto operator()(V v) const {
    return settle_nan(widen_bf16(v));
  }
};
struct F32ToBf16 : Stateless {
  using Stateless::Stateless;
  template <class V>
  SIMTLAB_INLINE auto operator()(V v) const {
    return narrow_bf16(v);
  }
  template <class V>
  SIMTLAB_INLINE auto operator()(V high, V low) const {
    return narrow_bf16(low) | (narrow_bf16(high) << 16);
  }
};
#if defined(__F16C__)
struct F32ToF16 : Stateless {
  using Stateless::Stateless;
  template <class V>
  SIMTLAB_INLINE auto operator()(V v) const {
    return narrow_f16(v);
  }
  template <class V>
  SIMTLAB_INLINE auto operator()(V high, V low) const {
    return narrow_f16(low) | (narrow_f16(high) << 16);
  }
};
#endif

// The general path, one lane. Everything about the instruction is looked up as it runs.
class General {
 public:
  explicit General(const ptx::Inst& inst)
      : to_(inst.type),
        from_(inst.stype),
        to_int_(int_type(inst.type)),
        from_int_(int_type(inst.stype)),
        mods_(inst.mods),
        dst_bytes_(inst.dst[0].bytes != 0 ? inst.dst[0].bytes : ptx_bytes(inst.type)) {}

  u64 operator()(u64 bits) const {
    if (from_int_.bits != 0) return from_integer(bits);
    double v = decode(from_, bits);
    if (mods_.ftz && from_ == Type::f32 && __builtin_fabs(v) < 0x1p-126) v = __builtin_copysign(0.0, v);
    if (to_int_.bits != 0) return extended(to_integer(v));
    return to_float(v);
  }
  u64 to_float(double v) const {
    Rounding mode = mods_.rounding;
    if (rounds_to_integer(mode)) {
      v = round_integral(Vec<double, 2>{v, v}, integral_mode(mode))[0];
      mode = Rounding::rn;
    }
    const bool small = to_ == Type::e4m3x2 || to_ == Type::e5m2x2;
    if (mods_.sat && !small) v = v > 0 ? (v < 1 ? v : 1.0) : 0.0;  // NaN too
    if (mods_.relu && v < 0) v = 0;
    u64 bits = encode(format_of(to_), v, mode, small);
    if (mods_.relu && bits == format_of(to_).sign) bits = 0;
    if (mods_.ftz && to_ == Type::f32 && (bits & 0x7f800000u) == 0) bits &= 0x80000000u;
    return bits;
  }

 private:
  u64 from_integer(u64 bits) const {
    const unsigned drop = 64 - from_int_.bits;
    const s64 value = from_int_.is_signed ? (s64)(bits << drop) >> drop : (s64)(bits << drop >> drop);
    const bool negative = from_int_.is_signed && value < 0;
    if (to_int_.bits != 0) return extended(mods_.sat ? clamped(value, negative) : (u64)value);
    const Format f = format_of(to_);
    const u64 magnitude = negative ? 0 - (u64)value : (u64)value;
    if (mods_.sat) return encode(f, negative ? 0.0 : magnitude == 0 ? 0.0 : 1.0, Rounding::rn, false);
    return (negative ? f.sign : 0) | encode_magnitude(f, {magnitude, 0, negative}, mods_.rounding, false);
  }
  u64 clamped(s64 value, bool negative) const {
    const u64 highest = highest_value();
    if (negative) {
      if (!to_int_.is_signed) return 0;
      const s64 lowest = -(s64)highest - 1;
      return (u64)(value < lowest ? lowest : value);
    }
    return (u64)value > highest ? highest : (u64)value;
  }
  u64 highest_value() const { return ~u64{0} >> (64 - to_int_.bits + (to_int_.is_signed ? 1u : 0u)); }
  u64 to_integer(double v) const {
    const u64 lowest = to_int_.is_signed ? ~highest_value() : 0;
    if (v != v) return from_ == Type::f64 || to_int_.bits == 64 ? u64{1} << (to_int_.bits - 1) : 0;
    const double r = round_integral(Vec<double, 2>{v, v}, integral_mode(mods_.rounding))[0];
    if (r < 0) return !to_int_.is_signed || r < -0x1p63 || (s64)r < (s64)lowest ? lowest : (u64)(s64)r;
    if (r >= 0x1p64) return highest_value();
    const u64 magnitude = (u64)r;
    return magnitude > highest_value() ? highest_value() : magnitude;
  }
  // Cuts to the destination type and extends to the register.
  u64 extended(u64 value) const {
    const unsigned drop = 64 - to_int_.bits;
    const u64 wide = to_int_.is_signed ? (u64)((s64)(value << drop) >> drop) : value << drop >> drop;
    return dst_bytes_ >= 8 ? wide : wide & ((u64{1} << (8 * dst_bytes_)) - 1);
  }

  Type to_, from_;
  IntType to_int_, from_int_;
  const ptx::Mods& mods_;
  unsigned dst_bytes_;
};

u64 get_row(const std::byte* row, unsigned bytes, unsigned lane) {
  return bytes == 8 ? get<u64>(row, lane) : get<u32>(row, lane);
}
void store_results(const WarpCtx& w, std::byte* dst, unsigned bytes, const u64 (&result)[warp_lanes]) {
  if (bytes == 8) {
    store_row(w, dst, result);
    return;
  }
  alignas(64) u32 narrow[warp_lanes];
  for (unsigned lane = 0; lane < warp_lanes; ++lane) narrow[lane] = (u32)result[lane];
  store_row(w, dst, narrow);
}
void convert_any(WarpCtx& w, const XInst& x) {
  const ptx::Inst& inst = *x.inst;
  const General general(inst);
  const unsigned from = row_bytes(inst.src[0], inst.stype), to = row_bytes(inst.dst[0], inst.type);
  const std::byte* src = w.row(x.src[0]);
  alignas(64) u64 result[warp_lanes] = {};
  for (u32 m = w.mask; m != 0; m &= m - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(m);
    result[lane] = general(get_row(src, from, lane));
  }
  store_results(w, w.row(x.dst), to, result);
}

unsigned element_bits(Type pair) { return pair == Type::e4m3x2 || pair == Type::e5m2x2 ? 8 : 16; }
// Results are pairs: from two f32 (the first becomes the upper element) or from another kind of pair.
void convert_pairs(WarpCtx& w, const XInst& x) {
  const ptx::Inst& inst = *x.inst;
  const General general(inst);
  const unsigned to = element_bits(inst.type), from = element_bits(inst.stype);
  const bool two = inst.src_count == 2;
  alignas(64) u64 result[warp_lanes] = {};
  for (u32 m = w.mask; m != 0; m &= m - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(m);
    const u64 first = get<u32>(w.row(x.src[0]), lane);
    const u64 high = two ? first : (first >> from) & ((1u << from) - 1);
    const u64 low = two ? get<u32>(w.row(x.src[1]), lane) : first & ((1u << from) - 1);
    result[lane] = general(low) | general(high) << to;
  }
  store_results(w, w.row(x.dst), 4, result);
}

bool is_pair(Type type) {
  return type == Type::f16x2 || type == Type::bf16x2 || type == Type::e4m3x2 || type == Type::e5m2x2;
}
bool is_scalar_float(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64 ||
         type == Type::tf32;
}

Handler select_from_int(const ptx::Inst& inst, IntType from, IntType to) {
  const unsigned src = row_bytes(inst.src[0], inst.stype), dst = row_bytes(inst.dst[0], inst.type);
  const Rounding mode = inst.mods.rounding;
  if (to.bits != 0) {
    if (inst.mods.sat || to.bits > 8 * dst || from.bits > 8 * src) return convert_any;
    if (src == 8) return from.is_signed ? int_to_int_from<s64>(to, dst) : int_to_int_from<u64>(to, dst);
    return from.is_signed ? int_to_int_from<s32>(to, dst) : int_to_int_from<u32>(to, dst);
  }
  const bool plain =
      (mode == Rounding::none || mode == Rounding::rn) && !inst.mods.sat && from.bits <= 8 * src;
  if (!plain || (inst.type != Type::f32 && inst.type != Type::f64)) return convert_any;
  if (src == 8) return from.is_signed ? int_to_float_from<s64>(inst.type) : int_to_float_from<u64>(inst.type);
  return from.is_signed ? int_to_float_from<s32>(inst.type) : int_to_float_from<u32>(inst.type);
}

Handler select_between_floats(const ptx::Inst& inst) {
  const Type to = inst.type, from = inst.stype;
  const Rounding mode = inst.mods.rounding;
  const bool nearest = mode == Rounding::none || mode == Rounding::rn;
  const bool bare = nearest && !inst.mods.sat && !inst.mods.ftz && !inst.mods.relu;
  if (inst.mods.relu) return convert_any;
  if (to == Type::f32 && from == Type::f32) return run<SameFloat, float, float>;
  if (to == Type::f64 && from == Type::f64) return run<SameFloat, double, double>;
  if (to == Type::f64 && from == Type::f32 && !rounds_to_integer(mode)) return run<F32ToF64, double, float>;
  if (to == Type::f32 && from == Type::f64 && nearest) return run<F64ToF32, float, double>;
  if (to == Type::f32 && from == Type::f16 && nearest && !inst.mods.sat) return run<F16ToF32, float, u32>;
  if (to == Type::f32 && from == Type::bf16 && bare) return run<Bf16ToF32, float, u32>;
  if (to == Type::bf16 && from == Type::f32 && bare) return run<F32ToBf16, u32, float>;
#if defined(__F16C__)
  if (to == Type::f16 && from == Type::f32 && bare) return run<F32ToF16, u32, float>;
#endif
  return convert_any;
}

}  // namespace

Handler select_convert(const ptx::Inst& inst) {
  if (inst.op != ptx::Op::cvt || inst.dst_count != 1) return nullptr;
  const IntType from = int_type(inst.stype), to = int_type(inst.type);
  if (is_pair(inst.type)) {
    const bool two_floats = inst.src_count == 2 && inst.stype == Type::f32;
    const bool bare = inst.mods.rounding == Rounding::rn && !inst.mods.relu && !inst.mods.sat;
    if (two_floats && bare && inst.type == Type::bf16x2) return run<F32ToBf16, u32, float, float>;
#if defined(__F16C__)
    if (two_floats && bare && inst.type == Type::f16x2) return run<F32ToF16, u32, float, float>;
#endif
    return two_floats || (inst.src_count == 1 && is_pair(inst.stype)) ? convert_pairs : nullptr;
  }
  if (inst.src_count != 1) return nullptr;
  const bool known_from = from.bits != 0 || is_scalar_float(inst.stype),
             known_to = to.bits != 0 || is_scalar_float(inst.type);
  if (!known_from || !known_to) return nullptr;
  // A float in a register of another width.
  if (is_scalar_float(inst.stype) && row_bytes(inst.src[0], inst.stype) != (inst.stype == Type::f64 ? 8 : 4))
    return convert_any;
  if (is_scalar_float(inst.type) && row_bytes(inst.dst[0], inst.type) != (inst.type == Type::f64 ? 8 : 4))
    return convert_any;
  if (from.bits != 0) return select_from_int(inst, from, to);
  if (to.bits == 0) return select_between_floats(inst);
  const bool whole = to.bits >= 32 && to.bits == 8 * row_bytes(inst.dst[0], inst.type);
  if (whole && inst.stype == Type::f32) return float_to_int<float>(to);
  if (whole && inst.stype == Type::f64) return float_to_int<double>(to);
  return convert_any;
}

}  // namespace simtlab::exec::SIMTLAB_ISA
