// Addresses of a warp's memory instruction: computed, resolved into a space, checked against bounds, and
// classified, so that the common patterns (all lanes at one address, lanes side by side) move data with
// vector instructions.
//
// Inactive lanes are given the leader's address (the lowest active lane): later stages need no mask to read.
#pragma once

#include "exec/arith/pairs.h"
#include "exec/memops/view.h"
#include "ptx/module.h"

namespace simtlab::exec::SIMTLAB_ISA {

enum class Where : u8 { global, shared, param, local, frame, generic };
// The spaces that handlers are specialised for. constant is global: constants have global addresses.
Where where_of(const ptx::Inst& inst);
bool wide_address(const ptx::Operand& address);
// What the rows of an address hold: 32 bits, 64 bits, or the halves of 64 bits in two rows side by side.
enum class Width : u8 { narrow, wide, halves };
Width width_of(const ptx::Inst& inst);  // of the first operand

enum class Pattern : u8 { uniform, contiguous, scatter };

struct Access {
  u64 first;  // host address: uniform: of the access; contiguous: of lane 0, if it were active
  u64 delta;  // host address of a lane = address + delta + lane * stride
  u64 stride;
  Pattern pattern;
  bool whole;        // contiguous, and all 32 lanes would be inside the bounds
  bool hosts_ready;  // MemoryView::hosts is filled: lanes in different spaces
};

using AddressVec = Vec<u64, vector_bytes / 8>;
inline constexpr unsigned address_lanes = vector_bytes / 8;

alignas(64) inline constexpr u64 iota[warp_lanes] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                     11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                                     22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

SIMTLAB_INLINE AddressVec load_iota(unsigned lane) {
  return load<AddressVec>(reinterpret_cast<const std::byte*>(iota), lane);
}
SIMTLAB_INLINE AddressVec load_lanes(const u64* row, unsigned lane) {
  return load<AddressVec>(reinterpret_cast<const std::byte*>(row), lane);
}
SIMTLAB_INLINE void store_lanes(u64* row, unsigned lane, AddressVec v) {
  store<AddressVec>(reinterpret_cast<std::byte*>(row), lane, v);
}

// Is a bit of a vector of integers set?
template <class V>
SIMTLAB_INLINE bool any_bit(V v) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) return _mm512_test_epi32_mask((__m512i)v, (__m512i)v) != 0;
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) return _mm256_testz_si256((__m256i)v, (__m256i)v) == 0;
#endif
  return pack_bits((AsS<V>)(v != V{})) != 0;
}

// Address registers of 64 bits, plus an offset.
struct WideRow {
  const std::byte* row;
  u64 offset;
  SIMTLAB_INLINE u64 one(unsigned lane) const { return get<u64>(row, lane) + offset; }
  SIMTLAB_INLINE AddressVec many(unsigned lane) const {
    return load<AddressVec>(row, lane) + splat<AddressVec>(offset);
  }
};
// Of 32 bits: the sum wraps at 32 bits. frame is added afterwards.
struct NarrowRow {
  const std::byte* row;
  u32 offset;
  SIMTLAB_INLINE u64 one(unsigned lane) const { return get<u32>(row, lane) + offset; }
  SIMTLAB_INLINE AddressVec many(unsigned lane) const {
    using Narrow = Vec<u32, address_lanes>;
    Narrow v;
    __builtin_memcpy(&v, row + lane * sizeof(u32), sizeof v);
    return __builtin_convertvector(v + splat<Narrow>(offset), AddressVec);
  }
};

// Of 64 bits in two rows.
struct HalvesRow {
  const std::byte* row;
  u64 offset;
  SIMTLAB_INLINE u64 one(unsigned lane) const {
    return (get<u32>(row, lane) | (u64)get<u32>(row + word_row, lane) << 32) + offset;
  }
};

template <Width width>
struct RowOf {
  using type = WideRow;
};
template <>
struct RowOf<Width::narrow> {
  using type = NarrowRow;
};
template <>
struct RowOf<Width::halves> {
  using type = HalvesRow;
};

struct Shape {
  u64 leader_address;
  unsigned leader;
  bool uniform, contiguous, aligned;
};

SIMTLAB_INLINE bool all_aligned(const u64* addresses, unsigned bytes) {
  AddressVec low{};
  for (unsigned i = 0; i < warp_lanes; i += address_lanes) low |= load_lanes(addresses, i);
  return !any_bit(low & splat<AddressVec>(bytes - 1));
}
// Where lanes lie side by side, or at one address, the leader says it.
SIMTLAB_INLINE bool is_aligned(const Shape& shape, const u64* addresses, unsigned bytes) {
  if (bytes == 1) return true;
  if (shape.uniform || shape.contiguous) return (shape.leader_address & (bytes - 1)) == 0;
  return all_aligned(addresses, bytes);
}

// Writes the addresses to out and finds out how they lie. bytes is a power of two.
template <class Source>
SIMTLAB_INLINE Shape classify(const WarpCtx& w, const Source& source, unsigned bytes, u64* out) {
  Shape shape;
  shape.leader = (unsigned)__builtin_ctz(w.mask);
  shape.leader_address = source.one(shape.leader);
  const int shift = __builtin_ctz(bytes);
  const AddressVec leader = splat<AddressVec>(shape.leader_address);
  const AddressVec lane0 = splat<AddressVec>(shape.leader_address - ((u64)shape.leader << shift));
  AddressVec differs{}, strays{};
  if (w.mask == all_lanes) {
#pragma GCC unroll 4
    for (unsigned i = 0; i < warp_lanes; i += address_lanes) {
      const AddressVec a = source.many(i);
      store_lanes(out, i, a);
      differs |= a ^ leader;
      strays |= a ^ (lane0 + (load_iota(i) << shift));
    }
  } else {
#pragma GCC unroll 4
    for (unsigned i = 0; i < warp_lanes; i += address_lanes) {
      const AddressVec m = (AddressVec)lane_mask<AddressVec>(w, i);
      const AddressVec a = blend(m, source.many(i), leader);
      store_lanes(out, i, a);
      differs |= a ^ leader;
      strays |= (a ^ (lane0 + (load_iota(i) << shift))) & m;
    }
  }
  shape.uniform = !any_bit(differs);
  shape.contiguous = !any_bit(strays);
  shape.aligned = is_aligned(shape, out, bytes);
  return shape;
}

alignas(64) inline constexpr u32 word_iota[warp_lanes] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                          11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                                          22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

// The same for halves, which are compared as words: half of the vectors. Lanes side by side that part at a
// multiple of 4 GiB count as scattered.
SIMTLAB_INLINE Shape classify(const WarpCtx& w, const HalvesRow& source, unsigned bytes, u64* out) {
  Shape shape;
  shape.leader = (unsigned)__builtin_ctz(w.mask);
  shape.leader_address = source.one(shape.leader);
  const int shift = __builtin_ctz(bytes);
  const std::byte* const high_row = source.row + word_row;
  const u32 leader_low = get<u32>(source.row, shape.leader);
  const u64 behind = (u64)shape.leader << shift;
  const Words low0 = splat<Words>(leader_low), high0 = splat<Words>(get<u32>(high_row, shape.leader)),
              lane0 = splat<Words>(leader_low - (u32)behind);
  const AddressVec offset = splat<AddressVec>(source.offset);
  Words differs{}, strays{}, parts{};
  const bool all = w.mask == all_lanes;
#pragma GCC unroll 2
  for (unsigned i = 0; i < warp_lanes; i += pair_lanes) {
    Words l = load<Words>(source.row, i), h = load<Words>(high_row, i);
    Words stray = l ^ (lane0 + (load<Words>(reinterpret_cast<const std::byte*>(word_iota), i) << shift));
    if (!all) {
      const auto m = (Words)lane_mask<Words>(w, i);
      l = blend(m, l, low0);
      h = blend(m, h, high0);
      stray &= m;
    }
    const Halves both = side_by_side(l, h);
    store_lanes(out, i, both.first + offset);
    store_lanes(out, i + address_lanes, both.second + offset);
    differs |= l ^ low0;
    parts |= h ^ high0;
    strays |= stray;
  }
  shape.uniform = !any_bit(differs | parts);
  const u64 first = leader_low - behind, last = first + ((u64)(warp_lanes - 1) << shift);
  shape.contiguous = !any_bit(strays | parts) && last >> 32 == 0;
  shape.aligned = is_aligned(shape, out, bytes);
  return shape;
}

// All lanes inside [low, high)?
SIMTLAB_INLINE bool all_inside(const u64* addresses, Bounds bounds, unsigned bytes) {
  using Signed = AsS<AddressVec>;
  if (bounds.high < bytes) return false;
  const Signed low = (Signed)splat<AddressVec>(bounds.low),
               last = (Signed)splat<AddressVec>(bounds.high - bytes);
  Signed outside{};
  for (unsigned i = 0; i < warp_lanes; i += address_lanes) {
    const Signed a = (Signed)load_lanes(addresses, i);
    outside |= (Signed)(a < low) | (Signed)(a > last);
  }
  return pack_bits(outside) == 0;
}

// The check for all lanes at once; false also when a lane-by-lane look might find no fault.
SIMTLAB_INLINE bool inside(const WarpCtx& w, const Shape& shape, Bounds bounds, unsigned bytes) {
  if (shape.uniform) {
    return shape.leader_address >= bounds.low && shape.leader_address < bounds.high &&
           bounds.high - shape.leader_address >= bytes;
  }
  if (shape.contiguous) {
    const u64 span = (u64)(warp_lanes - (unsigned)__builtin_clz(w.mask) - shape.leader) * bytes;
    return shape.leader_address >= bounds.low && shape.leader_address < bounds.high &&
           bounds.high - shape.leader_address >= span;
  }
  return all_inside(w.addresses, bounds, bytes);
}

// Lane by lane: throws the fault of the first lane that has one, unless it may go on (outside_access()).
// True: lanes got other addresses. Refreshes the cached bounds for global accesses.
bool check_lanes(WarpCtx& w, const XInst& x, Bounds bounds, unsigned bytes, bool writes);
// Resolves generic addresses whose lanes lie in a window or in several; fills hosts when they differ.
bool resolve_windows(WarpCtx& w, const XInst& x, unsigned bytes, bool writes);

// Bounds of a space; hosts of its lanes.
struct Region {
  Bounds bounds;
  u64 delta, stride;
};
SIMTLAB_INLINE Region region_of(const WarpCtx& w, const XInst& x, ptx::Space space, bool writes) {
  MemoryView& m = *w.memory;
  switch (space) {
    case ptx::Space::shared:
      return {{m.shared_first, m.shared_first + m.shared_bytes}, (u64)m.shared - m.shared_first, 0};
    case ptx::Space::param: return {{0, m.param_bytes}, (u64)m.param, 0};
    case ptx::Space::local: return {{0, m.local_bytes}, (u64)w.local, m.local_stride};
    default: return {m.bounds(x, writes), m.global_delta, 0};
  }
}

// Classified addresses of one space to an Access; throws Fault if a lane may not do it.
SIMTLAB_INLINE Access admit(WarpCtx& w, const XInst& x, const Shape& shape, unsigned bytes, bool writes) {
  const Region region = region_of(w, x, w.space, writes);
  bool moved = false;
  if (!shape.aligned || !inside(w, shape, region.bounds, bytes)) [[unlikely]] {
    moved = check_lanes(w, x, region.bounds, bytes, writes);
  }
  Access access{};
  access.delta = region.delta;
  access.stride = region.stride;
  access.pattern = Pattern::scatter;
  if (region.stride != 0 || moved) return access;
  if (shape.uniform) {
    access.pattern = Pattern::uniform;
    access.first = shape.leader_address + region.delta;
  } else if (shape.contiguous) {
    access.pattern = Pattern::contiguous;
    const u64 lane0 = shape.leader_address - (u64)shape.leader * bytes;
    access.first = lane0 + region.delta;
    const Bounds now = w.mask == all_lanes ? Bounds{} : region_of(w, x, w.space, writes).bounds;
    access.whole = w.mask == all_lanes ||
                   (lane0 >= now.low && lane0 < now.high && now.high - lane0 >= (u64)warp_lanes * bytes);
  }
  return access;
}

// The whole preparation of a memory instruction. Not inlined: one copy a space, address width and direction.
template <Where where, Width width, bool writes>
[[gnu::noinline]] Access prepare(WarpCtx& w, const XInst& x, unsigned bytes) {
  using Source = typename RowOf<width>::type;
  const std::byte* row = w.row(x.src[0]);
  if constexpr (where == Where::frame) {
    const Source source{row, static_cast<decltype(Source::offset)>((u64)x.imm + w.frame_offset)};
    w.space = ptx::Space::local;
    return admit(w, x, classify(w, source, bytes, w.addresses), bytes, writes);
  }
  const Source source{row, static_cast<decltype(Source::offset)>((u64)x.imm)};
  const Shape shape = classify(w, source, bytes, w.addresses);
  if constexpr (where == Where::generic) {
    const AddressVec windows = splat<AddressVec>(ptx::shared_window >> 32);
    AddressVec inside_window{};
    for (unsigned i = 0; i < warp_lanes; i += address_lanes) {
      inside_window |= (AddressVec)(((load_lanes(w.addresses, i) >> 32) - windows) < splat<AddressVec>(3));
    }
    w.space = ptx::Space::global;
    if (any_bit(inside_window)) [[unlikely]] {
      if (!resolve_windows(w, x, bytes, writes)) {
        Access mixed{};
        mixed.pattern = Pattern::scatter;
        mixed.hosts_ready = true;
        return mixed;
      }
      const WideRow resolved{reinterpret_cast<const std::byte*>(w.addresses), 0};
      return admit(w, x, classify(w, resolved, bytes, w.addresses), bytes, writes);
    }
  } else {
    w.space = where == Where::shared  ? ptx::Space::shared
              : where == Where::param ? ptx::Space::param
              : where == Where::local ? ptx::Space::local
                                      : x.inst->mods.space;
  }
  return admit(w, x, shape, bytes, writes);
}
// The same, chosen when it runs: for handlers whose own work outweighs the choice.
Access prepare_any(WarpCtx& w, const XInst& x, unsigned bytes, bool writes);

// Turns an access to global memory to the lines that the SM has to itself.
template <bool writes>
SIMTLAB_INLINE void use_own_lines(WarpCtx& w, Access& access, unsigned bytes) {
  if (w.memory->buffer == nullptr) [[likely]]
    return;
  if (w.space != ptx::Space::global && w.space != ptx::Space::generic) return;
  u64 delta = 0;
  const bool ordered = access.pattern != Pattern::scatter;
  switch (writes ? own_lines_to_write(w, bytes, ordered, delta) : own_lines_to_read(w, ordered, delta)) {
    case OwnLines::none: return;
    case OwnLines::one: {
      const u64 first = access.first - access.delta;
      access.whole = access.whole && first / 128 == (first + warp_lanes * bytes - 1) / 128;
      access.first = first + delta;
      access.delta = delta;
      return;
    }
    case OwnLines::many:
      access.pattern = Pattern::scatter;
      access.hosts_ready = true;
      return;
  }
}

// Host addresses of the lanes; those of inactive lanes may be read, too.
SIMTLAB_INLINE const u64* hosts_of(WarpCtx& w, const Access& access) {
  u64* hosts = w.memory->hosts;
  if (access.hosts_ready) return hosts;
  if (access.stride != 0) {
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      hosts[lane] = w.addresses[lane] + access.delta + lane * access.stride;
    return hosts;
  }
  if (access.delta == 0) return w.addresses;
  for (unsigned i = 0; i < warp_lanes; i += address_lanes) {
    store_lanes(hosts, i, load_lanes(w.addresses, i) + splat<AddressVec>(access.delta));
  }
  return hosts;
}

template <class T>
SIMTLAB_INLINE T read_host(u64 address) {
  T value;
  __builtin_memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}
template <class T>
SIMTLAB_INLINE void write_host(u64 address, T value) {
  __builtin_memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}

}  // namespace simtlab::exec::SIMTLAB_ISA
