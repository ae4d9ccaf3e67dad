// atom and red: read-modify-write lane by lane in lane order, so that every result is exact and repeatable.
// Order between warps is the order in which they're stepped, or that of StoreBuffer::commit() where there is
// one: only then may blocks of one memory be stepped by several host threads at once.
#include "exec/arith/half.h"
#include "exec/memops/ops.h"
#include "ptx/machine_ops.h"

namespace simtlab::exec::SIMTLAB_ISA {
namespace {

template <class To, class From>
SIMTLAB_INLINE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

struct Add {
  template <class T>
  SIMTLAB_INLINE static T apply(T old, T b, T) {
    return (T)(old + b);
  }
};
struct Min {
  template <class T>
  SIMTLAB_INLINE static T apply(T old, T b, T) {
    return b < old ? b : old;
  }
};
struct Max {
  template <class T>
  SIMTLAB_INLINE static T apply(T old, T b, T) {
    return b > old ? b : old;
  }
};
struct Inc {
  template <class T>
  SIMTLAB_INLINE static T apply(T old, T b, T) {
    return old >= b ? T{0} : (T)(old + 1);
  }
};
struct Dec {
  template <class T>
  SIMTLAB_INLINE static T apply(T old, T b, T) {
    return old == 0 || old > b ? b : (T)(old - 1);
  }
};
struct And {
  template <class T>
  SIMTLAB_INLINE static T apply(T old, T b, T) {
    return old & b;
  }
};
struct Or {
  template <class T>
  SIMTLAB_INLINE static T apply(T old, T b, T) {
    return old | b;
  }
};
struct Xor {
  template <class T>
  SIMTLAB_INLINE static T apply(T old, T b, T) {
    return old ^ b;
  }
};
struct Exch {
  template <class T>
  SIMTLAB_INLINE static T apply(T, T b, T) {
    return b;
  }
};
struct Cas {
  template <class T>
  SIMTLAB_INLINE static T apply(T old, T b, T c) {
    return old == b ? c : old;
  }
};

// A thread arrives at a barrier in shared memory, whose state machine code keeps in 64 bits. Of sm_80: low
// word 2^30 - expected, high word 2^31 - pending below the bit of the phase. An arrival adds one to the high
// word; the last one carries into the phase, and the next phase awaits those expected.
struct ArriveAmpere {
  SIMTLAB_INLINE static u64 apply(u64 old, u64, u64) {
    const u32 expected = 0x40000000u - (u32)old, next = (u32)(old >> 32) + 1;
    const bool last = (next & 0x7fffffffu) == 0;
    const u32 state = last ? (next & 0x80000000u) | ((0u - expected) & 0x7fffffffu) : next;
    return (old & 0xffffffffu) | (u64)state << 32;
  }
};
// Of sm_90: bits 1 to 20 are 2^20 - expected, bits 43 to 62 are 2^20 - pending, bit 63 is the phase.
template <bool drops>
struct ArriveHopper {
  SIMTLAB_INLINE static u64 apply(u64 old, u64, u64) {
    const u64 field = 0xfffffu, one = (u64)1 << 43;
    if (drops) old = (old & ~(field << 1)) | ((((old >> 1) + 1) & field) << 1);  // no longer expected
    const u64 next = old + one;
    if ((next >> 43 & field) != 0) return next;
    return next | (old >> 1 & field) << 43;
  }
};

// Of PTX (ptx/machine_ops.h): any number of arrivals, and bytes under way in bits 21 to 42. A phase ends when
// neither is left.
struct ArriveCounted {
  SIMTLAB_INLINE static u64 apply(u64 old, u64 b, u64) {
    const u64 field = 0xfffffu, many = b & field;
    const unsigned bytes_at = 21, pending_at = 43, bytes_width = 22;
    u64 expected = old >> 1 & field, pending = old >> pending_at & field, phase = old >> 63;
    if ((b & ptx::arrival_drops) != 0) expected = (expected + many) & field;
    pending = (pending + many) & field;
    const u64 all_bytes = ((u64)1 << bytes_width) - 1;
    const u64 bytes = ((old >> bytes_at) + (b >> ptx::arrival_bytes_at)) & all_bytes;
    if (pending == 0 && bytes == 0) {
      pending = expected;
      phase ^= 1;
    }
    return (old & 1) | expected << 1 | bytes << bytes_at | pending << pending_at | phase << 63;
  }
};

SIMTLAB_INLINE float flush(float value) {
  const u32 bits = bits_as<u32>(value);
  return (bits & 0x7f800000u) == 0 ? bits_as<float>(bits & 0x80000000u) : value;
}
// On global memory the hardware flushes subnormals; on shared memory it does not.
struct AddF32Flush {
  SIMTLAB_INLINE static u32 apply(u32 old, u32 b, u32) {
    return bits_as<u32>(flush(flush(bits_as<float>(old)) + flush(bits_as<float>(b))));
  }
};
struct AddF32 {
  SIMTLAB_INLINE static u32 apply(u32 old, u32 b, u32) {
    return bits_as<u32>(bits_as<float>(old) + bits_as<float>(b));
  }
};
struct AddF64 {
  SIMTLAB_INLINE static u64 apply(u64 old, u64 b, u64) {
    return bits_as<u64>(bits_as<double>(old) + bits_as<double>(b));
  }
};
// float to f16 and bf16, to nearest even. NaNs become the canonical ones.
SIMTLAB_INLINE u16 narrow_bf16(float value) {
  const u32 bits = bits_as<u32>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return (u16)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}
SIMTLAB_INLINE u16 narrow_f16(float value) {
  const u32 bits = bits_as<u32>(value), magnitude = bits & 0x7fffffffu;
  const u16 sign = (u16)(bits >> 16 & 0x8000u);
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x477ff000u) return (u16)(sign | 0x7c00u);  // rounds beyond 65504
  if (magnitude < 0x38800000u) {  // subnormal: adding 0.5 aligns and rounds the significand
    const u32 aligned = bits_as<u32>(bits_as<float>(magnitude) + 0.5f);
    return (u16)(sign | (aligned & 0x7ffu));
  }
  const u32 rebiased = magnitude - (112u << 23);
  return (u16)(sign | (rebiased + 0xfffu + (rebiased >> 13 & 1)) >> 13);
}
// Sums of 16-bit floats are rounded once: binary32 holds enough bits that rounding twice is innocuous.
using HalfVec = Vec<u32, 4>;
template <bool brain>
SIMTLAB_INLINE u16 add_half(u16 a, u16 b) {
  const HalfVec x = splat<HalfVec>(a), y = splat<HalfVec>(b);
  if constexpr (brain) return narrow_bf16((widen_bf16(x) + widen_bf16(y))[0]);
  return narrow_f16((widen_f16(x) + widen_f16(y))[0]);
}
template <bool brain>
struct AddHalf {
  SIMTLAB_INLINE static u16 apply(u16 old, u16 b, u16) { return add_half<brain>(old, b); }
};
template <bool brain>
struct AddHalfPair {
  SIMTLAB_INLINE static u32 apply(u32 old, u32 b, u32) {
    return (u32)add_half<brain>((u16)old, (u16)b) | (u32)add_half<brain>((u16)(old >> 16), (u16)(b >> 16))
                                                        << 16;
  }
};

// Two words in one: what `Word` does in each.
template <class Word>
struct InEachWord {
  SIMTLAB_INLINE static u64 apply(u64 old, u64 b, u64) {
    return Word::apply((u32)old, (u32)b, 0) | (u64)Word::apply((u32)(old >> 32), (u32)(b >> 32), 0) << 32;
  }
};

// T: what memory holds. Row elements are 32 or 64 bits wide.
SIMTLAB_INLINE u32 lanes_to_do(WarpCtx& w, const XInst& x, unsigned operand_bytes) {
  return w.memory->buffer == nullptr ? w.mask : defer_atomic(w, x, operand_bytes);
}

// The result of a lane. Machine code has 64 bits in two registers.
template <class E>
SIMTLAB_INLINE void put_result(WarpCtx& w, const XInst& x, unsigned lane, E value) {
  if constexpr (sizeof(E) == 8) {
    if (x.inst->dst_count == 2) {
      w.row32(x.dst)[lane] = (u32)value;
      w.row32(x.dst2)[lane] = (u32)(value >> 32);
      return;
    }
  }
  reinterpret_cast<E*>(w.row(x.dst))[lane] = value;
}

template <class Op, class T>
void atomic(WarpCtx& w, const XInst& x) {
  using E = RowElem<T>;
  const Access access = prepare_any(w, x, sizeof(T), true);
  const u64* hosts = hosts_of(w, access);
  const std::byte* b = w.row(x.src[1]);
  const std::byte* c = x.inst->src_count > 2 ? w.row(x.src[2]) : b;
  for (u32 m = lanes_to_do(w, x, sizeof(E)); m != 0; m &= m - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(m);
    const T old = read_host<T>(hosts[lane]);
    write_host<T>(hosts[lane], Op::apply(old, get<T>(b, lane), get<T>(c, lane)));
    put_result<E>(w, x, lane, row_bits<T>(old));
  }
  if (w.memory->outside != nullptr) [[unlikely]]
    forget_outside(*w.memory);
}

template <class Op>
u64 applied(u64 state, u64 b) {
  return Op::apply(state, b, 0);
}

// An arrival behind copies.
template <class Op>
void arrive_late(WarpCtx& w, const XInst& x) {
  if (w.memory->late == nullptr) return atomic<Op, u64>(w, x);
  const Access access = prepare_any(w, x, 8, true);
  const u64* hosts = hosts_of(w, access);
  const u64* b = w.row64(x.src[1]);
  next_late_arrivals(w);
  for (u32 m = w.mask; m != 0; m &= m - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(m);
    keep_late_arrival(w, hosts[lane], applied<Op>, b[lane]);
  }
}

template <class Op>
Handler arrival(const ptx::Inst& inst) {
  return inst.mods.behind_copies ? arrive_late<Op> : atomic<Op, u64>;
}

void add_f32(WarpCtx& w, const XInst& x) {
  // The space of a generic address is known once the addresses are; prepare them twice rather than twice the
  // code.
  if (x.inst->mods.space == ptx::Space::generic) prepare_any(w, x, 4, true);
  const ptx::Space space = x.inst->mods.space == ptx::Space::generic ? w.space : x.inst->mods.space;
  return space == ptx::Space::shared ? atomic<AddF32, u32>(w, x) : atomic<AddF32Flush, u32>(w, x);
}

// exch and cas on 128 bits; operands are pairs of 64-bit rows. The result is one, too, or four registers.
template <bool cas>
void atomic128(WarpCtx& w, const XInst& x) {
  const Access access = prepare_any(w, x, 16, true);
  const u64* hosts = hosts_of(w, access);
  const u64* b = w.row64(x.src[1]);
  const u64* c = cas ? w.row64(x.src[2]) : b;
  u64* out = w.row64(x.dst);
  for (u32 m = lanes_to_do(w, x, 16); m != 0; m &= m - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(m);
    const u64 low = read_host<u64>(hosts[lane]), high = read_host<u64>(hosts[lane] + 8);
    if (!cas || (low == b[lane] && high == b[warp_lanes + lane])) {
      write_host<u64>(hosts[lane], c[lane]);
      write_host<u64>(hosts[lane] + 8, c[warp_lanes + lane]);
    }
    if (x.inst->dst_count == 4) {
      const u32 parts[] = {(u32)low, (u32)(low >> 32), (u32)high, (u32)(high >> 32)};
      for (unsigned i = 0; i < 4; ++i) w.row32(w.list(x)[i])[lane] = parts[i];
      continue;
    }
    out[lane] = low;
    out[warp_lanes + lane] = high;
  }
  if (w.memory->outside != nullptr) [[unlikely]]
    forget_outside(*w.memory);
}

// A sum of each of the floats in 128 bits; operands and result as in atomic128().
template <class Half>
void add128(WarpCtx& w, const XInst& x) {
  const Access access = prepare_any(w, x, 16, true);
  const u64* hosts = hosts_of(w, access);
  const u64* b = w.row64(x.src[1]);
  for (u32 m = lanes_to_do(w, x, 16); m != 0; m &= m - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(m);
    const u64 low = read_host<u64>(hosts[lane]), high = read_host<u64>(hosts[lane] + 8);
    write_host<u64>(hosts[lane], Half::apply(low, b[lane], 0));
    write_host<u64>(hosts[lane] + 8, Half::apply(high, b[warp_lanes + lane], 0));
    if (x.inst->dst_count != 4) continue;
    const u32 parts[] = {(u32)low, (u32)(low >> 32), (u32)high, (u32)(high >> 32)};
    for (unsigned i = 0; i < 4; ++i) w.row32(w.list(x)[i])[lane] = parts[i];
  }
  if (w.memory->outside != nullptr) [[unlikely]]
    forget_outside(*w.memory);
}

template <class Word>
Handler pick_vector_of(ptx::Type type) {
  return type == ptx::Type::b64    ? atomic<InEachWord<Word>, u64>
         : type == ptx::Type::b128 ? add128<InEachWord<Word>>
                                   : nullptr;
}
Handler pick_vector(const ptx::Inst& inst) {
  switch (inst.mods.video) {
    case ptx::adds_f32: return pick_vector_of<AddF32Flush>(inst.type);
    case ptx::adds_f16: return pick_vector_of<AddHalfPair<false>>(inst.type);
    case ptx::adds_bf16: return pick_vector_of<AddHalfPair<true>>(inst.type);
    default: return nullptr;
  }
}

Handler pick_add(ptx::Type type) {
  switch (type) {
    case ptx::Type::u32:
    case ptx::Type::s32: return atomic<Add, u32>;
    case ptx::Type::u64:
    case ptx::Type::s64: return atomic<Add, u64>;
    case ptx::Type::f32: return add_f32;
    case ptx::Type::f64: return atomic<AddF64, u64>;
    case ptx::Type::f16: return atomic<AddHalf<false>, u16>;
    case ptx::Type::bf16: return atomic<AddHalf<true>, u16>;
    case ptx::Type::f16x2: return atomic<AddHalfPair<false>, u32>;
    case ptx::Type::bf16x2: return atomic<AddHalfPair<true>, u32>;
    default: return nullptr;
  }
}
template <class Op>
Handler pick_ordered(ptx::Type type) {
  switch (type) {
    case ptx::Type::u32: return atomic<Op, u32>;
    case ptx::Type::s32: return atomic<Op, s32>;
    case ptx::Type::u64: return atomic<Op, u64>;
    case ptx::Type::s64: return atomic<Op, s64>;
    default: return nullptr;
  }
}
// Operations on bits: the size alone matters.
template <class Op>
Handler pick_bits(ptx::Type type) {
  switch (ptx::size_of(type)) {
    case 2: return atomic<Op, u16>;
    case 4: return atomic<Op, u32>;
    case 8: return atomic<Op, u64>;
    default: return nullptr;
  }
}

// Mods::video says whose barrier it is (ptx/machine_ops.h). PTX has no 64-bit inc.
Handler pick_arrival(const ptx::Inst& inst) {
  if (inst.type != ptx::Type::b64) return nullptr;
  switch (inst.mods.video) {
    case ptx::arrives_ampere: return arrival<ArriveAmpere>(inst);
    case ptx::arrives_hopper: return arrival<ArriveHopper<false>>(inst);
    case ptx::arrives_counted: return arrival<ArriveCounted>(inst);
    case ptx::arrives_hopper_and_drops: return atomic<ArriveHopper<true>, u64>;
    default: return nullptr;
  }
}

}  // namespace

Handler select_atomic(const ptx::Inst& inst) {
  if (inst.mods.vector > 1 || inst.src_count < 2) return nullptr;
  if (inst.mods.space == ptx::Space::param || inst.mods.space == ptx::Space::constant) return nullptr;
  const bool wide = ptx::size_of(inst.type) == 16;
  switch (inst.mods.atom) {
    case ptx::AtomOp::add: return inst.mods.video != 0 ? pick_vector(inst) : pick_add(inst.type);
    case ptx::AtomOp::min: return pick_ordered<Min>(inst.type);
    case ptx::AtomOp::max: return pick_ordered<Max>(inst.type);
    case ptx::AtomOp::inc: return inst.type == ptx::Type::u32 ? atomic<Inc, u32> : pick_arrival(inst);
    case ptx::AtomOp::dec: return inst.type == ptx::Type::u32 ? atomic<Dec, u32> : nullptr;
    case ptx::AtomOp::and_: return pick_bits<And>(inst.type);
    case ptx::AtomOp::or_: return pick_bits<Or>(inst.type);
    case ptx::AtomOp::xor_: return pick_bits<Xor>(inst.type);
    case ptx::AtomOp::exch: return wide ? atomic128<false> : pick_bits<Exch>(inst.type);
    case ptx::AtomOp::cas: {
      if (inst.src_count < 3) return nullptr;
      return wide ? atomic128<true> : pick_bits<Cas>(inst.type);
    }
    case ptx::AtomOp::none: break;
  }
  return nullptr;
}

}  // namespace simtlab::exec::SIMTLAB_ISA
