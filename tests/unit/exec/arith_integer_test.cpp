// Integer handlers against 128-bit host arithmetic.
#include "arith_support.h"

namespace arith {
namespace {

using ptx::MulMode;

struct Int {
  Type type;
  unsigned bits;
  bool is_signed;
};
const Int ints[] = {{Type::u16, 16, false}, {Type::s16, 16, true},  {Type::u32, 32, false},
                    {Type::s32, 32, true},  {Type::u64, 64, false}, {Type::s64, 64, true}};

s128 value(u64 raw, const Int& t) {
  if (!t.is_signed) return static_cast<s128>(raw);
  const unsigned drop = 64 - t.bits;
  return static_cast<s64>(raw << drop) >> drop;
}
u64 cut(s128 v, unsigned bits) {
  const u64 low = static_cast<u64>(v);
  return bits == 64 ? low : low & ((u64{1} << bits) - 1);
}
using Fn = s128 (*)(s128, s128);

void check_binary(Op op, const Int& t, Fn fn) {
  Form form{.op = op, .type = t.type, .sources = {t.type, t.type}, .result = t.type};
  check(form, [&](const Sources& s) { return Result{cut(fn(value(s.v[0], t), value(s.v[1], t)), t.bits)}; });
}

TEST(IntegerHandlers, add_sub_min_max_wrap_and_order_by_sign) {
  for (const Int& t : ints) {
    check_binary(Op::add, t, [](s128 a, s128 b) { return a + b; });
    check_binary(Op::sub, t, [](s128 a, s128 b) { return a - b; });
    check_binary(Op::min, t, [](s128 a, s128 b) { return a < b ? a : b; });
    check_binary(Op::max, t, [](s128 a, s128 b) { return a < b ? b : a; });
  }
}

TEST(IntegerHandlers, division_truncates_and_by_zero_gives_all_ones) {
  for (const Int& t : ints) {
    check_binary(Op::div, t, [](s128 a, s128 b) { return b == 0 ? s128{-1} : a / b; });
    check_binary(Op::rem, t, [](s128 a, s128 b) { return b == 0 ? s128{-1} : a % b; });
  }
}

TEST(IntegerHandlers, pairs_work_on_each_half) {
  for (const Op op : {Op::add, Op::min, Op::max})
    for (const Type type : {Type::u16x2, Type::s16x2}) {
      const Int half = type == Type::u16x2 ? ints[0] : ints[1];
      auto one = [&](u64 x, u64 y) {
        const s128 a = value(x & 0xffff, half), b = value(y & 0xffff, half);
        return cut(op == Op::add ? a + b : op == Op::min ? (a < b ? a : b) : (a < b ? b : a), 16);
      };
      check({.op = op, .type = type, .sources = {type, type}, .result = type}, [&](const Sources& s) {
        return Result{one(s.v[0], s.v[1]) | one(s.v[0] >> 16, s.v[1] >> 16) << 16};
      });
    }
}

TEST(IntegerHandlers, saturating_sums_stop_at_the_limits) {
  for (const Op op : {Op::add, Op::sub}) {
    Form form{.op = op, .type = Type::s32, .sources = {Type::s32, Type::s32}, .result = Type::s32};
    form.mods.sat = true;
    check(form, [&](const Sources& s) {
      const s64 a = static_cast<s32>(s.v[0]), b = static_cast<s32>(s.v[1]), r = op == Op::add ? a + b : a - b;
      return Result{cut(r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : r, 32)};
    });
  }
}

TEST(IntegerHandlers, products_give_low_high_and_wide_parts) {
  for (const Int& t : ints)
    for (const MulMode mode : {MulMode::lo, MulMode::hi, MulMode::wide}) {
      if (mode == MulMode::wide && t.bits == 64) continue;
      const Type wide =
          t.bits == 16 ? (t.is_signed ? Type::s32 : Type::u32) : (t.is_signed ? Type::s64 : Type::u64);
      const Type result = mode == MulMode::wide ? wide : t.type;
      const unsigned out_bits = mode == MulMode::wide ? 2 * t.bits : t.bits;
      auto product = [&](const Sources& s) {
        if (t.bits == 64 && !t.is_signed) {
          const u128 p = static_cast<u128>(s.v[0]) * s.v[1];
          return static_cast<s128>(mode == MulMode::hi ? p >> 64 : p);
        }
        const s128 p = value(s.v[0], t) * value(s.v[1], t);
        return mode == MulMode::hi ? p >> t.bits : p;
      };
      Form mul{.op = Op::mul, .type = t.type, .sources = {t.type, t.type}, .result = result};
      mul.mods.mul = mode;
      check(mul, [&](const Sources& s) { return Result{cut(product(s), out_bits)}; });
      Form mad{.op = Op::mad, .type = t.type, .sources = {t.type, t.type, result}, .result = result};
      mad.mods.mul = mode;
      check(mad, [&](const Sources& s) {
        return Result{
            cut(static_cast<s128>(cut(product(s), out_bits)) + static_cast<s128>(s.v[2]), out_bits)};
      });
    }
}

TEST(IntegerHandlers, mad_hi_sat_stops_at_the_limits) {
  Form form{
      .op = Op::mad, .type = Type::s32, .sources = {Type::s32, Type::s32, Type::s32}, .result = Type::s32};
  form.mods.mul = MulMode::hi;
  form.mods.sat = true;
  check(form, [](const Sources& s) {
    const s64 hi = (static_cast<s64>(static_cast<s32>(s.v[0])) * static_cast<s32>(s.v[1])) >> 32,
              r = hi + static_cast<s32>(s.v[2]);
    return Result{cut(r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : r, 32)};
  });
}

TEST(IntegerHandlers, products_of_24_bits_use_the_low_bits) {
  for (const bool is_signed : {false, true})
    for (const MulMode mode : {MulMode::lo, MulMode::hi})
      for (const int addend : {0, 1, 2}) {
        if (addend == 2 && !(is_signed && mode == MulMode::hi)) continue;
        const Type type = is_signed ? Type::s32 : Type::u32;
        Form form{
            .op = addend != 0 ? Op::mad24 : Op::mul24, .type = type, .sources = {type, type}, .result = type};
        if (addend != 0) form.sources.push_back(type);
        form.mods.mul = mode;
        form.mods.sat = addend == 2;
        check(form, [&](const Sources& s) {
          auto part = [&](u64 v) {
            const s64 low = static_cast<s64>(v & 0xffffff);
            return is_signed && (v & 0x800000) != 0 ? low - 0x1000000 : low;
          };
          const s64 p = part(s.v[0]) * part(s.v[1]);
          s64 r = mode == MulMode::hi ? p >> 16 : p;
          if (addend == 1) r += static_cast<s64>(s.v[2]);
          if (addend == 2) {
            r = static_cast<s64>(static_cast<s32>(r)) + static_cast<s32>(s.v[2]);
            r = r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : r;
          }
          return Result{cut(r, 32)};
        });
      }
}

TEST(IntegerHandlers, sad_adds_the_distance) {
  for (const Int& t : ints)
    check({.op = Op::sad, .type = t.type, .sources = {t.type, t.type, t.type}, .result = t.type},
          [&](const Sources& s) {
            const s128 a = value(s.v[0], t), b = value(s.v[1], t);
            return Result{cut((a < b ? b - a : a - b) + static_cast<s128>(s.v[2]), t.bits)};
          });
}

TEST(IntegerHandlers, shifts_beyond_the_width_leave_zeros_or_signs) {
  for (const Int& t : ints) {
    check({.op = Op::shl, .type = t.type, .sources = {t.type, Type::u32}, .result = t.type},
          [&](const Sources& s) {
            return Result{s.v[1] >= t.bits ? 0 : cut(static_cast<s128>(s.v[0]) << s.v[1], t.bits)};
          });
    check({.op = Op::shr, .type = t.type, .sources = {t.type, Type::u32}, .result = t.type},
          [&](const Sources& s) {
            return Result{cut(value(s.v[0], t) >> (s.v[1] > 70 ? 70 : s.v[1]), t.bits)};
          });
  }
}

TEST(IntegerHandlers, logic_and_unary_operations) {
  for (const Type type : {Type::b16, Type::b32, Type::b64}) {
    const unsigned n = 8 * bytes_of(type);
    const Form two{.type = type, .sources = {type, type}, .result = type};
    Form form = two;
    form.op = Op::and_;
    check(form, [](const Sources& s) { return Result{s.v[0] & s.v[1]}; });
    form.op = Op::or_;
    check(form, [](const Sources& s) { return Result{s.v[0] | s.v[1]}; });
    form.op = Op::xor_;
    check(form, [](const Sources& s) { return Result{s.v[0] ^ s.v[1]}; });
    form.sources.pop_back();
    form.op = Op::not_;
    check(form, [&](const Sources& s) { return Result{cut(~static_cast<s128>(s.v[0]), n)}; });
    form.op = Op::cnot;
    check(form, [](const Sources& s) { return Result{s.v[0] == 0 ? u64{1} : u64{0}}; });
  }
  for (const Int& t : {ints[1], ints[3], ints[5]}) {
    check({.op = Op::neg, .type = t.type, .sources = {t.type}, .result = t.type},
          [&](const Sources& s) { return Result{cut(-value(s.v[0], t), t.bits)}; });
    check({.op = Op::abs, .type = t.type, .sources = {t.type}, .result = t.type}, [&](const Sources& s) {
      const s128 a = value(s.v[0], t);
      return Result{cut(a < 0 ? -a : a, t.bits)};
    });
  }
}

TEST(IntegerHandlers, carry_chains_pass_the_flag_by_lane) {
  Random random(7);
  for (const Type type : {Type::u32, Type::s32, Type::u64, Type::s64})
    for (const Op op : {Op::add, Op::addc, Op::sub, Op::subc, Op::mad, Op::madc})
      for (const bool hi : {false, true})
        for (const bool out : {false, true}) {
          const bool in = op == Op::addc || op == Op::subc || op == Op::madc,
                     mad = op == Op::mad || op == Op::madc;
          if ((!in && !out) || (hi && !mad)) continue;
          Form form{.op = op, .type = type, .sources = {type, type}, .result = type};
          if (mad) form.sources.push_back(type);
          form.mods.cc_in = in;
          form.mods.cc_out = out;
          form.mods.mul = mad ? (hi ? MulMode::hi : MulMode::lo) : MulMode::none;
          const unsigned n = 8 * bytes_of(type);
          for (unsigned round = 0; round < 20; ++round) {
            Warp warp;
            for (auto& row : warp.sources)
              for (u64& v : row) v = sample(random, type);
            const u32 mask = round % 2 == 0 ? ~0u : static_cast<u32>(random.next()),
                      carry = static_cast<u32>(random.next());
            for (const InstructionSet& isa : instruction_sets()) {
              const Outcome got =
                  execute(isa, form, warp, mask, static_cast<int>(round % 3) - 1, false, carry);
              u32 flags = carry;
              for (unsigned lane = 0; lane < 32; ++lane) {
                if ((mask >> lane & 1) == 0) continue;
                u64 a = warp.sources[0][lane], b = warp.sources[1][lane];
                const Int t{type, n, type == Type::s32 || type == Type::s64};
                if (mad) {
                  const bool big = n == 64 && !t.is_signed;
                  const u128 p =
                      big ? static_cast<u128>(a) * b : static_cast<u128>(value(a, t) * value(b, t));
                  a = cut(static_cast<s128>(hi ? p >> n : p), n);
                  b = warp.sources[2][lane];
                }
                const u128 c = in ? carry >> lane & 1 : 0;
                const bool subtract = op == Op::sub || op == Op::subc;
                const u128 r = subtract ? static_cast<u128>(a) - b - c : static_cast<u128>(a) + b + c;
                ASSERT_EQ(cut(static_cast<s128>(r), n), got.d[lane]) << isa.name << " " << form.name();
                const bool flag = (r >> n & 1) != 0;
                if (out) flags = (flags & ~(1u << lane)) | static_cast<u32>(flag) << lane;
              }
              ASSERT_EQ(flags, got.carry) << isa.name << " " << form.name();
            }
          }
        }
}

TEST(IntegerHandlers, dot_products_sum_signed_and_unsigned_parts) {
  for (const Type at : {Type::u32, Type::s32})
    for (const Type bt : {Type::u32, Type::s32})
      for (const int form_of : {0, 1, 2}) {
        Form form{.op = form_of == 0 ? Op::dp4a : Op::dp2a,
                  .type = at,
                  .stype = bt,
                  .sources = {at, bt, Type::s32},
                  .result = Type::s32};
        form.mods.src_type_hi = form_of == 2 ? 1 : 0;
        check(form, [&](const Sources& s) {
          s64 sum = static_cast<s64>(s.v[2]);
          for (unsigned i = 0; i < (form_of == 0 ? 4u : 2u); ++i) {
            const unsigned byte = i + (form_of == 2 ? 2 : 0);
            const u64 rb = s.v[1] >> (8 * byte) & 0xff;
            const s64 b = bt == Type::s32 ? static_cast<s8>(rb) : static_cast<s64>(rb);
            const u64 ra = form_of == 0 ? s.v[0] >> (8 * i) & 0xff : s.v[0] >> (16 * i) & 0xffff;
            const s64 a = at != Type::s32 ? static_cast<s64>(ra)
                          : form_of == 0  ? static_cast<s8>(ra)
                                          : static_cast<s16>(ra);
            sum += a * b;
          }
          return Result{cut(sum, 32)};
        });
      }
}

}  // namespace
}  // namespace arith
