// f16 and bf16 handlers against exact arithmetic in long double.
#include <cmath>

#include "arith_formats.h"

namespace arith {
namespace {

struct Half {
  Type type, pair;
  long double smallest_normal;
};
const Half halves[] = {{Type::f16, Type::f16x2, 0x1p-14L}, {Type::bf16, Type::bf16x2, 0x1p-126L}};

// a + b as a long double on the right side of every value and tie of a 16-bit format: exact, or moved one
// step towards the exact sum.
long double exact_sum(long double a, long double b) {
  const long double s = a + b;
  if (!std::isfinite(s)) return s;
  const long double part = s - a, error = (a - (s - part)) + (b - part);
  return error == 0 ? s : std::nextafter(s, error > 0 ? INFINITY : -INFINITY);
}
long double compute(Op op, long double a, long double b, long double c) {
  switch (op) {
    case Op::add: return exact_sum(a, b);
    case Op::sub: return exact_sum(a, -b);
    case Op::mul: return a * b;
    default: return exact_sum(a * b, c);
  }
}

struct Options {
  bool ftz, sat, relu;
};
u64 one(Op op, const Half& h, Options o, u64 a, u64 b, u64 c) {
  auto value = [&](u64 raw) {
    const long double v = value_of(h.type, raw);
    return o.ftz && std::fabs(v) < h.smallest_normal ? std::copysign(0.0L, v) : v;
  };
  u64 r = to_small(h.type, compute(op, value(a), value(b), value(c)), Rounding::rn, false);
  const long double rv = value_of(h.type, r);
  if (o.ftz && std::fabs(rv) < h.smallest_normal) r &= 0x8000;
  if (o.sat) return std::isnan(rv) || rv <= 0 ? 0 : rv > 1 ? to_small(h.type, 1, Rounding::rn, false) : r;
  if (o.relu && rv <= 0) return 0;
  return r;
}

TEST(HalfHandlers, arithmetic_rounds_once_in_every_form) {
  for (const Half& h : halves)
    for (const Op op : {Op::add, Op::sub, Op::mul, Op::fma})
      for (const bool pair : {false, true})
        for (const Options o : {Options{false, false, false}, Options{true, false, false},
                                Options{false, true, false}, Options{false, false, true}}) {
          if (o.ftz && h.type == Type::bf16) continue;
          const Type type = pair ? h.pair : h.type;
          Form form{.op = op,
                    .type = type,
                    .sources = std::vector<Type>(op == Op::fma ? 3 : 2, type),
                    .result = type};
          form.mods.rounding = Rounding::rn;
          form.mods.ftz = o.ftz;
          form.mods.sat = o.sat;
          form.mods.relu = o.relu;
          check(
              form,
              [&](const Sources& s) {
                const u64 low = one(op, h, o, s.v[0] & 0xffff, s.v[1] & 0xffff, s.v[2] & 0xffff);
                return Result{pair ? low | one(op, h, o, s.v[0] >> 16, s.v[1] >> 16, s.v[2] >> 16) << 16
                                   : low};
              },
              120);
        }
}

// A product that is a tie of the format and an addend far below it: only the exact sum knows the direction.
TEST(HalfHandlers, fma_sees_addends_far_below_a_tie) {
  for (const Half& h : halves) {
    Form form{.op = Op::fma, .type = h.type, .sources = {h.type, h.type, h.type}, .result = h.type};
    form.mods.rounding = Rounding::rn;
    const long double step = h.type == Type::f16 ? 0x1p-10L : 0x1p-7L;
    auto code = [&](long double v) { return to_small(h.type, v, Rounding::rn, false); };
    Warp warp;
    // (1 + step) * 1.5 = 1.5 + 1.5 step lies half a step above 1.5 + step, whose last bit is odd.
    for (auto& v : warp.sources[0]) v = code(1 + step);
    for (auto& v : warp.sources[1]) v = code(1.5L);
    for (auto& v : warp.sources[2]) v = code(-h.smallest_normal * 4);
    for (const InstructionSet& isa : instruction_sets())
      EXPECT_EQ(code(1.5L + step), execute(isa, form, warp, ~0u).d[0]) << isa.name;
    for (auto& v : warp.sources[2]) v = code(h.smallest_normal * 4);
    for (const InstructionSet& isa : instruction_sets())
      EXPECT_EQ(code(1.5L + 2 * step), execute(isa, form, warp, ~0u).d[0]) << isa.name;
  }
}

TEST(HalfHandlers, min_and_max_prefer_numbers_and_order_zeros) {
  for (const Half& h : halves)
    for (const Op op : {Op::min, Op::max})
      for (const bool nan : {false, true})
        for (const bool xorsign : {false, true})
          for (const bool pair : {false, true}) {
            const Type type = pair ? h.pair : h.type;
            Form form{.op = op, .type = type, .sources = {type, type}, .result = type};
            form.mods.nan = nan;
            form.mods.xorsign = form.mods.abs = xorsign;
            auto pick = [&](u64 x, u64 y) -> u64 {
              const u64 sign = (x ^ y) & 0x8000;
              if (xorsign) x &= 0x7fff, y &= 0x7fff;
              const long double a = value_of(h.type, x), b = value_of(h.type, y);
              if (nan ? std::isnan(a) || std::isnan(b) : std::isnan(a) && std::isnan(b)) return 0x7fff;
              bool first = op == Op::min ? a < b : a > b;
              if (std::isnan(a) || std::isnan(b))
                first = std::isnan(b);
              else if (a == b)
                first = (op == Op::min) == std::signbit(a);
              const u64 r = first ? x : y;
              return xorsign ? (r & 0x7fff) | sign : r;
            };
            check(
                form,
                [&](const Sources& s) {
                  const u64 low = pick(s.v[0] & 0xffff, s.v[1] & 0xffff);
                  return Result{pair ? low | pick(s.v[0] >> 16, s.v[1] >> 16) << 16 : low};
                },
                60);
          }
}

// Unary operations on every value.
void check_every_value(const Form& form, const std::function<bool(u64 in, u64 out)>& right) {
  for (const InstructionSet& isa : instruction_sets())
    for (u64 first = 0; first < 65536; first += 32) {
      Warp warp;
      for (u64 lane = 0; lane < 32; ++lane) warp.sources[0][lane] = first + lane;
      const Outcome out = execute(isa, form, warp, ~0u);
      for (u64 lane = 0; lane < 32; ++lane)
        ASSERT_TRUE(right(first + lane, out.d[lane]))
            << isa.name << " " << form.name() << " of " << std::hex << first + lane << ": " << out.d[lane];
    }
}
TEST(HalfHandlers, signs_of_every_value) {
  for (const Half& h : halves)
    for (const bool ftz : {false, true}) {
      if (ftz && h.type == Type::bf16) continue;
      Form form{.op = Op::neg, .type = h.type, .sources = {h.type}, .result = h.type};
      form.mods.ftz = ftz;
      auto in = [&](u64 v) { return ftz && (v & 0x7c00) == 0 ? v & 0x8000 : v; };
      check_every_value(form, [&](u64 v, u64 r) { return r == (in(v) ^ 0x8000); });
      form.op = Op::abs;
      check_every_value(form, [&](u64 v, u64 r) { return r == (in(v)&0x7fff); });
    }
}
TEST(HalfHandlers, ex2_and_tanh_of_every_value_are_correctly_rounded) {
  for (const Half& h : halves)
    for (const Op op : {Op::ex2, Op::tanh}) {
      Form form{.op = op, .type = h.type, .sources = {h.type}, .result = h.type};
      form.mods.approx = true;
      check_every_value(form, [&](u64 v, u64 r) {
        const long double x = value_of(h.type, v), y = op == Op::ex2 ? std::exp2(x) : std::tanh(x);
        return r == to_small(h.type, y, Rounding::rn, false);
      });
    }
}

}  // namespace
}  // namespace arith
