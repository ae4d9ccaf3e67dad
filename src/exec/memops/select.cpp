// Chooses the handler of a memory instruction.
#include "exec/memops/ops.h"

namespace simtlab::exec::SIMTLAB_ISA {

namespace {

// Four results of 32 bits; coordinates in f32 or s32.
Handler select_texture(const ptx::Inst& inst) {
  const bool result =
      inst.type == ptx::Type::f32 || inst.type == ptx::Type::s32 || inst.type == ptx::Type::u32;
  const bool coordinates = inst.stype == ptx::Type::f32 || inst.stype == ptx::Type::s32;
  const bool supported =
      result && coordinates && inst.mods.geometry != ptx::Geometry::none && inst.dst_count == 4;
  return supported ? handle_texture : nullptr;
}

}  // namespace

Handler select_memory(const ptx::Inst& inst) {
  switch (inst.op) {
    case ptx::Op::ld:
    case ptx::Op::ldu: return select_load(inst);
    case ptx::Op::st: return select_store(inst);
    case ptx::Op::atom:
    case ptx::Op::red: return select_atomic(inst);
    case ptx::Op::cp_async:
    case ptx::Op::prefetch:
    case ptx::Op::prefetchu: return select_copy(inst);
    case ptx::Op::tex: return select_texture(inst);
    default: return nullptr;
  }
}

}  // namespace simtlab::exec::SIMTLAB_ISA
