// Instructions that look across the warp: shfl, vote, match, redux, elect, activemask.
//
// The lanes that take part are the active ones; lanes that name different member masks (tiles of a warp that
// run the same instruction together) form groups of their own.
#include "exec/arith/select.h"

namespace simtlab::exec::SIMTLAB_ISA {
namespace {

using ptx::AtomOp;
using ptx::Op;
using ptx::ShflMode;
using ptx::Type;
using ptx::VoteMode;

// Whether every active lane of the row holds the same value as the first.
SIMTLAB_INLINE bool is_uniform(const WarpCtx& w, const std::byte* row) {
  using V = Vec<u32, vector_bytes / 4>;
  const V first = splat<V>(get<u32>(row, (unsigned)__builtin_ctz(w.mask)));
  AsS<V> differs{};
  for (unsigned i = 0; i < warp_lanes; i += lanes_of<V>)
    differs |= (AsS<V>)(load<V>(row, i) != first) & lane_mask<V>(w, i);
  return pack_bits(differs != AsS<V>{}) == 0;
}
// Calls fn(lanes) for every set of active lanes that share a member mask. row null: all active lanes are one
// set.
template <class Fn>
SIMTLAB_INLINE void for_groups(const WarpCtx& w, const std::byte* row, Fn fn) {
  u32 remaining = w.mask;
  const bool one_set = remaining != 0 && (row == nullptr || is_uniform(w, row));
  while (remaining != 0) {
    u32 group = remaining;
    if (!one_set) {
      const u32 members = get<u32>(row, (unsigned)__builtin_ctz(remaining));
      for (u32 m = remaining; m != 0; m &= m - 1)
        if (get<u32>(row, (unsigned)__builtin_ctz(m)) != members) group &= ~(m & (0 - m));
    }
    fn(group);
    remaining &= ~group;
  }
}

// Source lane of every lane, and whether it is inside its segment (PTX manual, shfl).
template <ShflMode mode>
SIMTLAB_INLINE u32 shuffle_lanes(const std::byte* b_row, const std::byte* c_row, u32 (&source)[warp_lanes]) {
  using V = Vec<s32, vector_bytes / 4>;
  u32 inside = 0;
  V lane;
  for (unsigned i = 0; i < lanes_of<V>; ++i) lane[i] = (s32)i;
  for (unsigned i = 0; i < warp_lanes; i += lanes_of<V>, lane += (s32)lanes_of<V>) {
    const V b = load<V>(b_row, i) & 31, c = load<V>(c_row, i);
    const V segment = (c >> 8) & 31;
    const V limit = (lane & segment) | (c & 31 & ~segment);
    V j, valid;
    if constexpr (mode == ShflMode::up) {
      j = lane - b;
      valid = (V)(j >= limit);
    } else {
      if constexpr (mode == ShflMode::down)
        j = lane + b;
      else if constexpr (mode == ShflMode::bfly)
        j = lane ^ b;
      else
        j = (lane & segment) | (b & ~segment);
      valid = (V)(j <= limit);
    }
    inside |= pack_bits(valid) << i;
    store<V>(reinterpret_cast<std::byte*>(source), i, blend(valid, j, lane));
  }
  return inside;
}
template <ShflMode mode>
void shfl(WarpCtx& w, const XInst& x) {
  alignas(64) u32 source[warp_lanes], result[warp_lanes];
  const u32 inside = shuffle_lanes<mode>(w.row(x.src[1]), w.row(x.src[2]), source);
  const std::byte* a = w.row(x.src[0]);
#if defined(__AVX512F__)
  const __m512i low = _mm512_loadu_si512(a), high = _mm512_loadu_si512(a + 64);
  for (unsigned i = 0; i < 2; ++i)
    _mm512_store_si512(result + 16 * i,
                       _mm512_permutex2var_epi32(low, _mm512_load_si512(source + 16 * i), high));
#else
  for (unsigned lane = 0; lane < warp_lanes; ++lane) result[lane] = get<u32>(a, source[lane]);
#endif
  store_row(w, w.row(x.dst), result);
  if (x.pdst != no_pred) w.set_pred(x.pdst, inside);
}

u32 vote_of(VoteMode mode, u32 votes, u32 group) {
  switch (mode) {
    case VoteMode::all: return votes == group ? group : 0;
    case VoteMode::any: return votes != 0 ? group : 0;
    default: return votes == group || votes == 0 ? group : 0;
  }
}
// The member mask is the one source row of the .sync forms.
const std::byte* vote_members(const WarpCtx& w, const XInst& x) {
  return x.inst->src_count > 1 ? w.row(x.src[0]) : nullptr;
}
void vote_pred(WarpCtx& w, const XInst& x) {
  const u32 votes = w.pred(x.psrc[0]);
  u32 result = 0;
  for_groups(w, vote_members(w, x),
             [&](u32 group) { result |= vote_of(x.inst->mods.vote, votes & group, group); });
  w.set_pred(x.pdst, result);
}
void fill(u32 (&result)[warp_lanes], u32 group, u32 value) {
  for (; group != 0; group &= group - 1) result[__builtin_ctz(group)] = value;
}
void vote_ballot(WarpCtx& w, const XInst& x) {
  const u32 votes = w.pred(x.psrc[0]);
  alignas(64) u32 result[warp_lanes] = {};
  for_groups(w, vote_members(w, x), [&](u32 group) { fill(result, group, votes & group); });
  store_row(w, w.row(x.dst), result);
}

template <class T>
void match_any(WarpCtx& w, const XInst& x) {
  alignas(64) u32 result[warp_lanes] = {};
  const std::byte* a = w.row(x.src[0]);
  for_groups(w, w.row(x.src[1]), [&](u32 group) {
    while (group != 0) {
      const T value = get<T>(a, (unsigned)__builtin_ctz(group));
      u32 equal = 0;
      for (u32 m = group; m != 0; m &= m - 1)
        if (get<T>(a, (unsigned)__builtin_ctz(m)) == value) equal |= m & (0 - m);
      fill(result, equal, equal);
      group &= ~equal;
    }
  });
  store_row(w, w.row(x.dst), result);
}
template <class T>
void match_all(WarpCtx& w, const XInst& x) {
  alignas(64) u32 result[warp_lanes] = {};
  u32 agreed = 0;
  const std::byte* a = w.row(x.src[0]);
  for_groups(w, w.row(x.src[1]), [&](u32 group) {
    const T value = get<T>(a, (unsigned)__builtin_ctz(group));
    bool equal = true;
    for (u32 m = group; m != 0; m &= m - 1) equal &= get<T>(a, (unsigned)__builtin_ctz(m)) == value;
    if (!equal) return;
    fill(result, group, group);
    agreed |= group;
  });
  store_row(w, w.row(x.dst), result);
  if (x.pdst != no_pred) w.set_pred(x.pdst, agreed);
}

u32 reduce(AtomOp op, bool is_signed, u32 a, u32 b) {
  switch (op) {
    case AtomOp::add: return a + b;
    case AtomOp::min: return (is_signed ? (s32)a < (s32)b : a < b) ? a : b;
    case AtomOp::max: return (is_signed ? (s32)a > (s32)b : a > b) ? a : b;
    case AtomOp::and_: return a & b;
    case AtomOp::or_: return a | b;
    default: return a ^ b;
  }
}
void redux(WarpCtx& w, const XInst& x) {
  const std::byte* a = w.row(x.src[0]);
  const AtomOp op = x.inst->mods.atom;
  const bool is_signed = x.inst->type == Type::s32;
  alignas(64) u32 result[warp_lanes] = {};
  for_groups(w, w.row(x.src[1]), [&](u32 group) {
    u32 value = get<u32>(a, (unsigned)__builtin_ctz(group));
    for (u32 m = group & (group - 1); m != 0; m &= m - 1)
      value = reduce(op, is_signed, value, get<u32>(a, (unsigned)__builtin_ctz(m)));
    fill(result, group, value);
  });
  store_row(w, w.row(x.dst), result);
}
// f32 min and max: NaN count only with .NaN, or if there is nothing else; -0 is less than +0.
void redux_float(WarpCtx& w, const XInst& x) {
  const std::byte* a = w.row(x.src[0]);
  const ptx::Mods& mods = x.inst->mods;
  alignas(64) u32 result[warp_lanes] = {};
  for_groups(w, w.row(x.src[1]), [&](u32 group) {
    bool any = false, has_nan = false;
    s32 best = 0;
    for (u32 m = group; m != 0; m &= m - 1) {
      u32 bits = get<u32>(a, (unsigned)__builtin_ctz(m));
      if (mods.abs) bits &= 0x7fffffffu;
      if ((bits & 0x7fffffffu) > 0x7f800000u) {
        has_nan = true;
        continue;
      }
      const s32 key = (s32)bits < 0 ? (s32)(bits ^ 0x7fffffffu) : (s32)bits;  // ordered as integers
      if (!any || (mods.atom == AtomOp::min ? key < best : key > best)) best = key;
      any = true;
    }
    const u32 value = best < 0 ? (u32)best ^ 0x7fffffffu : (u32)best;
    fill(result, group, !any || (has_nan && mods.nan) ? 0x7fffffffu : value);
  });
  store_row(w, w.row(x.dst), result);
}

void activemask(WarpCtx& w, const XInst& x) {
  alignas(64) u32 result[warp_lanes];
  for (u32& r : result) r = w.mask;
  store_row(w, w.row(x.dst), result);
}
void elect(WarpCtx& w, const XInst& x) {
  alignas(64) u32 result[warp_lanes] = {};
  u32 leaders = 0;
  for_groups(w, w.row(x.src[0]), [&](u32 group) {
    fill(result, group, (u32)__builtin_ctz(group));
    leaders |= group & (0 - group);
  });
  store_row(w, w.row(x.dst), result);
  if (x.pdst != no_pred) w.set_pred(x.pdst, leaders);
}

Handler select_shfl(const ptx::Inst& inst) {
  if (inst.src_count < 3) return nullptr;
  switch (inst.mods.shfl) {
    case ShflMode::up: return shfl<ShflMode::up>;
    case ShflMode::down: return shfl<ShflMode::down>;
    case ShflMode::bfly: return shfl<ShflMode::bfly>;
    case ShflMode::idx: return shfl<ShflMode::idx>;
    default: return nullptr;
  }
}
Handler select_redux(const ptx::Inst& inst) {
  const AtomOp op = inst.mods.atom;
  const bool extremum = op == AtomOp::min || op == AtomOp::max;
  if (inst.type == Type::f32) return extremum ? redux_float : nullptr;
  const bool known =
      extremum || op == AtomOp::add || op == AtomOp::and_ || op == AtomOp::or_ || op == AtomOp::xor_;
  return known && ptx_bytes(inst.type) == 4 ? redux : nullptr;
}

}  // namespace

Handler select_warp(const ptx::Inst& inst) {
  const bool wide = ptx_bytes(inst.type) == 8;
  switch (inst.op) {
    case Op::shfl: return select_shfl(inst);
    case Op::vote:
      return inst.mods.vote == VoteMode::ballot ? vote_ballot
             : inst.mods.vote == VoteMode::none ? nullptr
                                                : vote_pred;
    case Op::match:
      if (inst.mods.all) return wide ? match_all<u64> : match_all<u32>;
      return wide ? match_any<u64> : match_any<u32>;
    case Op::redux: return select_redux(inst);
    case Op::elect: return elect;
    case Op::activemask: return activemask;
    default: return nullptr;
  }
}

}  // namespace simtlab::exec::SIMTLAB_ISA
