// Integer operations that only machine code has.
#include "arith_support.h"
#include "ptx/machine_ops.h"

namespace arith {
namespace {

u32 low(u64 v) { return static_cast<u32>(v); }
u64 flip(u64 v, bool inverted) { return inverted ? low(~v) : low(v); }

TEST(MachineHandlers, sums_of_three_count_their_carries) {
  for (u32 bits = 0; bits < 8; ++bits)
    for (const u32 constant : {0u, 1u, 2u})
      for (const unsigned in : {0u, 1u, 2u})
        for (const unsigned out : {0u, 1u, 2u}) {
          Form form{.op = Op::iadd3, .type = Type::u32, .sources = {Type::u32, Type::u32, Type::u32}};
          form.result = Type::u32;
          form.mods.video = bits | constant << ptx::sum_constant_shift;
          form.predicate_sources = in;
          form.predicate_results = out;
          check(
              form,
              [&](const Sources& s) {
                u64 sum = constant;
                for (unsigned i = 0; i < 3; ++i) sum += flip(s.v[i], (bits >> i & 1) != 0);
                for (unsigned i = 0; i < in; ++i) sum += s.p[i] ? 1 : 0;
                return Result{low(sum), sum >> 32 >= 1, sum >> 32 >= 2};
              },
              4);
        }
}

TEST(MachineHandlers, products_and_addends_are_negated) {
  for (const u32 bits :
       {ptx::product_negated, ptx::addend_negated, ptx::product_negated | ptx::addend_negated}) {
    Form form{
        .op = Op::imad, .type = Type::s32, .sources = {Type::u32, Type::u32, Type::u32}, .result = Type::u32};
    form.mods.video = bits;
    check(form, [&](const Sources& s) {
      u64 product = s.v[0] * s.v[1], addend = s.v[2];
      if ((bits & ptx::product_negated) != 0) product = 0 - product;
      if ((bits & ptx::addend_negated) != 0) addend = 0 - addend;
      return Result{low(product + addend)};
    });
  }
}

TEST(MachineHandlers, scaled_sums_of_low_and_high_words) {
  for (const u32 n : {0u, 1u, 4u, 31u})
    for (const u32 flags :
         {0u, ptx::lea_high, ptx::lea_high | ptx::lea_extended,
          ptx::lea_scaled_inverted | 1u << ptx::sum_constant_shift, ptx::lea_high | ptx::lea_b_inverted})
      for (const unsigned carries : {0u, 1u}) {
        Form form{.op = Op::lea,
                  .type = Type::u32,
                  .sources = {Type::u32, Type::u32, Type::u32},
                  .result = Type::u32};
        form.mods.video = n | flags;
        form.predicate_sources = form.predicate_results = carries;
        check(
            form,
            [&](const Sources& s) {
              const u64 top =
                  (flags & ptx::lea_extended) != 0 ? u64{low(s.v[0]) >> 31 != 0 ? ~0u : 0u} : s.v[2];
              const u64 shifted = (top << 32 | low(s.v[0])) << n;
              const u64 scaled = flip((flags & ptx::lea_high) != 0 ? shifted >> 32 : shifted,
                                      (flags & ptx::lea_scaled_inverted) != 0);
              const u64 sum = scaled + flip(s.v[1], (flags & ptx::lea_b_inverted) != 0) +
                              (flags >> ptx::sum_constant_shift) + (carries != 0 && s.p[0] ? 1 : 0);
              return Result{low(sum), sum >> 32 != 0};
            },
            8);
      }
}

TEST(MachineHandlers, shifts_of_pairs) {
  for (const bool left : {false, true})
    for (const bool wrap : {false, true})
      for (const bool high : {false, true})
        for (const Type type : {Type::u64, Type::s64}) {
          Form form{.op = Op::shf_wide,
                    .type = type,
                    .sources = {Type::u32, Type::u32, Type::u32},
                    .result = Type::u32};
          form.mods.left = left;
          form.mods.wrap = wrap;
          form.mods.video = high ? 1 : 0;
          check(form, [&](const Sources& s) {
            const u64 value = s.v[2] << 32 | low(s.v[0]), by = wrap ? s.v[1] & 63 : s.v[1];
            u64 r = 0;
            if (left)
              r = by > 63 ? 0 : value << by;
            else if (type == Type::s64)
              r = static_cast<u64>(static_cast<s64>(value) >> (by > 63 ? 63 : by));
            else
              r = by > 63 ? 0 : value >> by;
            return Result{low(high ? r >> 32 : r)};
          });
        }
}

TEST(MachineHandlers, comparisons_of_high_words_go_on_with_the_low_ones) {
  for (const Type type : {Type::u32, Type::s32})
    for (const ptx::Compare compare :
         {ptx::Compare::lt, ptx::Compare::le, ptx::Compare::eq, ptx::Compare::ne}) {
      Form form{.op = Op::setp_ex, .type = type, .sources = {type, type}};
      form.predicate_results = form.predicate_sources = 2;
      form.mods.compare = compare;
      form.mods.bool_op = ptx::BoolOp::or_;
      check(form, [&](const Sources& s) {
        const s64 a = type == Type::s32 ? static_cast<s32>(s.v[0]) : static_cast<s64>(low(s.v[0]));
        const s64 b = type == Type::s32 ? static_cast<s32>(s.v[1]) : static_cast<s64>(low(s.v[1]));
        const bool less = compare == ptx::Compare::lt || compare == ptx::Compare::le;
        const bool high = less ? a < b : compare == ptx::Compare::ne, r = a == b ? s.p[0] : high;
        return Result{0, r || s.p[1], !r || s.p[1]};
      });
    }
}

TEST(MachineHandlers, permutations_with_a_known_selector) {
  Random random(4);
  for (unsigned round = 0; round < 60; ++round) {
    const u32 selector = low(random.next()) & (round % 2 == 0 ? 0x7777u : 0xffffu);
    Form form{
        .op = Op::prmt, .type = Type::b32, .sources = {Type::u32, Type::u32, Type::u32}, .result = Type::u32};
    form.mods.video = ptx::prmt_known | selector;
    check(
        form,
        [&](const Sources& s) {
          const u64 all = s.v[1] << 32 | low(s.v[0]);
          u32 r = 0;
          for (unsigned i = 0; i < 4; ++i) {
            const u32 pick = selector >> 4 * i & 15, byte = all >> 8 * (pick & 7) & 0xff;
            r |= ((pick & 8) == 0 ? byte : (byte & 0x80) != 0 ? 0xffu : 0u) << 8 * i;
          }
          return Result{r};
        },
        4);
  }
}

}  // namespace
}  // namespace arith
