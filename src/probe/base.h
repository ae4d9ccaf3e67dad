// Which shipped devices lend a probed file what was not measured.
#pragma once

#include <string>
#include <vector>

#include "gpu/board/board.h"
#include "probe/loans.h"

namespace simtlab::probe {

// The devices of the catalogue, the nearest first: that of the board's product; those of its compute
// capability; those of its major compute capability, the nearest minor one first; the others by their
// distance from it, the older of two first. Of several the one with the nearest number of SMs, then with the
// nearest amount of memory, then the first by name. Throws Error(bad_input "probe-base") if none can be read.
std::vector<Lender> nearest_devices(const gpu::BoardFacts& facts);

// Why a base is only the nearest; empty: it has the board's compute capability.
std::string remark_on(const Lender& base, const gpu::BoardFacts& facts);

}  // namespace simtlab::probe
