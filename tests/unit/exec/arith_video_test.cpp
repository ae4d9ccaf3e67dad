// Video instructions: scalar forms against arithmetic on extracted parts, SIMD forms against loops over
// parts.
#include <algorithm>

#include "arith_support.h"
#include "ptx/video.h"

namespace arith {
namespace {

using ptx::AtomOp;
using ptx::Compare;

s64 part(u64 word, unsigned selector, bool by_sign) {  // 0 word, 1..4 bytes, 5..6 halves
  if (selector == 0) return by_sign ? static_cast<s32>(word) : static_cast<s64>(word);
  if (selector <= 4) {
    const u64 v = word >> (8 * (selector - 1)) & 0xff;
    return by_sign ? static_cast<s8>(v) : static_cast<s64>(v);
  }
  const u64 v = word >> (16 * (selector - 5)) & 0xffff;
  return by_sign ? static_cast<s16>(v) : static_cast<s64>(v);
}
Type sign_type(bool by_sign) { return by_sign ? Type::s32 : Type::u32; }

TEST(VideoHandlers, scalar_forms_select_saturate_and_merge) {
  Random random(31);
  for (const Op op : {Op::vadd, Op::vsub, Op::vabsdiff, Op::vmin, Op::vmax, Op::vset})
    for (unsigned round = 0; round < 150; ++round) {
      const bool as = random.below(2) != 0, bs = random.below(2) != 0,
                 ds = op != Op::vset && random.below(2) != 0;
      const unsigned a_part = static_cast<unsigned>(random.below(7)),
                     b_part = static_cast<unsigned>(random.below(7));
      const AtomOp second = std::array{AtomOp::none, AtomOp::add, AtomOp::min, AtomOp::max}[random.below(4)];
      const unsigned d_part = second == AtomOp::none ? static_cast<unsigned>(random.below(7)) : 0;
      Form form{.op = op,
                .type = op == Op::vset ? sign_type(as) : sign_type(ds),
                .stype = op == Op::vset ? sign_type(bs) : sign_type(as),
                .sources = {Type::b32, Type::b32, Type::b32},
                .result = Type::b32};
      form.mods.sat = op != Op::vset && random.below(2) != 0;
      form.mods.atom = second;
      form.mods.compare = Compare::le;
      form.mods.src_type_hi = op != Op::vset && bs ? ptx::video_b_signed : 0;
      form.mods.video =
          a_part << ptx::video_a_shift | b_part << ptx::video_b_shift | d_part << ptx::video_d_shift;
      check(
          form,
          [&](const Sources& s) {
            const s64 a = part(s.v[0], a_part, as), b = part(s.v[1], b_part, bs);
            s64 v = op == Op::vadd       ? a + b
                    : op == Op::vsub     ? a - b
                    : op == Op::vabsdiff ? std::max(a - b, b - a)
                    : op == Op::vmin     ? std::min(a, b)
                    : op == Op::vmax     ? std::max(a, b)
                                         : a <= b;
            const unsigned n = d_part == 0 ? 32 : d_part <= 4 ? 8 : 16;
            if (form.mods.sat) {
              const s64 high = (s64{1} << (ds ? n - 1 : n)) - 1;
              v = std::clamp(v, ds ? -high - 1 : s64{0}, high);
            }
            const u32 t = static_cast<u32>(v), c = static_cast<u32>(s.v[2]);
            if (second == AtomOp::add) return Result{t + c};
            if (second != AtomOp::none) {
              const bool less = ds ? static_cast<s32>(t) < static_cast<s32>(c) : t < c;
              return Result{(second == AtomOp::min) == less ? t : c};
            }
            if (d_part == 0) return Result{t};
            const unsigned at = d_part <= 4 ? 8 * (d_part - 1) : 16 * (d_part - 5);
            const u32 mask = (n == 8 ? 0xffu : 0xffffu) << at;
            return Result{(t << at & mask) | (c & ~mask)};
          },
          3);
    }
}

TEST(VideoHandlers, shifts_clamp_or_wrap_their_amount) {
  for (const Op op : {Op::vshl, Op::vshr})
    for (const bool wrap : {false, true})
      for (const bool as : {false, true}) {
        Form form{.op = op,
                  .type = sign_type(as),
                  .stype = sign_type(as),
                  .sources = {Type::b32, Type::b32, Type::b32},
                  .result = Type::b32};
        form.mods.wrap = wrap;
        check(
            form,
            [&](const Sources& s) {
              const u64 n = wrap ? s.v[1] % 32 : std::min<u64>(s.v[1], 32);
              const s64 a = part(s.v[0], 0, as);
              const u32 r = op == Op::vshr ? static_cast<u32>(a >> n)
                            : n == 32      ? 0
                                           : static_cast<u32>(s.v[0]) << n;
              return Result{r};
            },
            60);
      }
}

TEST(VideoHandlers, vmad_scales_negates_and_adds_one) {
  Random random(32);
  for (unsigned round = 0; round < 200; ++round) {
    const bool as = random.below(2) != 0, bs = random.below(2) != 0;
    const unsigned a_part = static_cast<unsigned>(random.below(7)),
                   b_part = static_cast<unsigned>(random.below(7));
    const u8 scale = std::array<u8, 3>{0, ptx::video_shr7, ptx::video_shr15}[random.below(3)];
    const u8 sign =
        std::array<u8, 4>{0, ptx::video_neg_a, ptx::video_neg_c, ptx::video_plus_one}[random.below(4)];
    Form form{.op = Op::vmad,
              .type = Type::s32,
              .stype = sign_type(as),
              .sources = {Type::b32, Type::b32, Type::b32},
              .result = Type::b32};
    form.mods.sat = random.below(2) != 0;
    form.mods.src_type_hi = static_cast<u8>(scale | sign | (bs ? ptx::video_b_signed : 0));
    form.mods.video = a_part << ptx::video_a_shift | b_part << ptx::video_b_shift;
    check(
        form,
        [&](const Sources& s) {
          const bool by_sign = as || bs || sign == ptx::video_neg_a || sign == ptx::video_neg_c;
          const s128 product = static_cast<s128>(part(s.v[0], a_part, as)) * part(s.v[1], b_part, bs);
          // Negating c means ~c + 1 in 32 bits before the extension: it differs from -c for the most negative
          // c only.
          const u32 c = static_cast<u32>(s.v[2]);
          const u32 c_used = sign == ptx::video_neg_c ? ~c : c;
          const s128 addend =
              by_sign ? static_cast<s128>(static_cast<s32>(c_used)) : static_cast<s128>(c_used);
          s128 r = (sign == ptx::video_neg_a ? -product : product) + addend +
                   (sign == ptx::video_plus_one || sign == ptx::video_neg_c ? 1 : 0);
          r >>= scale == ptx::video_shr7 ? 7 : scale == ptx::video_shr15 ? 15 : 0;
          if (form.mods.sat)
            r = by_sign ? std::clamp<s128>(r, INT32_MIN, INT32_MAX) : std::clamp<s128>(r, 0, UINT32_MAX);
          return Result{static_cast<u32>(static_cast<u64>(r))};
        },
        3);
  }
}

TEST(VideoHandlers, simd_forms_work_on_chosen_parts) {
  Random random(33);
  for (const unsigned parts : {2u, 4u})
    for (const unsigned kind : {0u, 1u, 2u, 3u, 4u, 5u, 6u})
      for (unsigned round = 0; round < 60; ++round) {
        const Op two[] = {Op::vadd2, Op::vsub2, Op::vavrg2, Op::vabsdiff2, Op::vmin2, Op::vmax2, Op::vset2};
        const Op four[] = {Op::vadd4, Op::vsub4, Op::vavrg4, Op::vabsdiff4, Op::vmin4, Op::vmax4, Op::vset4};
        const bool set = kind == 6;
        const bool as = random.below(2) != 0, bs = random.below(2) != 0, ds = random.below(2) != 0,
                   add = random.below(2) != 0;
        const u32 mask = static_cast<u32>(random.below(1u << parts));
        Form form{.op = parts == 2 ? two[kind] : four[kind],
                  .type = set ? sign_type(as) : sign_type(ds),
                  .stype = set ? sign_type(bs) : sign_type(as),
                  .sources = {Type::b32, Type::b32, Type::b32},
                  .result = Type::b32};
        form.mods.sat = !set && !add && random.below(2) != 0;
        form.mods.atom = add ? AtomOp::add : AtomOp::none;
        form.mods.compare = Compare::gt;
        form.mods.src_type_hi = !set && bs ? ptx::video_b_signed : 0;
        unsigned pick_a[4], pick_b[4];
        form.mods.video = mask;
        for (unsigned i = 0; i < parts; ++i) {
          pick_a[i] = static_cast<unsigned>(random.below(2 * parts));
          pick_b[i] = static_cast<unsigned>(random.below(2 * parts));
          form.mods.video |= pick_a[i] << (4 + 3 * i) | pick_b[i] << (16 + 3 * i);
        }
        check(
            form,
            [&](const Sources& s) {
              const unsigned n = 32 / parts, base = parts == 2 ? 5 : 1;
              u64 d = add ? s.v[2] : 0;
              for (unsigned i = 0; i < parts; ++i) {
                const u64 field = ((u64{1} << n) - 1) << (n * i);
                if ((mask >> i & 1) == 0) {
                  if (!add) d |= s.v[2] & field;
                  continue;
                }
                const s64 a = part(pick_a[i] < parts ? s.v[0] : s.v[1], base + pick_a[i] % parts, as);
                const s64 b = part(pick_b[i] < parts ? s.v[0] : s.v[1], base + pick_b[i] % parts, bs);
                s64 v = 0;
                switch (kind) {
                  case 0: v = a + b; break;
                  case 1: v = a - b; break;
                  case 2: v = (a + b + (a + b >= 0 ? 1 : 0)) >> 1; break;
                  case 3: v = std::max(a - b, b - a); break;
                  case 4: v = std::min(a, b); break;
                  case 5: v = std::max(a, b); break;
                  default: v = a > b; break;
                }
                if (form.mods.sat) {
                  const s64 high = (s64{1} << (ds ? n - 1 : n)) - 1;
                  v = std::clamp(v, ds ? -high - 1 : s64{0}, high);
                }
                if (add)
                  d += static_cast<u64>(v);
                else
                  d |= static_cast<u64>(v) << (n * i) & field;
              }
              return Result{d & 0xffffffffu};
            },
            3);
      }
}

}  // namespace
}  // namespace arith
