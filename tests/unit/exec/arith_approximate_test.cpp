// Approximate functions: errors against the host's double precision library stay inside the PTX manual's
// bounds, special values are those of its tables, and every instruction set gives the same bits.
#include <cmath>

#include "arith_support.h"

namespace arith {
namespace {

using Exact = double (*)(double);

struct Function {
  Op op;
  Exact exact;
  float low, high;  // samples have their magnitude between these, both signs if `both`
  bool both;
  double absolute, relative;  // an error within either is accepted
};
// Bounds of the PTX manual; sin, cos: 2^-20.5 for |x| <= 2 pi, 2^-14.7 for |x| <= 100 pi, none beyond; lg2:
// absolute inside (0.5, 2), relative outside.
const Function functions[] = {
    {Op::rcp, [](double x) { return 1 / x; }, 0x1p-126f, 0x1p126f, true, 0, 0x1p-23},
    {Op::sqrt, [](double x) { return std::sqrt(x); }, 0x1p-126f, 0x1p127f, false, 0, 0x1p-23},
    {Op::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 0x1p-126f, 0x1p127f, false, 0, 0x1.2p-23},
    {Op::sin, [](double x) { return std::sin(x); }, 0x1p-40f, 6.2831855f, true, 0x1.6ap-21, 0},
    {Op::cos, [](double x) { return std::cos(x); }, 0x1p-40f, 6.2831855f, true, 0x1.6ap-21, 0},
    {Op::sin, [](double x) { return std::sin(x); }, 6.2831855f, 314.15927f, true, 0x1.3bp-15, 0},
    {Op::sin, [](double x) { return std::sin(x); }, 314.15927f, 0x1p126f, true, 2, 0},
    {Op::cos, [](double x) { return std::cos(x); }, 6.2831855f, 314.15927f, true, 0x1.3bp-15, 0},
    {Op::cos, [](double x) { return std::cos(x); }, 314.15927f, 0x1p126f, true, 2, 0},
    {Op::ex2, [](double x) { return std::exp2(x); }, 0x1p-30f, 125.0f, true, 0, 0x1p-22},
    {Op::lg2, [](double x) { return std::log2(x); }, 0.5f, 2.0f, false, 0x1p-22, 0},
    {Op::lg2, [](double x) { return std::log2(x); }, 0x1p-126f, 0.5f, false, 0, 0x1p-22},
    {Op::lg2, [](double x) { return std::log2(x); }, 2.0f, 0x1p127f, false, 0, 0x1p-22},
    {Op::tanh, [](double x) { return std::tanh(x); }, 0x1p-60f, 0x1p60f, true, 0, 0x1p-11},
};

TEST(ApproximateHandlers, errors_stay_inside_the_manuals_bounds) {
  Random random(21);
  for (const Function& f : functions)
    for (const bool ftz : {false, true}) {
      Form form{.op = f.op, .type = Type::f32, .sources = {Type::f32}, .result = Type::f32};
      form.mods.approx = true;
      form.mods.ftz = ftz;
      const u64 low = bits(f.low), high = bits(f.high);
      for (unsigned round = 0; round < 1500; ++round) {
        Warp warp;
        for (u64& v : warp.sources[0])
          v = (low + random.below(high - low + 1)) | (f.both ? random.next() & 0x80000000u : 0);
        Outcome first;
        for (const InstructionSet& isa : instruction_sets()) {
          const Outcome out = execute(isa, form, warp, ~0u);
          if (&isa == &instruction_sets().front()) first = out;
          EXPECT_EQ(first.d, out.d) << isa.name << " differs from " << instruction_sets().front().name;
        }
        for (std::size_t lane = 0; lane < 32; ++lane) {
          const double x = f32(warp.sources[0][lane]), want = f.exact(x),
                       error = std::fabs(f32(first.d[lane]) - want);
          ASSERT_TRUE(error <= f.absolute || error <= f.relative * std::fabs(want))
              << form.name() << " of " << x << ": " << f32(first.d[lane]) << ", want " << want;
        }
      }
    }
}

TEST(ApproximateHandlers, special_values) {
  const float inf = INFINITY;
  const u64 nan = 0x7fffffffu;
  const u64 zero = 0, minus_zero = 0x80000000u, small = 0x00000123u;
  const struct {
    Op op;
    bool ftz;
    u64 in, want;
  } cases[] = {
      {Op::rcp, false, bits(inf), zero},
      {Op::rcp, false, bits(-inf), minus_zero},
      {Op::rcp, false, minus_zero, bits(-inf)},
      {Op::rcp, true, small, bits(inf)},
      {Op::rcp, false, nan, nan},
      {Op::sqrt, false, bits(-1.0f), nan},
      {Op::sqrt, false, minus_zero, minus_zero},
      {Op::sqrt, true, small, zero},
      {Op::rsqrt, false, bits(-1.0f), nan},
      {Op::rsqrt, false, minus_zero, bits(-inf)},
      {Op::rsqrt, false, zero, bits(inf)},
      {Op::rsqrt, false, bits(inf), zero},
      {Op::rsqrt, true, small, bits(inf)},
      {Op::sin, false, minus_zero, minus_zero},
      {Op::sin, false, bits(inf), nan},
      {Op::sin, false, bits(-inf), nan},
      {Op::sin, true, small, zero},
      {Op::sin, false, small, zero},
      {Op::cos, false, zero, bits(1.0f)},
      {Op::cos, false, bits(inf), nan},
      {Op::cos, true, small, bits(1.0f)},
      {Op::lg2, false, zero, bits(-inf)},
      {Op::lg2, false, minus_zero, bits(-inf)},
      {Op::lg2, true, small, bits(-inf)},
      {Op::lg2, false, bits(-1.0f), nan},
      {Op::lg2, false, bits(inf), bits(inf)},
      {Op::lg2, false, bits(1.0f), zero},
      {Op::lg2, false, bits(8.0f), bits(3.0f)},
      {Op::ex2, false, bits(-inf), zero},
      {Op::ex2, false, bits(inf), bits(inf)},
      {Op::ex2, false, minus_zero, bits(1.0f)},
      {Op::ex2, false, bits(128.0f), bits(inf)},
      {Op::ex2, false, bits(-149.0f), 1},
      {Op::ex2, true, bits(-130.0f), zero},
      {Op::ex2, false, nan, nan},
      {Op::ex2, false, bits(10.0f), bits(1024.0f)},
      {Op::tanh, false, minus_zero, minus_zero},
      {Op::tanh, false, bits(inf), bits(1.0f)},
      {Op::tanh, false, bits(-inf), bits(-1.0f)},
      {Op::tanh, false, nan, nan},
  };
  for (const auto& c : cases) {
    Form form{.op = c.op, .type = Type::f32, .sources = {Type::f32}, .result = Type::f32};
    form.mods.approx = true;
    form.mods.ftz = c.ftz;
    Warp warp;
    warp.sources[0].fill(c.in);
    for (const InstructionSet& isa : instruction_sets())
      EXPECT_EQ(c.want, execute(isa, form, warp, ~0u).d[7])
          << isa.name << " " << form.name() << " of " << f32(c.in);
  }
}

// The reciprocal flushes; what is scaled before it is in the code of ptxas.
float quotient(float a, float b, bool full, bool ftz) {
  const auto flushed = [](float v) { return std::fabs(v) < 0x1p-126f ? std::copysign(0.0f, v) : v; };
  if (ftz) a = flushed(a), b = flushed(b);
  const float scale = std::fabs(b) < 0x1p-126f ? 0x1p24f : full && std::fabs(b) > 0x1p126f ? 0.25f : 1.0f;
  volatile float x = a * scale, y = b * scale;
  volatile float reciprocal = flushed(1.0f / flushed(y));
  volatile float r = x * reciprocal;
  return ftz ? flushed(r) : r;
}

TEST(ApproximateHandlers, division_multiplies_by_a_reciprocal) {
  for (const bool full : {false, true})
    for (const bool ftz : {false, true}) {
      Form form{.op = Op::div, .type = Type::f32, .sources = {Type::f32, Type::f32}, .result = Type::f32};
      form.mods.approx = !full;
      form.mods.full = full;
      form.mods.ftz = ftz;
      check(
          form,
          [&](const Sources& s) {
            const float a = f32(s.v[0]), b = f32(s.v[1]), r = quotient(a, b, full, ftz), exact = a / b;
            // The bound of the manual: 2 units in the last place, for divisors from 2^-126 to 2^126.
            if (std::isnormal(a) && std::isnormal(b) && std::isnormal(exact) && std::fabs(b) <= 0x1p126f &&
                std::fabs(exact) > 0x1p-120f) {
              EXPECT_LE(std::fabs(double{r} - double{exact}), 2 * std::fabs(double{exact}) * 0x1p-23);
            }
            return Result{std::isnan(r) ? 0x7fffffffu : bits(r)};
          },
          200);
    }
  EXPECT_EQ(0.0f, quotient(1.0f, 0x1.8p126f, false, false));
  EXPECT_EQ(0x1.555556p-127f, quotient(1.0f, 0x1.8p126f, true, false));
}

TEST(ApproximateHandlers, coarse_f64_reciprocals_have_twenty_good_bits_and_an_empty_lower_half) {
  Random random(22);
  for (const Op op : {Op::rcp, Op::rsqrt}) {
    Form form{.op = op, .type = Type::f64, .sources = {Type::f64}, .result = Type::f64};
    form.mods.approx = form.mods.ftz = true;
    for (unsigned round = 0; round < 2000; ++round) {
      Warp warp;
      for (u64& v : warp.sources[0]) v = 0x0020000000000000ull + random.below(0x7fa0000000000000ull);
      for (const InstructionSet& isa : instruction_sets()) {
        const Outcome out = execute(isa, form, warp, ~0u);
        for (std::size_t lane = 0; lane < 32; ++lane) {
          const double x = f64(warp.sources[0][lane] & ~u64{0xffffffff}),
                       want = op == Op::rcp ? 1 / x : 1 / std::sqrt(x);
          ASSERT_EQ(0u, out.d[lane] & 0xffffffffu);
          if (std::fabs(want) >= 0x1p-1021) {
            ASSERT_LE(std::fabs(f64(out.d[lane]) - want), 0x1p-20 * want) << isa.name << " " << x;
          }
        }
      }
    }
  }
  Form form{.op = Op::rsqrt, .type = Type::f64, .sources = {Type::f64}, .result = Type::f64};
  form.mods.approx = true;
  check(form, [](const Sources& s) {
    const double x = f64(s.v[0]);
    const u64 invalid = std::isnan(x) ? s.v[0] | 0x0008000000000000ull : 0xfff8000000000000ull;
    return Result{std::isnan(x) || x < 0 ? invalid : bits(1 / std::sqrt(x))};
  });
}

}  // namespace
}  // namespace arith
