// Shared memory of Fermi and Kepler has no atomic operations: a loop takes a lock.
#pragma once

#include <vector>

#include "assembler/program.h"

namespace simtlab::assembler {

// Every ATOMS gets a block of its own, which is repeated as long as lanes are not done. By block: the
// predicate that says so, which whoever rewrites the ATOMS sets; none: there is no such loop. Instructions of
// Volta, before registers have numbers.
std::vector<Ref> loop_on_locks(Program& program);

}  // namespace simtlab::assembler
