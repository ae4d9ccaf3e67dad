// cp.async and prefetch.
//
// cp.async copies when it is issued: waiting for the group later changes nothing. Bytes beyond the source
// size are zero.
#include "exec/memops/ops.h"

namespace simtlab::exec::SIMTLAB_ISA {
namespace {

// src[0] = shared address, src[1] = global address, src[2] = source size (optional).
void copy_async(WarpCtx& w, const XInst& x) {
  const ptx::Inst& inst = *x.inst;
  const unsigned bytes = inst.mods.copy_bytes;
  u64* const global_side = w.addresses;
  // Shared side first, so that w.addresses and w.space describe the global side in the end.
  w.addresses = w.addresses2;
  const Shape to = wide_address(inst.src[0])
                       ? classify(w, WideRow{w.row(x.src[0]), (u64)x.imm}, bytes, w.addresses)
                       : classify(w, NarrowRow{w.row(x.src[0]), (u32)x.imm}, bytes, w.addresses);
  const u64 window = to.leader_address >> 32 == ptx::shared_window >> 32 ? ptx::shared_window : 0;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) w.addresses[lane] -= window;
  w.space = ptx::Space::shared;
  const u64 first = w.memory->shared_first;
  const Bounds shared{first, first + w.memory->shared_bytes};
  if (!to.aligned || !all_inside(w.addresses, shared, bytes)) check_lanes(w, x, shared, bytes, true);
  u64 targets[warp_lanes];
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    targets[lane] = (u64)w.memory->shared - first + w.addresses[lane];

  w.addresses = global_side;
  w.space = ptx::Space::global;
  const Shape from = wide_address(inst.src[1])
                         ? classify(w, WideRow{w.row(x.src[1]), 0}, bytes, w.addresses)
                         : classify(w, NarrowRow{w.row(x.src[1]), 0}, bytes, w.addresses);
  const bool partial = inst.src_count > 2 && inst.src[2].kind != ptx::OperandKind::none;
  u32 sizes[warp_lanes];
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    sizes[lane] = bytes;
    if (partial && w.row32(x.src[2])[lane] < bytes) sizes[lane] = w.row32(x.src[2])[lane];
  }
  const u32 mask = w.mask;
  // Lanes that read nothing may hold any address.
  u32 reading = 0;
  for (u32 m = mask; m != 0; m &= m - 1) reading |= sizes[__builtin_ctz(m)] != 0 ? m & (~m + 1) : 0;
  const Bounds known = w.memory->bounds(x, false);
  if (reading != 0 && (!from.aligned || !inside(w, from, known, bytes))) {
    Bounds bounds = known;
    for (u32 m = reading; m != 0; m &= m - 1) {
      const unsigned lane = (unsigned)__builtin_ctz(m);
      const u64 address = w.addresses[lane];
      if ((address & (bytes - 1)) != 0) bad_access(w, x, lane, sizes[lane], false);
      if (!find_bounds(*w.memory, address, sizes[lane], false, bounds))
        outside_access(w, x, lane, sizes[lane], false);
    }
    w.memory->bounds(x, false) = bounds;
  }
  for (u32 m = mask; m != 0; m &= m - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(m);
    u8 value[16] = {};
    __builtin_memcpy(value, reinterpret_cast<const void*>(host_to_read(*w.memory, w.addresses[lane])),
                     sizes[lane]);
    __builtin_memcpy(reinterpret_cast<void*>(targets[lane]), value, bytes);
  }
}

// Only reports addresses; a prefetch never faults.
void prefetch(WarpCtx& w, const XInst& x) {
  if (wide_address(x.inst->src[0])) {
    classify(w, WideRow{w.row(x.src[0]), (u64)x.imm}, 1, w.addresses);
  } else {
    classify(w, NarrowRow{w.row(x.src[0]), (u32)x.imm}, 1, w.addresses);
  }
  w.space = x.inst->mods.space;
  if (w.space != ptx::Space::generic) return;
  w.space = ptx::Space::global;
  for (u32 m = w.mask; m != 0; m &= m - 1) {
    const u64 window = w.addresses[__builtin_ctz(m)] >> 32;
    if (window - 1 < 3) w.space = ptx::Space::generic;
  }
}

}  // namespace

Handler select_copy(const ptx::Inst& inst) {
  if (inst.op != ptx::Op::cp_async) return prefetch;
  const unsigned bytes = inst.mods.copy_bytes;
  return bytes == 4 || bytes == 8 || bytes == 16 ? copy_async : nullptr;
}

}  // namespace simtlab::exec::SIMTLAB_ISA
