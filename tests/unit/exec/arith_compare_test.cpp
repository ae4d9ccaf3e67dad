// setp, set, slct, testp, selp, mov, predicate logic and address conversion.
#include <cmath>

#include "arith_support.h"
#include "ptx/module.h"

namespace arith {
namespace {

using ptx::BoolOp;
using ptx::Compare;

// Order of two values: -1, 0, 1, or 2 if a NaN is among them.
int order(Type type, u64 x, u64 y, bool ftz) {
  auto of = [](auto a, auto b) { return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2; };
  auto small = [&](float v) { return ftz && std::fabs(v) < 0x1p-126f ? 0.0f : v; };
  auto half = [](u64 h) {  // by definition of the format
    const int e = static_cast<int>(h >> 10 & 31);
    const double m = static_cast<double>(h & 1023), s = (h & 0x8000) != 0 ? -1 : 1;
    if (e == 31) return m != 0 ? std::nan("") : s * static_cast<double>(INFINITY);
    return s * (e == 0 ? std::ldexp(m, -24) : std::ldexp(m + 1024, e - 25));
  };
  auto small_half = [&](double v) { return ftz && std::fabs(v) < 0x1p-14 ? 0.0 : v; };
  switch (type) {
    case Type::s16: return of(static_cast<s16>(x), static_cast<s16>(y));
    case Type::s32: return of(static_cast<s32>(x), static_cast<s32>(y));
    case Type::s64: return of(static_cast<s64>(x), static_cast<s64>(y));
    case Type::f32: return of(small(f32(x)), small(f32(y)));
    case Type::f64: return of(f64(x), f64(y));
    case Type::f16: return of(small_half(half(x)), small_half(half(y)));
    case Type::bf16: return of(f32(x << 16), f32(y << 16));
    default: return of(x, y);
  }
}
bool holds(Compare compare, int o) {
  const bool unordered = o == 2;
  switch (compare) {
    case Compare::eq: return o == 0;
    case Compare::ne: return o == -1 || o == 1;
    case Compare::lt:
    case Compare::lo: return o == -1;
    case Compare::le:
    case Compare::ls: return o == -1 || o == 0;
    case Compare::gt:
    case Compare::hi: return o == 1;
    case Compare::ge:
    case Compare::hs: return o == 0 || o == 1;
    case Compare::equ: return unordered || o == 0;
    case Compare::neu: return unordered || o != 0;
    case Compare::ltu: return unordered || o == -1;
    case Compare::leu: return unordered || o <= 0;
    case Compare::gtu: return unordered || o == 1;
    case Compare::geu: return unordered || o >= 0;
    case Compare::num: return !unordered;
    default: return unordered;
  }
}
bool combined(BoolOp op, bool t, bool c) {
  return op == BoolOp::and_ ? t && c : op == BoolOp::or_ ? t || c : op == BoolOp::xor_ ? t != c : t;
}
bool is_float_type(Type t) { return t == Type::f16 || t == Type::bf16 || t == Type::f32 || t == Type::f64; }
std::vector<Compare> compares_of(Type t) {
  using enum Compare;
  if (is_float_type(t)) return {eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan};
  if (t == Type::u16 || t == Type::u32 || t == Type::u64) return {eq, ne, lt, le, gt, ge, lo, ls, hi, hs};
  if (t == Type::b16 || t == Type::b32 || t == Type::b64) return {eq, ne};
  return {eq, ne, lt, le, gt, ge};
}
const Type compared[] = {Type::b16, Type::b32, Type::b64, Type::u16,  Type::s16, Type::u32, Type::s32,
                         Type::u64, Type::s64, Type::f16, Type::bf16, Type::f32, Type::f64};

TEST(CompareHandlers, setp_answers_every_comparison_of_every_type) {
  for (const Type type : compared)
    for (const Compare compare : compares_of(type))
      for (const BoolOp op : {BoolOp::none, BoolOp::and_, BoolOp::or_, BoolOp::xor_})
        for (const unsigned results : {1u, 2u})
          for (const bool ftz : {false, true}) {
            if (ftz && type != Type::f32 && type != Type::f16) continue;
            Form form{.op = Op::setp,
                      .type = type,
                      .sources = {type, type},
                      .predicate_results = results,
                      .predicate_sources = op == BoolOp::none ? 0u : 1u};
            form.mods.compare = compare;
            form.mods.bool_op = op;
            form.mods.ftz = ftz;
            check(
                form,
                [&](const Sources& s) {
                  const bool t = holds(compare, order(type, s.v[0], s.v[1], ftz));
                  return Result{0, combined(op, t, s.p[0]), combined(op, !t, s.p[0])};
                },
                9);
          }
}

TEST(CompareHandlers, setp_on_pairs_gives_one_predicate_a_half) {
  for (const Type type : {Type::f16x2, Type::bf16x2}) {
    const Type part = type == Type::f16x2 ? Type::f16 : Type::bf16;
    for (const Compare compare : compares_of(part)) {
      Form form{.op = Op::setp,
                .type = type,
                .sources = {type, type},
                .predicate_results = 2,
                .predicate_sources = 1};
      form.mods.compare = compare;
      form.mods.bool_op = BoolOp::and_;
      check(
          form,
          [&](const Sources& s) {
            return Result{0, holds(compare, order(part, s.v[0] & 0xffff, s.v[1] & 0xffff, false)) && s.p[0],
                          holds(compare, order(part, s.v[0] >> 16, s.v[1] >> 16, false)) && s.p[0]};
          },
          12);
    }
  }
}

TEST(CompareHandlers, set_writes_all_ones_or_one) {
  for (const Type source : compared)
    for (const Type result : {Type::u32, Type::s32, Type::f32, Type::u16, Type::f16, Type::bf16})
      for (const BoolOp op : {BoolOp::none, BoolOp::xor_})
        for (const Compare compare : compares_of(source)) {
          Form form{.op = Op::set,
                    .type = result,
                    .stype = source,
                    .sources = {source, source},
                    .result = result,
                    .predicate_sources = op == BoolOp::none ? 0u : 1u};
          form.mods.compare = compare;
          form.mods.bool_op = op;
          const u64 yes = result == Type::f32    ? 0x3f800000u
                          : result == Type::u16  ? 0xffff
                          : result == Type::f16  ? 0x3c00
                          : result == Type::bf16 ? 0x3f80
                                                 : 0xffffffffu;
          check(
              form,
              [&](const Sources& s) {
                return Result{combined(op, holds(compare, order(source, s.v[0], s.v[1], false)), s.p[0]) ? yes
                                                                                                         : 0};
              },
              6);
        }
}

TEST(CompareHandlers, set_on_pairs_gives_one_or_all_ones_a_half) {
  for (const Type type : {Type::f16x2, Type::u32}) {
    Form form{.op = Op::set,
              .type = type,
              .stype = Type::f16x2,
              .sources = {Type::f16x2, Type::f16x2},
              .result = type};
    form.mods.compare = Compare::lt;
    const u64 yes = type == Type::u32 ? 0xffff : 0x3c00;
    check(form, [&](const Sources& s) {
      const u64 low = order(Type::f16, s.v[0] & 0xffff, s.v[1] & 0xffff, false) == -1 ? yes : 0;
      const u64 high = order(Type::f16, s.v[0] >> 16, s.v[1] >> 16, false) == -1 ? yes : 0;
      return Result{low | high << 16};
    });
  }
}

TEST(CompareHandlers, slct_chooses_by_sign) {
  for (const Type type : {Type::b16, Type::u32, Type::f32, Type::b64, Type::f64})
    for (const Type by : {Type::s32, Type::f32})
      for (const bool ftz : {false, true}) {
        Form form{.op = Op::slct, .type = type, .stype = by, .sources = {type, type, by}, .result = type};
        form.mods.ftz = ftz;
        check(form, [&](const Sources& s) {
          const bool negative_small = ftz && by == Type::f32 && (s.v[2] & 0x7f800000u) == 0;
          const bool first =
              negative_small || (by == Type::s32 ? static_cast<s32>(s.v[2]) >= 0 : f32(s.v[2]) >= 0);
          return Result{first ? s.v[0] : s.v[1]};
        });
      }
}

TEST(CompareHandlers, testp_classifies) {
  for (unsigned kind = 0; kind < 6; ++kind)
    for (const Type type : {Type::f32, Type::f64}) {
      Form form{.op = Op::testp, .type = type, .sources = {type}, .predicate_results = 1};
      form.mods.testp = static_cast<u8>(kind);
      check(form, [&](const Sources& s) {
        const int c = type == Type::f32 ? std::fpclassify(f32(s.v[0])) : std::fpclassify(f64(s.v[0]));
        const bool answers[] = {c != FP_INFINITE && c != FP_NAN,
                                c == FP_INFINITE,
                                c != FP_NAN,
                                c == FP_NAN,
                                c == FP_NORMAL || c == FP_ZERO,  // the PTX manual says so
                                c == FP_SUBNORMAL};
        return Result{0, answers[kind]};
      });
    }
}

TEST(MoveHandlers, selp_takes_the_predicate) {
  for (const Type type : {Type::b16, Type::b32, Type::f32, Type::b64, Type::f64})
    check({.op = Op::selp, .type = type, .sources = {type, type}, .result = type, .predicate_sources = 1},
          [](const Sources& s) { return Result{s.p[0] ? s.v[0] : s.v[1]}; });
}

TEST(MoveHandlers, mov_copies_packs_and_logic_works_on_predicates) {
  for (const Type type : {Type::b16, Type::u32, Type::f32, Type::u64, Type::f64})
    check({.op = Op::mov, .type = type, .sources = {type}, .result = type},
          [](const Sources& s) { return Result{s.v[0]}; });
  check({.op = Op::mov, .type = Type::b32, .sources = {Type::b16, Type::b16}, .result = Type::b32},
        [](const Sources& s) { return Result{s.v[0] | s.v[1] << 16}; });
  check({.op = Op::mov, .type = Type::b64, .sources = {Type::b32, Type::b32}, .result = Type::b64},
        [](const Sources& s) { return Result{s.v[0] | s.v[1] << 32}; });
  check({.op = Op::mov,
         .type = Type::b64,
         .sources = {Type::b16, Type::b16, Type::b16, Type::b16},
         .result = Type::b64},
        [](const Sources& s) { return Result{s.v[0] | s.v[1] << 16 | s.v[2] << 32 | s.v[3] << 48}; });
  check({.op = Op::mov,
         .type = Type::b32,
         .sources = {Type::b8, Type::b8, Type::b8, Type::b8},
         .result = Type::b32},
        [](const Sources& s) { return Result{s.v[0] | s.v[1] << 8 | s.v[2] << 16 | s.v[3] << 24}; });
  check({.op = Op::mov, .type = Type::pred, .predicate_results = 1, .predicate_sources = 1},
        [](const Sources& s) {
          return Result{0, s.p[0]};
        });
  check({.op = Op::not_, .type = Type::pred, .predicate_results = 1, .predicate_sources = 1},
        [](const Sources& s) {
          return Result{0, !s.p[0]};
        });
  check({.op = Op::and_, .type = Type::pred, .predicate_results = 1, .predicate_sources = 2},
        [](const Sources& s) {
          return Result{0, s.p[0] && s.p[1]};
        });
  check({.op = Op::or_, .type = Type::pred, .predicate_results = 1, .predicate_sources = 2},
        [](const Sources& s) {
          return Result{0, s.p[0] || s.p[1]};
        });
  check({.op = Op::xor_, .type = Type::pred, .predicate_results = 1, .predicate_sources = 2},
        [](const Sources& s) {
          return Result{0, s.p[0] != s.p[1]};
        });
}

// Unpacking has several results, which the form checker does not know: called by hand.
TEST(MoveHandlers, mov_unpacks_low_parts_first) {
  alignas(64) static std::byte rows[16 * 128];
  for (const InstructionSet& isa : instruction_sets())
    for (const Type type : {Type::b32, Type::b64})
      for (const u32 mask : {~0u, 0x0f0f00f1u}) {
        std::memset(rows, 0x5a, sizeof rows);
        ptx::Inst inst;
        inst.op = Op::mov;
        inst.type = type;
        inst.dst_count = 2;
        inst.src_count = 1;
        XInst x;
        x.inst = &inst;
        x.dst = 0;  // aliases the source
        x.dst2 = 2 * 128;
        x.src[0] = 0;
        WarpCtx w;
        w.bases[0] = rows;
        w.mask = mask;
        const unsigned bytes = bytes_of(type);
        for (u64 lane = 0; lane < 32; ++lane) {
          w.lanes[lane] = (mask >> lane & 1) != 0 ? ~0u : 0;
          const u64 v = (lane + 1) * 0x0123456789abcdefull;
          std::memcpy(rows + lane * bytes, &v, bytes);
        }
        std::array<std::byte, sizeof rows> before;
        std::memcpy(before.data(), rows, sizeof rows);
        const Handler handler = isa.select(inst);
        ASSERT_NE(nullptr, handler);
        handler(w, x);
        for (u64 lane = 0; lane < 32; ++lane) {
          u32 low, high, old_low, old_high;
          std::memcpy(&low, rows + lane * 4, 4);
          std::memcpy(&high, rows + 256 + lane * 4, 4);
          std::memcpy(&old_low, before.data() + lane * 4, 4);
          std::memcpy(&old_high, before.data() + 256 + lane * 4, 4);
          const u64 v = (lane + 1) * 0x0123456789abcdefull;
          const bool active = (mask >> lane & 1) != 0;
          EXPECT_EQ(!active      ? old_low
                    : bytes == 8 ? static_cast<u32>(v)
                                 : static_cast<u32>(v & 0xffff),
                    low)
              << isa.name;
          EXPECT_EQ(!active      ? old_high
                    : bytes == 8 ? static_cast<u32>(v >> 32)
                                 : static_cast<u32>(v >> 16 & 0xffff),
                    high)
              << isa.name;
        }
      }
}

TEST(MoveHandlers, cvta_and_isspacep_agree_on_the_windows) {
  using ptx::Space;
  const struct {
    Space space;
    u64 window;
  } spaces[] = {{Space::shared, ptx::shared_window},
                {Space::local, ptx::local_window},
                {Space::param, ptx::param_window},
                {Space::global, 0},
                {Space::constant, 0}};
  for (const auto& [space, window] : spaces)
    for (const bool to : {false, true}) {
      Form form{.op = Op::cvta, .type = Type::u64, .sources = {Type::u64}, .result = Type::u64};
      form.mods.space = space;
      form.mods.to = to;
      check(form, [&, w = window](const Sources& s) { return Result{to ? s.v[0] - w : s.v[0] + w}; });
    }
  for (const auto& [space, window] : spaces) {
    if (space == Space::constant) continue;
    Form form{.op = Op::isspacep, .type = Type::u64, .sources = {Type::u64}, .predicate_results = 1};
    form.mods.space = space;
    check(
        form,
        [&, space = space, w = window](const Sources& s) {
          const u64 high = s.v[0] >> 32;  // windows are 4 GiB each, at 4, 8 and 12 GiB
          return Result{0, space == Space::global ? high < 1 || high > 3 : high == w >> 32};
        },
        200);
  }
}

}  // namespace
}  // namespace arith
