#include "exec/memops/access.h"

#include "ptx/machine_ops.h"

namespace simtlab::exec::SIMTLAB_ISA {
namespace {

ptx::Space space_of_window(u64 address) {
  switch (address >> 32) {
    case ptx::shared_window >> 32: return ptx::Space::shared;
    case ptx::local_window >> 32: return ptx::Space::local;
    case ptx::param_window >> 32: return ptx::Space::param;
    default: return ptx::Space::global;
  }
}

SIMTLAB_INLINE bool lane_inside(Bounds bounds, u64 address, unsigned bytes) {
  return address >= bounds.low && address < bounds.high && bounds.high - address >= bytes;
}

// True: the lane got another address.
bool check_lane(WarpCtx& w, const XInst& x, unsigned lane, u64 address, Bounds& bounds, unsigned bytes,
                bool writes) {
  const bool aligned = (address & (bytes - 1)) == 0;
  if (aligned && lane_inside(bounds, address, bytes)) return false;
  if (!aligned) return misaligned_access(w, x, lane, bytes, writes);
  const bool global = w.space == ptx::Space::global || w.space == ptx::Space::constant;
  if (global && find_bounds(*w.memory, address, bytes, writes, bounds)) return false;
  if (w.space == ptx::Space::shared && w.memory->cluster != nullptr && reaches_cluster(w, x, lane, bytes))
    return true;
  return outside_access(w, x, lane, bytes, writes);
}

}  // namespace

Where where_of(const ptx::Inst& inst) {
  switch (inst.mods.space) {
    case ptx::Space::shared: return Where::shared;
    case ptx::Space::param: return Where::param;
    case ptx::Space::local: return inst.frame_relative ? Where::frame : Where::local;
    case ptx::Space::global:
    case ptx::Space::constant: return Where::global;
    default: return Where::generic;
  }
}

// Immediate addresses are bound as rows of 64 bits.
bool wide_address(const ptx::Operand& address) {
  return address.bytes == 8 || address.kind == ptx::OperandKind::imm;
}

Width width_of(const ptx::Inst& inst) {
  const bool values = inst.op == ptx::Op::ld || inst.op == ptx::Op::st;
  if (values && (inst.mods.video & ptx::address_in_halves) != 0) return Width::halves;
  return wide_address(inst.src[0]) ? Width::wide : Width::narrow;
}

bool check_lanes(WarpCtx& w, const XInst& x, Bounds bounds, unsigned bytes, bool writes) {
  bool moved = false;
  for (u32 m = w.mask; m != 0; m &= m - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(m);
    if (check_lane(w, x, lane, w.addresses[lane], bounds, bytes, writes)) moved = true;
  }
  if (moved) {
    const u64 leader = w.addresses[__builtin_ctz(w.mask)];
    for (u32 m = ~w.mask; m != 0; m &= m - 1) w.addresses[__builtin_ctz(m)] = leader;
  }
  if (w.space == ptx::Space::global || w.space == ptx::Space::constant) w.memory->bounds(x, writes) = bounds;
  return moved;
}

bool resolve_windows(WarpCtx& w, const XInst& x, unsigned bytes, bool writes) {
  const unsigned leader = (unsigned)__builtin_ctz(w.mask);
  const ptx::Space space = space_of_window(w.addresses[leader]);
  bool same = true;
  for (u32 m = w.mask; m != 0; m &= m - 1) {
    same = same && space_of_window(w.addresses[__builtin_ctz(m)]) == space;
  }
  if (same) {
    const u64 window = space == ptx::Space::global ? 0 : w.addresses[leader] >> 32 << 32;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) w.addresses[lane] -= window;
    w.space = space;
    return true;
  }
  u64* hosts = w.memory->hosts;
  for (u32 m = w.mask; m != 0; m &= m - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(m);
    const u64 address = w.addresses[lane];
    w.space = space_of_window(address);
    const Region region = region_of(w, x, w.space, writes);
    w.addresses[lane] = w.space == ptx::Space::global ? address : address & 0xffffffffu;
    Bounds bounds = region.bounds;
    check_lane(w, x, lane, w.addresses[lane], bounds, bytes, writes);
    hosts[lane] = w.addresses[lane] + region.delta + lane * region.stride;
    if (w.space != ptx::Space::global) w.addresses[lane] = address;
  }
  for (u32 m = ~w.mask; m != 0; m &= m - 1) hosts[__builtin_ctz(m)] = hosts[leader];
  w.space = ptx::Space::generic;
  return false;
}

namespace {

template <Where where>
Access prepare_where(WarpCtx& w, const XInst& x, unsigned bytes, bool writes) {
  if (wide_address(x.inst->src[0])) {
    return writes ? prepare<where, Width::wide, true>(w, x, bytes)
                  : prepare<where, Width::wide, false>(w, x, bytes);
  }
  return writes ? prepare<where, Width::narrow, true>(w, x, bytes)
                : prepare<where, Width::narrow, false>(w, x, bytes);
}

}  // namespace

Access prepare_any(WarpCtx& w, const XInst& x, unsigned bytes, bool writes) {
  switch (where_of(*x.inst)) {
    case Where::global: return prepare_where<Where::global>(w, x, bytes, writes);
    case Where::shared: return prepare_where<Where::shared>(w, x, bytes, writes);
    case Where::param: return prepare_where<Where::param>(w, x, bytes, writes);
    case Where::local: return prepare_where<Where::local>(w, x, bytes, writes);
    case Where::frame: return prepare_where<Where::frame>(w, x, bytes, writes);
    case Where::generic: break;
  }
  return prepare_where<Where::generic>(w, x, bytes, writes);
}

}  // namespace simtlab::exec::SIMTLAB_ISA
