// From instructions of Volta to those of Fermi to Pascal.
//
// Everything before chooses and moves instructions of Volta, whose selection is the richest that knows no
// uniform registers. Here each becomes what the vendor's assembler writes for the older generation: products
// from halves (XMAD), carries in a flag, shifts and bit fields of their own, numbers of 20 bits. Which of
// them a generation has is in data/machine/forms.csv, and asked by Builder::has_form(): Fermi and Kepler have
// IMAD instead of XMAD, sums and logic of two values, and no atomics on shared memory (lock_shared.h).
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// The generation whose instructions stand for those of `generation` until to_bundles().
constexpr unsigned selected_as(unsigned generation) { return generation < 70 ? 70 : generation; }

// Does nothing for generations that are selected as themselves. Throws GivenUp.
void to_bundles(Program& program, unsigned generation);

}  // namespace simtlab::assembler
