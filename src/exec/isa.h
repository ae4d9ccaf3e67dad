// The host's instruction set and the handlers compiled for it.
#pragma once

#include <cstdint>
#include <string_view>

#include "exec/memops/view.h"
#include "exec/warp.h"

namespace simtlab::exec {

enum class Isa : std::uint8_t { baseline, avx2, avx512 };
std::string_view name_of(Isa isa);

// The best set that this processor has, or the one that the environment variable SIMTLAB_ISA names. Throws
// Error(usage) if it names none or one that the processor lacks.
Isa choose_isa();

// The handler of an instruction, of either family; null if there is none.
Handler select_handler(Isa isa, const ptx::Inst& inst);

// Finds out where a memory instruction goes (exec/memops/view.h).
LookHandler look_handler(Isa isa);

}  // namespace simtlab::exec
