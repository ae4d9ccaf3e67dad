// Handler choice of memory instructions, by group; null: not a form of the group.
#pragma once

#include "exec/memops/access.h"

namespace simtlab::exec::SIMTLAB_ISA {

Handler select_load(const ptx::Inst& inst);
Handler select_store(const ptx::Inst& inst);
Handler select_atomic(const ptx::Inst& inst);  // atom, red
Handler select_copy(const ptx::Inst& inst);    // cp.async, prefetch

// Values a lane of ld and st: elements of the vector; a 128-bit value is two of 64 bits.
SIMTLAB_INLINE unsigned elements(const ptx::Inst& inst, unsigned type_bytes) {
  return type_bytes == 16 ? 2u * inst.mods.vector : inst.mods.vector;
}

}  // namespace simtlab::exec::SIMTLAB_ISA
