// mov in all widths with packing and unpacking, selp, logic on predicates, cvta and isspacep.
#include "exec/arith/pairs.h"
#include "exec/arith/select.h"
#include "ptx/module.h"

namespace simtlab::exec::SIMTLAB_ISA {
namespace {

using ptx::Op;
using ptx::Space;
using ptx::Type;

SIMTLAB_OP1(Copy, a)
SIMTLAB_OP1(Copy16, a & 0xffff)
SIMTLAB_OP2(Pack16, (a & 0xffff) | (b << 16))
struct Pack32 : Stateless {
  using Stateless::Stateless;
  template <class V>
  SIMTLAB_INLINE auto operator()(V a, V b) const {
    using W = Vec<u64, lanes_of<V>>;
    return __builtin_convertvector(a, W) | (__builtin_convertvector(b, W) << 32);
  }
};

// Two rows of words to one of 64-bit values.
void pack_words(WarpCtx& w, const XInst& x) {
  if (w.mask != all_lanes) return run<Pack32, u64, u32, u32>(w, x);
  const std::byte *low = w.row(x.src[0]), *high = w.row(x.src[1]);
  // The destination may overlap a source
  Halves values[warp_lanes / pair_lanes];
  for (unsigned i = 0; i < warp_lanes / pair_lanes; ++i)
    values[i] = side_by_side(load<Words>(low, i * pair_lanes), load<Words>(high, i * pair_lanes));
  std::byte* const dst = w.row(x.dst);
  for (unsigned i = 0; i < warp_lanes / pair_lanes; ++i) {
    store(dst, i * pair_lanes, values[i].first);
    store(dst, i * pair_lanes + pair_lanes / 2, values[i].second);
  }
}

// Rows of both halves before either destination is written: they may alias the source.
template <class Whole, unsigned half_bits>
void unpack_halves(WarpCtx& w, const XInst& x) {
  alignas(64) u32 low[warp_lanes], high[warp_lanes];
  const std::byte* src = w.row(x.src[0]);
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    const Whole v = get<Whole>(src, lane);
    low[lane] = half_bits == 16 ? (u32)v & 0xffff : (u32)v;
    high[lane] = (u32)(v >> half_bits);
  }
  store_row(w, w.row(x.dst), low);
  store_row(w, w.row(x.dst2), high);
}

// Any vector mov. 128-bit values are a row of low and a row of high halves.
u128 get_bits(const std::byte* row, unsigned bytes, unsigned lane) {
  if (bytes < 8) return get<u32>(row, lane) & (bytes == 4 ? ~0u : (1u << (8 * bytes)) - 1);
  const u128 low = get<u64>(row, lane);
  return bytes == 8 ? low : low | ((u128)get<u64>(row + warp_lanes * 8, lane) << 64);
}
void put_bits(std::byte* row, unsigned bytes, unsigned lane, u128 value) {
  const u64 low = (u64)value, high = (u64)(value >> 64);
  const u32 word = (u32)(bytes >= 4 ? low : low & ((1u << (8 * bytes)) - 1));
  if (bytes < 8) {
    __builtin_memcpy(row + lane * 4, &word, 4);
    return;
  }
  __builtin_memcpy(row + lane * 8, &low, 8);
  if (bytes == 16) __builtin_memcpy(row + (warp_lanes + lane) * 8, &high, 8);
}
void mov_vector(WarpCtx& w, const XInst& x) {
  const ptx::Inst& inst = *x.inst;
  const unsigned whole = inst.type == Type::b128 ? 16 : ptx_bytes(inst.type);
  const unsigned sources = inst.src_count, parts = inst.dst_count;
  u128 values[warp_lanes] = {};
  for (u32 m = w.mask; m != 0; m &= m - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(m), bytes = whole / sources;
    for (unsigned i = 0; i < sources; ++i)
      values[lane] |= get_bits(w.row(x.src[i]), bytes, lane) << (8 * bytes * i);
  }
  const RowRef few[2] = {x.dst, x.dst2};
  const RowRef* rows = x.list != 0 ? w.list(x) : few;
  for (u32 m = w.mask; m != 0; m &= m - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(m), bytes = whole / parts;
    for (unsigned i = 0; i < parts; ++i)
      put_bits(w.row(rows[i]), bytes, lane, values[lane] >> (8 * bytes * i));
  }
}

void mov_pred(WarpCtx& w, const XInst& x) { w.set_pred(x.pdst, w.pred(x.psrc[0])); }

// Addresses of local variables are relative to the frame of the running function.
void mov_frame(WarpCtx& w, const XInst& x) {
  const bool is64 = x.inst->dst[0].bytes == 8;
  alignas(64) u64 result[warp_lanes];
  alignas(64) u32 narrow[warp_lanes];
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    result[lane] =
        (is64 ? get<u64>(w.row(x.src[0]), lane) : get<u32>(w.row(x.src[0]), lane)) + w.frame_offset;
    narrow[lane] = (u32)result[lane];
  }
  if (is64)
    store_row(w, w.row(x.dst), result);
  else
    store_row(w, w.row(x.dst), narrow);
}

Handler select_mov(const ptx::Inst& inst) {
  if (inst.type == Type::pred) return mov_pred;
  const unsigned bytes = inst.type == Type::b128 ? 16 : ptx_bytes(inst.type);
  if (inst.frame_relative) return bytes == 4 || bytes == 8 ? mov_frame : nullptr;
  if (inst.dst_count == 1 && inst.src_count == 1) {
    switch (bytes) {
      case 2: return run<Copy16, u32, u32>;
      case 4: return run<Copy, u32, u32>;
      case 8: return run<Copy, u64, u64>;
      case 16: return mov_vector;
      default: return nullptr;
    }
  }
  if (inst.dst_count == 0 || inst.src_count == 0 || inst.src_count > 4 || bytes % inst.dst_count != 0 ||
      bytes % inst.src_count != 0)
    return nullptr;
  if (bytes == 4 && inst.src_count == 2 && inst.dst_count == 1) return run<Pack16, u32, u32, u32>;
  if (bytes == 8 && inst.src_count == 2 && inst.dst_count == 1) return pack_words;
  if (bytes == 4 && inst.dst_count == 2 && inst.src_count == 1) return unpack_halves<u32, 16>;
  if (bytes == 8 && inst.dst_count == 2 && inst.src_count == 1) return unpack_halves<u64, 32>;
  return bytes == 0 ? nullptr : mov_vector;
}

template <class T>
void selp(WarpCtx& w, const XInst& x) {
  using V = Vec<T, vector_bytes / sizeof(T)>;
  const u32 choice = w.pred(x.psrc[0]);
  const std::byte *a = w.row(x.src[0]), *b = w.row(x.src[1]);
  std::byte* dst = w.row(x.dst);
  const bool all = w.mask == all_lanes;
#pragma GCC unroll 4
  for (unsigned i = 0; i < warp_lanes; i += lanes_of<V>) {
    const V r = blend(expand_bits<V>(choice, i), load<V>(a, i), load<V>(b, i));
    if (all)
      store(dst, i, r);
    else
      store_active(w, dst, i, r);
  }
}

template <Op op>
void logic_pred(WarpCtx& w, const XInst& x) {
  const u32 a = w.pred(x.psrc[0]);
  if constexpr (op == Op::not_)
    w.set_pred(x.pdst, ~a);
  else if constexpr (op == Op::and_)
    w.set_pred(x.pdst, a & w.pred(x.psrc[1]));
  else if constexpr (op == Op::or_)
    w.set_pred(x.pdst, a | w.pred(x.psrc[1]));
  else
    w.set_pred(x.pdst, a ^ w.pred(x.psrc[1]));
}

// The window of a space in the generic address space; 0: addresses are the same in both.
u64 window_of(Space space) {
  switch (space) {
    case Space::shared: return ptx::shared_window;
    case Space::local: return ptx::local_window;
    case Space::param: return ptx::param_window;
    default: return 0;
  }
}
struct Cvta {
  u64 offset;
  SIMTLAB_INLINE explicit Cvta(const XInst& x)
      : offset(x.inst->mods.to ? 0 - window_of(x.inst->mods.space) : window_of(x.inst->mods.space)) {}
  template <class V>
  SIMTLAB_INLINE V operator()(V a) const {
    return a + splat<V>(offset);
  }
};
void cvta_frame(WarpCtx& w, const XInst& x) {
  alignas(64) u64 result[warp_lanes];
  const u64 offset = Cvta(x).offset + w.frame_offset;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) result[lane] = get<u64>(w.row(x.src[0]), lane) + offset;
  store_row(w, w.row(x.dst), result);
}
Handler select_cvta(const ptx::Inst& inst) {
  if (inst.frame_relative) return ptx_bytes(inst.type) == 8 ? cvta_frame : nullptr;
  const bool identity = window_of(inst.mods.space) == 0;
  if (ptx_bytes(inst.type) == 4) return identity ? run<Copy, u32, u32> : nullptr;  // windows lie beyond 4 GiB
  return identity ? run<Copy, u64, u64> : run<Cvta, u64, u64>;
}

// Constant variables live among the global ones: isspacep.const cannot be answered and is refused.
void isspacep(WarpCtx& w, const XInst& x) {
  const bool global = x.inst->mods.space == Space::global;
  const u64 start = global ? ptx::shared_window : window_of(x.inst->mods.space);
  const u64 size = global ? ptx::param_window + ptx::window_bytes - ptx::shared_window : ptx::window_bytes;
  u32 bits = 0;
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    bits |= (u32)(get<u64>(w.row(x.src[0]), lane) - start < size) << lane;
  w.set_pred(x.pdst, global ? ~bits : bits);
}

}  // namespace

Handler select_move(const ptx::Inst& inst) {
  const bool pred = inst.type == Type::pred;
  switch (inst.op) {
    case Op::mov: return select_mov(inst);
    case Op::selp: {
      const unsigned bytes = ptx_bytes(inst.type);
      return bytes == 8 ? selp<u64> : bytes == 4 || bytes == 2 ? selp<u32> : nullptr;
    }
    case Op::not_: return pred ? logic_pred<Op::not_> : nullptr;
    case Op::and_: return pred ? logic_pred<Op::and_> : nullptr;
    case Op::or_: return pred ? logic_pred<Op::or_> : nullptr;
    case Op::xor_: return pred ? logic_pred<Op::xor_> : nullptr;
    case Op::cvta: return select_cvta(inst);
    case Op::isspacep: {
      const Space space = inst.mods.space;
      const bool known = space == Space::global || window_of(space) != 0;
      return known && ptx_bytes(inst.type == Type::none ? Type::u64 : inst.type) == 8 ? isspacep : nullptr;
    }
    default: return nullptr;
  }
}

}  // namespace simtlab::exec::SIMTLAB_ISA
