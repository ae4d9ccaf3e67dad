// Chooses the handler of a memory instruction.
#include "exec/warp.h"

namespace simtlab::exec::SIMTLAB_ISA {

Handler select_memory(const ptx::Inst&) { return nullptr; }

}  // namespace simtlab::exec::SIMTLAB_ISA
