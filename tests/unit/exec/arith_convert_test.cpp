// cvt against long double arithmetic (64 bits of precision hold every source exactly) and, for the small
// formats, against a search among all values of the format.
#include <algorithm>
#include <cfenv>
#include <cmath>

#include "arith_formats.h"

namespace arith {
namespace {

const Type integers[] = {Type::u8,  Type::s8,  Type::u16, Type::s16,
                         Type::u32, Type::s32, Type::u64, Type::s64};
const Type floats[] = {Type::f16, Type::bf16, Type::f32, Type::f64};

u64 to_float(Type type, long double v, Rounding mode) {
  if (is_half(type)) return to_small(type, v, mode, false);
  const HostRounding scope(mode);
  volatile long double x = v;
  if (type == Type::f32) {
    volatile float r = static_cast<float>(x);
    return std::isnan(v) ? 0x7fffffffu : bits(static_cast<float>(r));
  }
  volatile double r = static_cast<double>(x);
  return bits(static_cast<double>(r));
}
long double integral(long double v, Rounding mode) {
  switch (mode) {
    case Rounding::rni: return std::nearbyint(v);
    case Rounding::rmi: return std::floor(v);
    case Rounding::rpi: return std::ceil(v);
    default: return std::trunc(v);
  }
}
u64 extended(Type type, s128 v, unsigned register_bytes) {
  const unsigned n = 8 * bytes_of(type);
  u64 r = static_cast<u64>(v);
  if (n < 64)
    r = signed_type(type) ? static_cast<u64>(static_cast<s64>(r << (64 - n)) >> (64 - n))
                          : r & ((u64{1} << n) - 1);
  return register_bytes == 8 ? r : r & ((u64{1} << (8 * register_bytes)) - 1);
}
s128 highest(Type t) { return (static_cast<s128>(1) << (8 * bytes_of(t) - (signed_type(t) ? 1 : 0))) - 1; }
s128 lowest(Type t) { return signed_type(t) ? -highest(t) - 1 : 0; }

std::vector<unsigned> registers_of(Type t) {
  const unsigned n = bytes_of(t);
  return n == 8   ? std::vector<unsigned>{8}
         : n == 4 ? std::vector<unsigned>{4, 8}
         : n == 2 ? std::vector<unsigned>{2, 4, 8}
                  : std::vector<unsigned>{1, 2, 4, 8};
}

TEST(ConvertHandlers, integers_are_cut_and_extended_to_their_registers) {
  for (const Type from : integers)
    for (const Type to : integers)
      for (const bool sat : {false, true})
        for (const unsigned src_register : registers_of(from))
          for (const unsigned dst_register : registers_of(to)) {
            Form form{.op = Op::cvt,
                      .type = to,
                      .stype = from,
                      .sources = {src_register == 8   ? Type::u64
                                  : src_register == 4 ? Type::u32
                                                      : from},
                      .result = to,
                      .result_bytes = dst_register,
                      .source_bytes = {src_register}};
            form.mods.sat = sat;
            check(
                form,
                [&](const Sources& s) {
                  const unsigned drop = 64 - 8 * bytes_of(from);
                  const s128 v = signed_type(from)
                                     ? static_cast<s128>(static_cast<s64>(s.v[0] << drop) >> drop)
                                     : static_cast<s128>(s.v[0] << drop >> drop);
                  return Result{extended(to, sat ? std::clamp(v, lowest(to), highest(to)) : v, dst_register)};
                },
                9);
          }
}

TEST(ConvertHandlers, integers_to_floats_round_once) {
  for (const Type from : integers)
    for (const Type to : floats)
      for (const Rounding mode : {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp}) {
        Form form{.op = Op::cvt, .type = to, .stype = from, .sources = {from}, .result = to};
        form.mods.rounding = mode;
        check(
            form, [&](const Sources& s) { return Result{to_float(to, value_of(from, s.v[0]), mode)}; }, 20);
      }
}

TEST(ConvertHandlers, floats_to_integers_clamp) {
  for (const Type from : floats)
    for (const Type to : integers)
      for (const Rounding mode : {Rounding::rni, Rounding::rzi, Rounding::rmi, Rounding::rpi})
        for (const bool ftz : {false, true})
          for (const unsigned dst_register : registers_of(to)) {
            if (ftz && from != Type::f32) continue;
            Form form{.op = Op::cvt,
                      .type = to,
                      .stype = from,
                      .sources = {from},
                      .result = to,
                      .result_bytes = dst_register};
            form.mods.rounding = mode;
            form.mods.ftz = ftz;
            check(
                form,
                [&](const Sources& s) {
                  long double v = value_of(from, s.v[0]);
                  if (ftz && std::fabs(v) < 0x1p-126L) v = 0;
                  if (std::isnan(v)) {
                    const bool indefinite = from == Type::f64 || bytes_of(to) == 8;
                    return Result{extended(
                        to, indefinite ? static_cast<s128>(1) << (8 * bytes_of(to) - 1) : 0, dst_register)};
                  }
                  const long double r = std::clamp(integral(v, mode), static_cast<long double>(lowest(to)),
                                                   static_cast<long double>(highest(to)));
                  return Result{extended(to, static_cast<s128>(r), dst_register)};
                },
                20);
          }
}

TEST(ConvertHandlers, floats_to_floats_round_saturate_and_flush) {
  for (const Type from : floats)
    for (const Type to : floats)
      for (const Rounding mode : {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp})
        for (const bool sat : {false, true})
          for (const bool ftz : {false, true}) {
            if (from == to && mode != Rounding::rn) continue;
            Form form{.op = Op::cvt, .type = to, .stype = from, .sources = {from}, .result = to};
            form.mods.rounding = from == to ? Rounding::none : mode;
            form.mods.sat = sat;
            form.mods.ftz = ftz && (from == Type::f32 || to == Type::f32);
            if (to == Type::f64)
              form.accepts = [](u64 got, u64 want) {
                return got == want || (std::isnan(f64(got)) && std::isnan(f64(want)));
              };
            check(
                form,
                [&](const Sources& s) {
                  long double v = value_of(from, s.v[0]);
                  if (form.mods.ftz && from == Type::f32 && std::fabs(v) < 0x1p-126L)
                    v = std::copysign(0.0L, v);
                  if (sat) v = std::isnan(v) || v <= 0 ? 0 : v > 1 ? 1 : v;
                  u64 r = to_float(to, v, mode);
                  if (form.mods.ftz && to == Type::f32 && (r & 0x7f800000u) == 0) r &= 0x80000000u;
                  return Result{r};
                },
                20);
          }
}

TEST(ConvertHandlers, floats_in_wide_registers_use_the_low_half) {
  Form form{.op = Op::cvt,
            .type = Type::f32,
            .stype = Type::s32,
            .sources = {Type::s32},
            .result = Type::f32,
            .result_bytes = 8};
  form.mods.rounding = Rounding::rn;
  check(form, [](const Sources& s) { return Result{bits(static_cast<float>(static_cast<s32>(s.v[0])))}; });
  form = {.op = Op::cvt,
          .type = Type::s32,
          .stype = Type::f32,
          .sources = {Type::u64},
          .result = Type::s32,
          .source_bytes = {8}};
  form.mods.rounding = Rounding::rzi;
  check(form, [](const Sources& s) {
    const float v = f32(s.v[0]);
    return Result{std::isnan(v)
                      ? 0
                      : extended(Type::s32,
                                 static_cast<s128>(std::clamp(std::trunc(static_cast<long double>(v)),
                                                              -0x1p31L, 0x1p31L - 1)),
                                 4)};
  });
}

TEST(ConvertHandlers, floats_round_to_integral_values_and_keep_the_sign_of_zero) {
  for (const Type type : floats)
    for (const Rounding mode : {Rounding::rni, Rounding::rzi, Rounding::rmi, Rounding::rpi}) {
      Form form{.op = Op::cvt, .type = type, .stype = type, .sources = {type}, .result = type};
      form.mods.rounding = mode;
      if (type == Type::f64)
        form.accepts = [](u64 got, u64 want) {
          return got == want || (std::isnan(f64(got)) && std::isnan(f64(want)));
        };
      check(
          form,
          [&](const Sources& s) {
            const long double v = value_of(type, s.v[0]);
            return Result{to_float(type, std::copysign(integral(v, mode), v), Rounding::rn)};
          },
          60);
    }
}

// Every one of the 65536 values, 32 at a time.
void check_all_halves(Form form, const std::function<u64(u64)>& reference) {
  unsigned failures = 0;
  for (const InstructionSet& isa : instruction_sets())
    for (u64 first = 0; first < 65536 && failures < 4; first += 32) {
      Warp warp;
      for (u64 lane = 0; lane < 32; ++lane) warp.sources[0][lane] = first + lane;
      const Outcome out = execute(isa, form, warp, ~0u);
      for (u64 lane = 0; lane < 32; ++lane) {
        const u64 want = reference(first + lane);
        if (out.d[lane] == want || (form.accepts && form.accepts(out.d[lane], want))) continue;
        ADD_FAILURE() << isa.name << " " << form.name() << " of " << std::hex << first + lane << ": got "
                      << out.d[lane] << ", want " << want;
        ++failures;
      }
    }
}
TEST(ConvertHandlers, every_16_bit_float_widens_exactly) {
  for (const Type from : {Type::f16, Type::bf16})
    for (const Type to : {Type::f32, Type::f64}) {
      Form form{.op = Op::cvt, .type = to, .stype = from, .sources = {from}, .result = to};
      form.accepts = [&](u64 got, u64 want) {
        return to == Type::f64 && std::isnan(f64(got)) && std::isnan(f64(want));
      };
      check_all_halves(form, [&](u64 v) { return to_float(to, value_of(from, v), Rounding::rn); });
    }
}
TEST(ConvertHandlers, every_16_bit_float_to_integers) {
  for (const Type from : {Type::f16, Type::bf16})
    for (const Type to : {Type::s32, Type::u32, Type::s16}) {
      Form form{.op = Op::cvt, .type = to, .stype = from, .sources = {from}, .result = to};
      form.mods.rounding = Rounding::rni;
      check_all_halves(form, [&](u64 h) {
        const long double v = value_of(from, h);
        if (std::isnan(v)) return u64{0};
        return extended(to,
                        static_cast<s128>(std::clamp(std::nearbyint(v), static_cast<long double>(lowest(to)),
                                                     static_cast<long double>(highest(to)))),
                        bytes_of(to));
      });
    }
}

// f32 values whose rounding to f16 or bf16 is interesting: every half, its neighbours and the ties between.
TEST(ConvertHandlers, ties_between_16_bit_floats_go_to_even) {
  for (const Type to : {Type::f16, Type::bf16})
    for (const Rounding mode : {Rounding::rn, Rounding::rz}) {
      Form form{.op = Op::cvt, .type = to, .stype = Type::f32, .sources = {Type::f32}, .result = to};
      form.mods.rounding = mode;
      std::vector<u64> inputs;
      for (u64 h = 0; h < 0x8000; h += 7) {
        const long double v = value_of(to, h), next = value_of(to, h + 1);
        if (!std::isfinite(v) || !std::isfinite(next)) continue;
        const u64 tie = bits(static_cast<float>((v + next) / 2));
        for (const u64 x : {tie, tie + 1, tie - 1, bits(static_cast<float>(v)) + 1})
          inputs.push_back(x & 0xffffffffu), inputs.push_back((x | 0x80000000u) & 0xffffffffu);
      }
      inputs.resize(inputs.size() / 32 * 32);
      for (const InstructionSet& isa : instruction_sets())
        for (std::size_t i = 0; i < inputs.size(); i += 32) {
          Warp warp;
          std::copy_n(inputs.begin() + static_cast<std::ptrdiff_t>(i), 32, warp.sources[0].begin());
          const Outcome out = execute(isa, form, warp, ~0u);
          for (std::size_t lane = 0; lane < 32; ++lane)
            ASSERT_EQ(to_float(to, f32(inputs[i + lane]), mode), out.d[lane])
                << isa.name << " " << std::hex << inputs[i + lane];
        }
    }
}

TEST(ConvertHandlers, tf32_keeps_ten_fraction_bits) {
  for (const Rounding mode : {Rounding::rna, Rounding::rn, Rounding::rz})
    for (const bool relu : {false, true}) {
      Form form{
          .op = Op::cvt, .type = Type::tf32, .stype = Type::f32, .sources = {Type::f32}, .result = Type::b32};
      form.mods.rounding = mode;
      form.mods.relu = relu;
      check(
          form,
          [&](const Sources& s) {
            if (std::isnan(f32(s.v[0]))) return Result{0x7fffffffu};
            if (relu && (s.v[0] & 0x80000000u) != 0) return Result{0};
            if ((s.v[0] & 0x7fffffffu) == 0x7f800000u) return Result{s.v[0]};
            const u64 rest = s.v[0] & 0x1fff;
            u64 r = s.v[0] & ~u64{0x1fff};
            if (mode == Rounding::rna
                    ? rest >= 0x1000
                    : mode == Rounding::rn && (rest > 0x1000 || (rest == 0x1000 && (r & 0x2000) != 0)))
              r += 0x2000;
            return Result{r};
          },
          60);
    }
}

TEST(ConvertHandlers, pairs_take_the_first_source_as_upper_half) {
  for (const Type to : {Type::f16x2, Type::bf16x2, Type::e4m3x2, Type::e5m2x2})
    for (const bool relu : {false, true}) {
      Form form{
          .op = Op::cvt, .type = to, .stype = Type::f32, .sources = {Type::f32, Type::f32}, .result = to};
      form.mods.rounding = Rounding::rn;
      form.mods.relu = relu;
      const bool tiny = bytes_of(to) == 2;
      form.mods.sat = tiny;  // .satfinite
      const Type part = to == Type::f16x2 ? Type::f16 : to == Type::bf16x2 ? Type::bf16 : to;
      check(
          form,
          [&](const Sources& s) {
            auto one = [&](u64 raw) {
              const float v = f32(raw);
              return to_small(part, relu && v <= 0 ? 0.0L : static_cast<long double>(v), Rounding::rn, tiny);
            };
            return Result{one(s.v[1]) | one(s.v[0]) << (tiny ? 8 : 16)};
          },
          60);
    }
  for (const Type from : {Type::e4m3x2, Type::e5m2x2}) {
    Form form{.op = Op::cvt, .type = Type::f16x2, .stype = from, .sources = {from}, .result = Type::f16x2};
    form.mods.rounding = Rounding::rn;
    check_all_halves(form, [&](u64 v) {
      auto one = [&](u64 raw) {
        return to_small(Type::f16, small_value(small_format(from), raw), Rounding::rn, false);
      };
      return one(v & 0xff) | one(v >> 8) << 16;
    });
  }
}

}  // namespace
}  // namespace arith
