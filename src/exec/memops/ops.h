// Handler choice of memory instructions, by group; null: not a form of the group.
#pragma once

#include "exec/memops/access.h"
#include "ptx/machine_ops.h"

namespace simtlab::exec::SIMTLAB_ISA {

Handler select_load(const ptx::Inst& inst);
Handler select_store(const ptx::Inst& inst);
Handler select_atomic(const ptx::Inst& inst);  // atom, red
Handler select_copy(const ptx::Inst& inst);    // cp.async, prefetch

// Values a lane of ld and st: elements of the vector; a 128-bit value is two of 64 bits.
SIMTLAB_INLINE unsigned elements(const ptx::Inst& inst, unsigned type_bytes) {
  return type_bytes == 16 ? 2u * inst.mods.vector : inst.mods.vector;
}

// The lock of a place in shared memory: MemoryView::locks. An access outside of it that goes on has none
// (exec/outside.h).
SIMTLAB_INLINE u64 lock_of(const WarpCtx& w, u64 host) {
  return (host - reinterpret_cast<u64>(w.memory->shared)) / 4 % ptx::shared_locks;
}
SIMTLAB_INLINE bool has_lock(const WarpCtx& w, u64 host) {
  return host - reinterpret_cast<u64>(w.memory->shared) < w.memory->shared_bytes;
}
SIMTLAB_INLINE u32& lock_word(const WarpCtx& w, u64 host) { return w.memory->locks[lock_of(w, host) / 32]; }
SIMTLAB_INLINE u32 lock_bit(const WarpCtx& w, u64 host) { return 1u << lock_of(w, host) % 32; }

}  // namespace simtlab::exec::SIMTLAB_ISA
