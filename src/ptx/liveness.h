// Liveness of virtual registers, their slots, and the estimate of physical registers.
//
// Liveness is per thread: writes are masked, so lanes that are off keep what they had. A guarded write does
// not end the life of the old value. For each register that is live across blocks the blocks are found by
// walking backwards from its uses. A register's interval runs from the first to the last place at which it is
// live, in order of pc; registers whose intervals don't meet may share rows (linear scan), 64-bit values only
// with 64-bit values: lanes of other widths lie at other bytes, and a value that is dead on one side of a
// branch may be alive on the other. A result may take the rows of a dying source only in an instruction with
// one result of the same width class (64-bit values take two rows, all others one): a handler reads a lane of
// its sources before it writes it.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/cfg.h"
#include "ptx/module.h"

namespace simtlab::ptx {

// Registers that an instruction reads and writes, calls included.
struct Accesses {
  std::vector<std::uint32_t> reads, writes;  // virtual registers; small, reused
};
void accesses_of(const Function& f, const Inst& inst, Accesses& out);

struct Allocation {
  std::vector<std::uint32_t> slot;  // virtual register -> row, or predicate number
  std::uint32_t rows = 0, preds = 0;
  std::uint32_t max_live = 0;               // most 32-bit registers live at once, predicates left out
  std::vector<std::uint32_t> live_at_call;  // by call site: registers live across the call
};

// `types` is the type of each virtual register.
Allocation allocate(const Function& f, const Cfg& cfg, const std::vector<Type>& types);

// Replaces virtual registers by slots and fills reg_rows and pred_count.
void apply(Function& f, const Allocation& allocation);

// Physical registers that an assembler uses beyond the values alive in PTX: addresses in the making, the
// stack pointer, operands of instructions that have no constant form. Fitted to the register counts of the
// manufacturer's assembler (CUDA 13.0, sm_75) for 33 kernels of the examples and of seven programs from
// elsewhere (docs/lab/suites.md): median error -6 %, mean absolute error 21 %. What it can't see: unrolling
// and scheduling by the assembler (more registers), rematerialised values (fewer).
inline constexpr std::uint32_t register_overhead = 6;

}  // namespace simtlab::ptx
