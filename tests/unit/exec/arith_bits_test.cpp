// Bit manipulation against loops over single bits, as the PTX manual defines the instructions.
#include <algorithm>

#include "arith_support.h"

namespace arith {
namespace {

using ptx::BoolOp;
using ptx::PrmtMode;

unsigned bits_of(Type t) { return 8 * bytes_of(t); }
bool bit(u64 v, u64 i) { return (v >> i & 1) != 0; }

TEST(BitHandlers, counts_and_positions) {
  for (const Type type : {Type::b32, Type::b64}) {
    const unsigned n = bits_of(type);
    check({.op = Op::popc, .type = type, .sources = {type}, .result = Type::u32}, [&](const Sources& s) {
      u64 count = 0;
      for (unsigned i = 0; i < n; ++i) count += bit(s.v[0], i);
      return Result{count};
    });
    check({.op = Op::clz, .type = type, .sources = {type}, .result = Type::u32}, [&](const Sources& s) {
      u64 count = 0;
      while (count < n && !bit(s.v[0], n - 1 - count)) ++count;
      return Result{count};
    });
    check({.op = Op::brev, .type = type, .sources = {type}, .result = type}, [&](const Sources& s) {
      u64 r = 0;
      for (unsigned i = 0; i < n; ++i) r |= static_cast<u64>(bit(s.v[0], i)) << (n - 1 - i);
      return Result{r};
    });
  }
  for (const Type type : {Type::u32, Type::s32, Type::u64, Type::s64})
    for (const bool shift : {false, true}) {
      Form form{.op = Op::bfind, .type = type, .sources = {type}, .result = Type::u32};
      form.mods.shift_amount = shift;
      check(form, [&](const Sources& s) {
        const unsigned n = bits_of(type);
        const bool flip = (type == Type::s32 || type == Type::s64) && bit(s.v[0], n - 1);
        for (unsigned i = n; i-- > 0;)
          if (bit(s.v[0], i) != flip) return Result{shift ? n - 1 - i : i};
        return Result{0xffffffffu};
      });
    }
}

TEST(BitHandlers, fns_counts_set_bits_up_or_down) {
  check(
      {.op = Op::fns,
       .type = Type::b32,
       .sources = {Type::b32, Type::b8, Type::s8},
       .result = Type::b32,
       .source_bytes = {4, 4, 4}},
      [](const Sources& s) {
        const u32 mask = static_cast<u32>(s.v[0]), base = static_cast<u32>(s.v[1]);
        const s32 offset = static_cast<s32>(s.v[2]);  // non-negative here: 8-bit sample, zero-extended
        if (offset == 0) return Result{base < 32 && bit(mask, base) ? base : 0xffffffffu};
        s32 count = offset;
        for (u32 i = base; i < 32; ++i)
          if (bit(mask, i) && --count == 0) return Result{i};
        return Result{0xffffffffu};
      },
      300);
  // Downwards: mask 0b1011, from bit 3: bits 3, 1, 0.
  Form form{
      .op = Op::fns, .type = Type::b32, .sources = {Type::b32, Type::b32, Type::s32}, .result = Type::b32};
  Warp warp;
  for (u64 lane = 0; lane < 32; ++lane) {
    warp.sources[0][lane] = 0b1011;
    warp.sources[1][lane] = 3;
    warp.sources[2][lane] = static_cast<u32>(-static_cast<s32>(lane) - 1);
  }
  for (const InstructionSet& isa : instruction_sets()) {
    const Outcome out = execute(isa, form, warp, ~0u);
    EXPECT_EQ(3u, out.d[0]);
    EXPECT_EQ(1u, out.d[1]);
    EXPECT_EQ(0u, out.d[2]);
    EXPECT_EQ(0xffffffffu, out.d[3]);
  }
}

TEST(BitHandlers, fields_are_extracted_and_inserted) {
  for (const Type type : {Type::u32, Type::s32, Type::u64, Type::s64})
    check(
        {.op = Op::bfe, .type = type, .sources = {type, Type::u32, Type::u32}, .result = type},
        [&](const Sources& s) {
          const unsigned top = bits_of(type) - 1;
          const u64 pos = s.v[1] & 0xff, len = s.v[2] & 0xff;
          const bool sign = (type == Type::s32 || type == Type::s64) && len != 0 &&
                            bit(s.v[0], std::min<u64>(pos + len - 1, top));
          u64 r = 0;
          for (unsigned i = 0; i <= top; ++i)
            r |= static_cast<u64>(i < len && pos + i <= top ? bit(s.v[0], pos + i) : sign) << i;
          return Result{r};
        },
        120);
  for (const Type type : {Type::b32, Type::b64})
    check(
        {.op = Op::bfi, .type = type, .sources = {type, type, Type::u32, Type::u32}, .result = type},
        [&](const Sources& s) {
          const unsigned top = bits_of(type) - 1;
          const u64 pos = s.v[2] & 0xff, len = s.v[3] & 0xff;
          u64 r = s.v[1];
          for (u64 i = 0; i < len && pos + i <= top; ++i)
            r = (r & ~(u64{1} << (pos + i))) | static_cast<u64>(bit(s.v[0], i)) << (pos + i);
          return Result{r};
        },
        120);
}

TEST(BitHandlers, masks_and_extensions_clamp_or_wrap) {
  for (const bool wrap : {false, true}) {
    Form form{.op = Op::bmsk, .type = Type::b32, .sources = {Type::b32, Type::b32}, .result = Type::b32};
    form.mods.wrap = wrap;
    check(
        form,
        [&](const Sources& s) {
          const u64 start = wrap ? s.v[0] & 31 : s.v[0], width = wrap ? s.v[1] & 31 : s.v[1];
          u64 r = 0;
          for (u64 i = 0; i < 32; ++i) r |= static_cast<u64>(i >= start && i - start < width) << i;
          return Result{r};
        },
        100);
    for (const Type type : {Type::u32, Type::s32}) {
      Form extend{.op = Op::szext, .type = type, .sources = {type, Type::u32}, .result = type};
      extend.mods.wrap = wrap;
      check(
          extend,
          [&](const Sources& s) {
            const u64 width = wrap ? s.v[1] & 31 : s.v[1];
            u64 r = 0;
            for (u64 i = 0; i < 32; ++i)
              r |= static_cast<u64>(i < width ? bit(s.v[0], i)
                                              : type == Type::s32 && width != 0 && bit(s.v[0], width - 1))
                   << i;
            return Result{r};
          },
          100);
    }
  }
}

TEST(BitHandlers, lop3_looks_every_bit_up) {
  for (unsigned lut = 0; lut < 256; lut += 3) {
    Form form{
        .op = Op::lop3, .type = Type::b32, .sources = {Type::b32, Type::b32, Type::b32}, .result = Type::b32};
    form.mods.lut = static_cast<u8>(lut);
    auto look = [&](const Sources& s) {
      u64 r = 0;
      for (unsigned i = 0; i < 32; ++i)
        r |= static_cast<u64>(bit(lut, 4u * bit(s.v[0], i) + 2u * bit(s.v[1], i) + bit(s.v[2], i))) << i;
      return r;
    };
    check(
        form, [&](const Sources& s) { return Result{look(s)}; }, 6);
    for (const BoolOp op : {BoolOp::and_, BoolOp::or_}) {
      Form with = form;
      with.predicate_results = with.predicate_sources = 1;
      with.mods.bool_op = op;
      check(
          with,
          [&](const Sources& s) {
            const u64 r = look(s);
            return Result{r, op == BoolOp::and_ ? r != 0 && s.p[0] : r != 0 || s.p[0]};
          },
          6);
    }
  }
}

TEST(BitHandlers, funnel_shifts_clamp_or_wrap) {
  for (const bool left : {false, true})
    for (const bool wrap : {false, true}) {
      Form form{.op = Op::shf,
                .type = Type::b32,
                .sources = {Type::b32, Type::b32, Type::u32},
                .result = Type::b32};
      form.mods.left = left;
      form.mods.wrap = wrap;
      check(
          form,
          [&](const Sources& s) {
            const u64 n = wrap ? s.v[2] & 31 : std::min<u64>(s.v[2], 32);
            u64 r = 0;
            for (u64 i = 0; i < 32; ++i) {
              const u64 from = left ? i + 32 - n : i + n;  // bit of the 64-bit value b:a
              r |= static_cast<u64>(from < 32 ? bit(s.v[0], from) : bit(s.v[1], from - 32)) << i;
            }
            return Result{r};
          },
          100);
    }
}

TEST(BitHandlers, prmt_picks_bytes_in_every_mode) {
  for (const PrmtMode mode : {PrmtMode::none, PrmtMode::f4e, PrmtMode::b4e, PrmtMode::rc8, PrmtMode::ecl,
                              PrmtMode::ecr, PrmtMode::rc16}) {
    Form form{
        .op = Op::prmt, .type = Type::b32, .sources = {Type::b32, Type::b32, Type::b32}, .result = Type::b32};
    form.mods.prmt = mode;
    check(
        form,
        [&](const Sources& s) {
          u64 r = 0;
          const u64 c = s.v[2] & 3;
          for (u64 i = 0; i < 4; ++i) {
            u64 pick = 0;
            bool sign = false;
            switch (mode) {
              case PrmtMode::none: pick = s.v[2] >> (4 * i) & 7, sign = bit(s.v[2], 4 * i + 3); break;
              case PrmtMode::f4e: pick = c + i; break;
              case PrmtMode::b4e: pick = (c + 8 - i) % 8; break;
              case PrmtMode::rc8: pick = c; break;
              case PrmtMode::ecl: pick = std::max(c, i); break;
              case PrmtMode::ecr: pick = std::min(c, i); break;
              default: pick = (c % 2) * 2 + i % 2; break;
            }
            const u64 byte = (pick < 4 ? s.v[0] >> (8 * pick) : s.v[1] >> (8 * (pick - 4))) & 0xff;
            r |= (sign ? (byte >= 128 ? 0xff : 0) : byte) << (8 * i);
          }
          return Result{r};
        },
        60);
  }
}

}  // namespace
}  // namespace arith
