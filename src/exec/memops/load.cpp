// ld, ldu. The prepared addresses are read in the fastest way that their pattern allows and extended to the
// registers.
#include "exec/memops/ops.h"

namespace simtlab::exec::SIMTLAB_ISA {
namespace {

// A value of memory type T as the register type R holds it, in a row element.
template <class T, class R>
SIMTLAB_INLINE RowElem<R> extend(T value) {
  return row_bits<R>((R)value);
}

template <class E>
SIMTLAB_INLINE void store_splat(WarpCtx& w, std::byte* row, E value) {
  using V = Vec<E, vector_bytes / sizeof(E)>;
  const V v = splat<V>(value);
  if (w.mask == all_lanes) {
    for (unsigned i = 0; i < warp_lanes; i += lanes_of<V>) store<V>(row, i, v);
  } else {
    for (unsigned i = 0; i < warp_lanes; i += lanes_of<V>) store_active<V>(w, row, i, v);
  }
}

// Lanes side by side. T and the row element have one size.
template <class E>
SIMTLAB_INLINE void copy_row(WarpCtx& w, std::byte* row, u64 from) {
  using V = Vec<E, vector_bytes / sizeof(E)>;
  if (w.mask == all_lanes) {
#pragma GCC unroll 4
    for (unsigned i = 0; i < warp_lanes; i += lanes_of<V>)
      store<V>(row, i, read_host<V>(from + i * sizeof(E)));
  } else {
#pragma GCC unroll 2
    for (unsigned i = 0; i < warp_lanes; i += lanes_of<V>)
      store_active<V>(w, row, i, read_host<V>(from + i * sizeof(E)));
  }
}

// Any addresses. All lanes may be read; few are better visited alone.
template <class T, class R>
SIMTLAB_INLINE void gather(WarpCtx& w, std::byte* row, const u64* hosts, u64 offset) {
  using E = RowElem<R>;
  E* out = reinterpret_cast<E*>(row);
  if (w.mask == all_lanes) {
#pragma GCC unroll 8
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      out[lane] = extend<T, R>(read_host<T>(hosts[lane] + offset));
  } else {
    for (u32 m = w.mask; m != 0; m &= m - 1) {
      const unsigned lane = (unsigned)__builtin_ctz(m);
      out[lane] = extend<T, R>(read_host<T>(hosts[lane] + offset));
    }
  }
}

template <class T, class R>
[[gnu::noinline]] void read_rows(WarpCtx& w, const Access& access, std::byte* row) {
  using E = RowElem<R>;
  if (access.pattern == Pattern::uniform) {
    store_splat<E>(w, row, extend<T, R>(read_host<T>(access.first)));
    return;
  }
  if (access.pattern == Pattern::contiguous && access.whole) {
    if constexpr (sizeof(T) == sizeof(E)) {
      copy_row<E>(w, row, access.first);
    } else {
      alignas(64) E values[warp_lanes];
      for (unsigned lane = 0; lane < warp_lanes; ++lane)
        values[lane] = extend<T, R>(read_host<T>(access.first + lane * sizeof(T)));
      store_row(w, row, values);
    }
    return;
  }
  gather<T, R>(w, row, hosts_of(w, access), 0);
}

template <Where where, Width width, class T, class R>
void load_one(WarpCtx& w, const XInst& x) {
  Access access = prepare<where, width, false>(w, x, sizeof(T));
  if constexpr (where == Where::global || where == Where::generic) use_own_lines<false>(w, access, sizeof(T));
  read_rows<T, R>(w, access, w.row(x.dst));
}

// Two words a lane, lanes side by side. All of them may be read.
SIMTLAB_INLINE void read_pairs(const WarpCtx& w, const RowRef* rows, u64 from) {
  std::byte *const low = w.row(rows[0]), *const high = w.row(rows[1]);
  const bool all = w.mask == all_lanes;
#pragma GCC unroll 2
  for (unsigned i = 0; i < warp_lanes; i += pair_lanes) {
    const auto a = read_host<Doublewords>(from + i * 8),
               b = read_host<Doublewords>(from + i * 8 + sizeof(Doublewords));
    const Words l = words_of(a, b, false), h = words_of(a, b, true);
    if (all) {
      store(low, i, l);
      store(high, i, h);
    } else {
      store_active(w, low, i, l);
      store_active(w, high, i, h);
    }
  }
}

template <class T, class R>
[[gnu::noinline]] void read_vector(WarpCtx& w, const XInst& x, const Access& access, unsigned count) {
  const RowRef* rows = w.list(x);
  const u64* hosts = nullptr;
  if (sizeof(T) == 4 && sizeof(RowElem<R>) == 4 && count == 2 && access.pattern == Pattern::contiguous &&
      access.whole)
    return read_pairs(w, rows, access.first);
  if (access.pattern != Pattern::uniform) hosts = hosts_of(w, access);
  for (unsigned e = 0; e < count; ++e) {
    std::byte* row = w.row(rows[e]);
    if (access.pattern == Pattern::uniform) {
      store_splat<RowElem<R>>(w, row, extend<T, R>(read_host<T>(access.first + e * sizeof(T))));
    } else {
      gather<T, R>(w, row, hosts, e * sizeof(T));
    }
  }
}

template <Where where, Width width, class T, class R>
void load_vector(WarpCtx& w, const XInst& x) {
  const unsigned count = elements(*x.inst, x.inst->type == ptx::Type::b128 ? 16 : (unsigned)sizeof(T));
  Access access = prepare<where, width, false>(w, x, (unsigned)sizeof(T) * count);
  if constexpr (where == Where::global || where == Where::generic)
    use_own_lines<false>(w, access, (unsigned)sizeof(T) * count);
  read_vector<T, R>(w, x, access, count);
}

// Lanes that name one place get its lock one by one, in the order of their numbers.
template <Width width>
void load_locked(WarpCtx& w, const XInst& x) {
  const unsigned count = x.inst->mods.vector;
  const Access access = prepare<Where::shared, width, false>(w, x, 4 * count);
  const u64* hosts = hosts_of(w, access);
  u32* const rows[2] = {w.row32(x.dst), w.row32(x.dst2)};
  u32 locked = 0;
  for (u32 m = w.mask; m != 0; m &= m - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(m);
    for (unsigned k = 0; k < count; ++k) rows[k][lane] = read_host<u32>(hosts[lane] + 4 * k);
    if (!has_lock(w, hosts[lane])) {
      locked |= 1u << lane;
      continue;
    }
    u32& locks = lock_word(w, hosts[lane]);
    const u32 bit = lock_bit(w, hosts[lane]);
    if ((locks & bit) == 0) locked |= 1u << lane;
    locks |= bit;
  }
  w.set_pred(x.pdst, locked);
}

Handler pick_locked(const ptx::Inst& inst) {
  if (where_of(inst) != Where::shared || inst.mods.vector > 2 || ptx::size_of(inst.type) != 4) return nullptr;
  switch (width_of(inst)) {
    case Width::narrow: return load_locked<Width::narrow>;
    case Width::wide: return load_locked<Width::wide>;
    case Width::halves: return nullptr;
  }
  return nullptr;
}

template <Where where, class T, class R>
Handler pick_width(const ptx::Inst& inst) {
  const bool vector = inst.mods.vector > 1 || inst.type == ptx::Type::b128;
  switch (width_of(inst)) {
    case Width::narrow:
      return vector ? load_vector<where, Width::narrow, T, R> : load_one<where, Width::narrow, T, R>;
    case Width::wide:
      return vector ? load_vector<where, Width::wide, T, R> : load_one<where, Width::wide, T, R>;
    case Width::halves:
      // Machine code, whose registers have 32 bits
      if constexpr ((where == Where::global || where == Where::generic) && sizeof(T) <= 4 && sizeof(R) == 4)
        return vector ? load_vector<where, Width::halves, T, R> : load_one<where, Width::halves, T, R>;
      break;
  }
  return nullptr;
}

template <class T, class R>
Handler pick(const ptx::Inst& inst) {
  switch (where_of(inst)) {
    case Where::global: return pick_width<Where::global, T, R>(inst);
    case Where::shared: return pick_width<Where::shared, T, R>(inst);
    case Where::param: return pick_width<Where::param, T, R>(inst);
    case Where::local: return pick_width<Where::local, T, R>(inst);
    case Where::frame: return pick_width<Where::frame, T, R>(inst);
    case Where::generic: return pick_width<Where::generic, T, R>(inst);
  }
  return nullptr;
}

}  // namespace

Handler select_load(const ptx::Inst& inst) {
  if (inst.dst_count == 0 || inst.src_count == 0) return nullptr;
  if ((inst.mods.video & ptx::takes_lock) != 0) return pick_locked(inst);
  unsigned bytes = 0;  // of the registers; a sink has none
  for (unsigned i = 0; i < inst.dst_count; ++i) {
    if (inst.dst[i].bytes > bytes) bytes = inst.dst[i].bytes;
  }
  const bool sign = ptx::is_signed(inst.type);
  const unsigned size = ptx::size_of(inst.type);
  switch (size) {
    case 1:
      if (bytes == 8) return sign ? pick<s8, u64>(inst) : pick<u8, u64>(inst);
      if (bytes <= 2) return sign ? pick<s8, u16>(inst) : pick<u8, u32>(inst);
      return sign ? pick<s8, u32>(inst) : pick<u8, u32>(inst);
    case 2:
      if (bytes == 8) return sign ? pick<s16, u64>(inst) : pick<u16, u64>(inst);
      if (bytes <= 2) return pick<u16, u32>(inst);
      return sign ? pick<s16, u32>(inst) : pick<u16, u32>(inst);
    case 4:
      if (bytes == 8) return sign ? pick<s32, u64>(inst) : pick<u32, u64>(inst);
      return pick<u32, u32>(inst);
    case 8:
    case 16: return pick<u64, u64>(inst);
    default: return nullptr;
  }
}

}  // namespace simtlab::exec::SIMTLAB_ISA
