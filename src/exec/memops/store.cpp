// st. Only active lanes are written, also inside vectors; where several lanes hit one address the highest
// lane wins.
#include "exec/memops/ops.h"

namespace simtlab::exec::SIMTLAB_ISA {
namespace {

// T in memory from row elements E.
template <class T, class E>
SIMTLAB_INLINE T value_of(const std::byte* row, unsigned lane) {
  E element;
  __builtin_memcpy(&element, row + lane * sizeof(E), sizeof element);
  return (T)element;
}

template <class T, class E>
SIMTLAB_INLINE void scatter(const WarpCtx& w, const std::byte* row, const u64* hosts, u64 offset) {
  if (w.mask == all_lanes) {
#pragma GCC unroll 8
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      write_host<T>(hosts[lane] + offset, value_of<T, E>(row, lane));
  } else {
    for (u32 m = w.mask; m != 0; m &= m - 1) {
      const unsigned lane = (unsigned)__builtin_ctz(m);
      write_host<T>(hosts[lane] + offset, value_of<T, E>(row, lane));
    }
  }
}

// Active lanes of a row, side by side in memory; the others are not touched (another SM may be writing
// there).
template <class E>
SIMTLAB_INLINE void masked_row(const WarpCtx& w, const std::byte* row, u64 to) {
#if defined(__AVX512F__)
  if constexpr (sizeof(E) == 4) {
    for (unsigned i = 0; i < warp_lanes; i += 16) {
      _mm512_mask_storeu_epi32(reinterpret_cast<void*>(to + i * 4), (__mmask16)(w.mask >> i),
                               _mm512_load_si512(row + i * 4));
    }
  } else {
    for (unsigned i = 0; i < warp_lanes; i += 8) {
      _mm512_mask_storeu_epi64(reinterpret_cast<void*>(to + i * 8), (__mmask8)(w.mask >> i),
                               _mm512_load_si512(row + i * 8));
    }
  }
#elif defined(__AVX2__)
  if constexpr (sizeof(E) == 4) {
    for (unsigned i = 0; i < warp_lanes; i += 8) {
      _mm256_maskstore_epi32(reinterpret_cast<int*>(to + i * 4), (__m256i)lane_mask<Vec<u32, 8> >(w, i),
                             (__m256i)load<Vec<u32, 8> >(row, i));
    }
  } else {
    for (unsigned i = 0; i < warp_lanes; i += 4) {
      _mm256_maskstore_epi64(reinterpret_cast<long long*>(to + i * 8), (__m256i)lane_mask<Vec<u64, 4> >(w, i),
                             (__m256i)load<Vec<u64, 4> >(row, i));
    }
  }
#else
  for (u32 m = w.mask; m != 0; m &= m - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(m);
    write_host<E>(to + lane * sizeof(E), value_of<E, E>(row, lane));
  }
#endif
}

template <class T, class E>
[[gnu::noinline]] void write_rows(WarpCtx& w, const Access& access, const std::byte* row) {
  if (access.pattern == Pattern::uniform) {
    write_host<T>(access.first, value_of<T, E>(row, 31u - (unsigned)__builtin_clz(w.mask)));
    return;
  }
  if (access.pattern == Pattern::contiguous) {
    if constexpr (sizeof(T) == sizeof(E)) {
      using V = Vec<E, vector_bytes / sizeof(E)>;
      if (w.mask == all_lanes) {
#pragma GCC unroll 4
        for (unsigned i = 0; i < warp_lanes; i += lanes_of<V>)
          write_host<V>(access.first + i * sizeof(E), load<V>(row, i));
      } else {
        masked_row<E>(w, row, access.first);
      }
      return;
    } else if (w.mask == all_lanes) {
      T values[warp_lanes];
      for (unsigned lane = 0; lane < warp_lanes; ++lane) values[lane] = value_of<T, E>(row, lane);
      __builtin_memcpy(reinterpret_cast<void*>(access.first), values, sizeof values);
      return;
    }
  }
  scatter<T, E>(w, row, hosts_of(w, access), 0);
}

template <Where where, Width width, class T, class E>
void store_one(WarpCtx& w, const XInst& x) {
  Access access = prepare<where, width, true>(w, x, sizeof(T));
  if constexpr (where == Where::global || where == Where::generic) use_own_lines<true>(w, access, sizeof(T));
  write_rows<T, E>(w, access, w.row(x.src[1]));
}

// Two words a lane, lanes side by side.
SIMTLAB_INLINE void write_pairs(const WarpCtx& w, const RowRef* rows, u64 to) {
  const std::byte *const low = w.row(rows[0]), *const high = w.row(rows[1]);
  alignas(64) u64 values[warp_lanes];
  auto* const row = reinterpret_cast<std::byte*>(values);
  const bool all = w.mask == all_lanes;
#pragma GCC unroll 2
  for (unsigned i = 0; i < warp_lanes; i += pair_lanes) {
    const Halves both = side_by_side(load<Words>(low, i), load<Words>(high, i));
    if (all) {
      write_host(to + i * 8, both.first);
      write_host(to + i * 8 + sizeof both.first, both.second);
    } else {
      store(row, i, both.first);
      store(row, i + pair_lanes / 2, both.second);
    }
  }
  if (!all) masked_row<u64>(w, row, to);
}

template <class T, class E>
[[gnu::noinline]] void write_vector(WarpCtx& w, const XInst& x, const Access& access, unsigned count) {
  const RowRef* rows = w.list(x);
  if (access.pattern == Pattern::uniform) {
    const unsigned last = 31u - (unsigned)__builtin_clz(w.mask);
    for (unsigned e = 0; e < count; ++e)
      write_host<T>(access.first + e * sizeof(T), value_of<T, E>(w.row(rows[e]), last));
    return;
  }
  if (sizeof(T) == 4 && sizeof(E) == 4 && count == 2 && access.pattern == Pattern::contiguous)
    return write_pairs(w, rows, access.first);
  const u64* hosts = hosts_of(w, access);
  // Lane by lane would be the order of the hardware; element by element gives the same bytes unless lanes
  // overlap in part, which alignment forbids.
  for (unsigned e = 0; e < count; ++e) scatter<T, E>(w, w.row(rows[e]), hosts, e * sizeof(T));
}

template <Where where, Width width, class T, class E>
void store_vector(WarpCtx& w, const XInst& x) {
  const unsigned count = elements(*x.inst, x.inst->type == ptx::Type::b128 ? 16 : (unsigned)sizeof(T));
  Access access = prepare<where, width, true>(w, x, (unsigned)sizeof(T) * count);
  if constexpr (where == Where::global || where == Where::generic)
    use_own_lines<true>(w, access, (unsigned)sizeof(T) * count);
  write_vector<T, E>(w, x, access, count);
}

template <Width width>
void store_unlocked(WarpCtx& w, const XInst& x) {
  const unsigned count = x.inst->mods.vector;
  const Access access = prepare<Where::shared, width, true>(w, x, 4 * count);
  const u64* hosts = hosts_of(w, access);
  const u32* const rows[2] = {w.row32(x.src[1]), w.row32(x.src[2])};
  for (u32 m = w.mask; m != 0; m &= m - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(m);
    for (unsigned k = 0; k < count; ++k) write_host<u32>(hosts[lane] + 4 * k, rows[k][lane]);
    if (has_lock(w, hosts[lane])) lock_word(w, hosts[lane]) &= ~lock_bit(w, hosts[lane]);
  }
}

Handler pick_unlocked(const ptx::Inst& inst) {
  if (where_of(inst) != Where::shared || inst.mods.vector > 2 || ptx::size_of(inst.type) != 4) return nullptr;
  switch (width_of(inst)) {
    case Width::narrow: return store_unlocked<Width::narrow>;
    case Width::wide: return store_unlocked<Width::wide>;
    case Width::halves: return nullptr;
  }
  return nullptr;
}

template <Where where, class T, class E>
Handler pick_width(const ptx::Inst& inst) {
  const bool vector = inst.mods.vector > 1 || inst.type == ptx::Type::b128;
  switch (width_of(inst)) {
    case Width::narrow:
      return vector ? store_vector<where, Width::narrow, T, E> : store_one<where, Width::narrow, T, E>;
    case Width::wide:
      return vector ? store_vector<where, Width::wide, T, E> : store_one<where, Width::wide, T, E>;
    case Width::halves:
      // Machine code, whose registers have 32 bits
      if constexpr ((where == Where::global || where == Where::generic) && sizeof(T) <= 4 && sizeof(E) == 4)
        return vector ? store_vector<where, Width::halves, T, E> : store_one<where, Width::halves, T, E>;
      break;
  }
  return nullptr;
}

template <class T, class E>
Handler pick(const ptx::Inst& inst) {
  switch (where_of(inst)) {
    case Where::global: return pick_width<Where::global, T, E>(inst);
    case Where::shared: return pick_width<Where::shared, T, E>(inst);
    case Where::param: return nullptr;
    case Where::local: return pick_width<Where::local, T, E>(inst);
    case Where::frame: return pick_width<Where::frame, T, E>(inst);
    case Where::generic: return pick_width<Where::generic, T, E>(inst);
  }
  return nullptr;
}

}  // namespace

Handler select_store(const ptx::Inst& inst) {
  if (inst.src_count < 2) return nullptr;
  if ((inst.mods.video & ptx::gives_lock) != 0) return pick_unlocked(inst);
  unsigned bytes = 0;
  for (unsigned i = 1; i < inst.src_count; ++i) {
    if (inst.src[i].bytes > bytes) bytes = inst.src[i].bytes;
  }
  switch (ptx::size_of(inst.type)) {
    case 1: return bytes == 8 ? pick<u8, u64>(inst) : pick<u8, u32>(inst);
    case 2: return bytes == 8 ? pick<u16, u64>(inst) : pick<u16, u32>(inst);
    case 4: return bytes == 8 ? pick<u32, u64>(inst) : pick<u32, u32>(inst);
    case 8:
    case 16: return pick<u64, u64>(inst);
    default: return nullptr;
  }
}

}  // namespace simtlab::exec::SIMTLAB_ISA
