// f32 and f64 handlers against the host's scalar arithmetic under fesetround.
#include <cfenv>
#include <cmath>
#include <limits>

#include "arith_support.h"

namespace arith {
namespace {

using ptx::Rounding;

template <class T>
T from_bits(u64 v) {
  if constexpr (sizeof(T) == 4)
    return f32(v);
  else
    return f64(v);
}
template <class T>
T flushed(T v) {
  return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(T{0}, v) : v;
}
template <class T>
T saturated(T v) {
  return std::isnan(v) || v <= 0 ? T{0} : v > 1 ? T{1} : v;
}
constexpr u64 quiet_bit = 0x0008000000000000ull;

// What a NaN result must be.
template <class T>
u64 nan_result(const Sources& s, std::size_t count) {
  if constexpr (sizeof(T) == 4) return 0x7fffffffu;
  for (std::size_t i = 0; i < count; ++i)
    if (std::isnan(f64(s.v[i]))) return s.v[i] | quiet_bit;
  return 0xfff8000000000000ull;
}

template <class T>
T compute(Op op, T a, T b, T c) {
  volatile T x = a, y = b, z = c, r = 0;
  switch (op) {
    case Op::add: r = x + y; break;
    case Op::sub: r = x - y; break;
    case Op::mul: r = x * y; break;
    case Op::div: r = x / y; break;
    case Op::rcp: r = T{1} / x; break;
    case Op::sqrt: r = std::sqrt(T{x}); break;
    default: r = std::fma(T{x}, T{y}, T{z}); break;
  }
  return r;
}

template <class T>
void check_rounded(Op op, Type type, Rounding mode, bool ftz, bool sat) {
  const std::size_t count = op == Op::fma ? 3 : op == Op::rcp || op == Op::sqrt ? 1 : 2;
  Form form{.op = op, .type = type, .sources = std::vector<Type>(count, type), .result = type};
  form.mods.rounding = mode;
  form.mods.ftz = ftz;
  form.mods.sat = sat;
  check(
      form,
      [&](const Sources& s) {
        T v[3];
        for (std::size_t i = 0; i < 3; ++i) v[i] = ftz ? flushed(from_bits<T>(s.v[i])) : from_bits<T>(s.v[i]);
        T r;
        {
          const HostRounding scope(mode);
          r = compute(op, v[0], v[1], v[2]);
        }
        if (ftz) r = flushed(r);
        if (sat) return Result{bits(saturated(r))};
        return Result{std::isnan(r) ? nan_result<T>(s, count) : bits(r)};
      },
      60);
}

TEST(FloatHandlers, arithmetic_is_exact_in_every_rounding) {
  for (const Op op : {Op::add, Op::sub, Op::mul, Op::fma, Op::div, Op::rcp, Op::sqrt})
    for (const Rounding mode : {Rounding::none, Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp}) {
      for (const bool ftz : {false, true}) check_rounded<float>(op, Type::f32, mode, ftz, false);
      check_rounded<double>(op, Type::f64, mode, false, false);
    }
}

// With .ftz a quotient is flushed if it is below 2^-126 when rounded to 24 bits, whatever its exponent.
TEST(FloatHandlers, quotients_are_flushed_by_their_rounding_to_24_bits) {
  Random random(41);
  for (const Op op : {Op::div, Op::rcp})
    for (const Rounding mode : {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp}) {
      Form form{.op = op, .type = Type::f32, .sources = {Type::f32}, .result = Type::f32};
      if (op == Op::div) form.sources.push_back(Type::f32);
      form.mods.rounding = mode;
      form.mods.ftz = true;
      for (unsigned round = 0; round < 400; ++round) {
        // Quotients within a few units of 2^-126: a from 2^-64 on, b some steps off a * 2^126.
        Warp warp;
        for (std::size_t lane = 0; lane < 32; ++lane) {
          const u64 a = op == Op::rcp ? bits(1.0f) : bits(0x1p-64f) + random.below(1 << 23);
          const u64 b = bits(f32(a) * 0x1p126f) + random.below(9) - 4;
          const u64 sign = random.next() & 0x80000000u;
          warp.sources[0][lane] = op == Op::rcp ? b | sign : a | sign;
          warp.sources[1][lane] = b;
        }
        for (const InstructionSet& isa : instruction_sets()) {
          const Outcome out = execute(isa, form, warp, ~0u);
          for (std::size_t lane = 0; lane < 32; ++lane) {
            const float x = f32(warp.sources[0][lane]), y = f32(warp.sources[1][lane]);
            float want;  // times 2^60, so that it is a normal number
            {
              const HostRounding scope(mode);
              want =
                  op == Op::rcp ? compute(Op::div, 0x1p60f, x, 0.0f) : compute(Op::div, x * 0x1p60f, y, 0.0f);
            }
            want = std::fabs(want) < 0x1p-66f ? std::copysign(0.0f, want) : want * 0x1p-60f;
            ASSERT_EQ(bits(want), out.d[lane]) << isa.name << " " << form.name() << " of " << x << ", " << y;
          }
        }
      }
    }
}

TEST(FloatHandlers, saturation_clamps_to_the_unit_interval_and_drops_nan) {
  for (const Op op : {Op::add, Op::sub, Op::mul, Op::fma})
    for (const Rounding mode : {Rounding::rn, Rounding::rz, Rounding::rp})
      for (const bool ftz : {false, true}) check_rounded<float>(op, Type::f32, mode, ftz, true);
}

TEST(FloatHandlers, rounding_control_is_restored) {
  Form form{.op = Op::add, .type = Type::f32, .sources = {Type::f32, Type::f32}, .result = Type::f32};
  form.mods.rounding = Rounding::rp;
  for (const InstructionSet& isa : instruction_sets()) execute(isa, form, {}, ~0u);
  EXPECT_EQ(FE_TONEAREST, std::fegetround());
}

template <class T>
void check_signs(Type type) {
  const u64 sign = u64{1} << (8 * sizeof(T) - 1);
  check({.op = Op::neg, .type = type, .sources = {type}, .result = type},
        [&](const Sources& s) { return Result{s.v[0] ^ sign}; });
  check({.op = Op::abs, .type = type, .sources = {type}, .result = type},
        [&](const Sources& s) { return Result{s.v[0] & ~sign}; });
  check({.op = Op::copysign, .type = type, .sources = {type, type}, .result = type},
        [&](const Sources& s) { return Result{(s.v[0] & sign) | (s.v[1] & ~sign)}; });
}
TEST(FloatHandlers, sign_operations_keep_payloads) {
  check_signs<float>(Type::f32);
  check_signs<double>(Type::f64);
  for (const Op op : {Op::neg, Op::abs}) {
    Form form{.op = op, .type = Type::f32, .sources = {Type::f32}, .result = Type::f32};
    form.mods.ftz = true;
    check(form, [&](const Sources& s) {
      const u64 v = (s.v[0] & 0x7f800000u) == 0 ? s.v[0] & 0x80000000u : s.v[0];
      return Result{op == Op::neg ? v ^ 0x80000000u : v & 0x7fffffffu};
    });
  }
}

template <class T>
void check_extremum(Op op, Type type, bool ftz, bool nan, bool xorsign) {
  Form form{.op = op, .type = type, .sources = {type, type}, .result = type};
  form.mods.ftz = ftz;
  form.mods.nan = nan;
  form.mods.xorsign = form.mods.abs = xorsign;
  const u64 sign_bit = u64{1} << (8 * sizeof(T) - 1);
  check(
      form,
      [&](const Sources& s) {
        T a = from_bits<T>(s.v[0]), b = from_bits<T>(s.v[1]);
        if (ftz) a = flushed(a), b = flushed(b);
        const u64 canonical = sizeof(T) == 4 ? 0x7fffffffu : 0x7ff8000000000000ull;
        if (nan ? std::isnan(a) || std::isnan(b) : std::isnan(a) && std::isnan(b)) return Result{canonical};
        const bool negative = std::signbit(a) != std::signbit(b);
        if (xorsign) a = std::fabs(a), b = std::fabs(b);
        bool first;
        if (std::isnan(a) || std::isnan(b))
          first = std::isnan(b);
        else if (a == b)
          first = op == Op::min ? std::signbit(a) : !std::signbit(a);
        else
          first = op == Op::min ? a < b : a > b;
        u64 r = bits(first ? a : b);
        if (xorsign) r = (r & ~sign_bit) | (negative ? sign_bit : 0);
        return Result{r};
      },
      100);
}
TEST(FloatHandlers, min_and_max_prefer_numbers_and_order_zeros) {
  for (const Op op : {Op::min, Op::max})
    for (const bool nan : {false, true})
      for (const bool xorsign : {false, true}) {
        for (const bool ftz : {false, true}) check_extremum<float>(op, Type::f32, ftz, nan, xorsign);
        check_extremum<double>(op, Type::f64, false, nan, xorsign);
      }
}

}  // namespace
}  // namespace arith
