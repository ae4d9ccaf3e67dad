// Where a memory instruction is about to go, for those who check it (src/check).
#include "exec/memops/ops.h"

namespace simtlab::exec::SIMTLAB_ISA {

void look(WarpCtx& w, const XInst& x, unsigned bytes, bool writes, Look& out) {
  const Access access = prepare_any(w, x, bytes, writes);
  out.space = w.space;
  out.hosts = hosts_of(w, access);
  out.lie = access.pattern == Pattern::uniform      ? Look::Lie::together
            : access.pattern == Pattern::contiguous ? Look::Lie::side_by_side
                                                    : Look::Lie::anywhere;
}

}  // namespace simtlab::exec::SIMTLAB_ISA
