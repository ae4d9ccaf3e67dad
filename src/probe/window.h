// Work that goes on while others' does: every warp repeats a body until two times are over, and how far it
// was at each is compared. With a fixed amount of work schedulers that prefer some warps would leave the
// others alone at the end, and what is measured then is not the peak.
#pragma once

#include <cstdint>
#include <string>

#include "probe/bench.h"

namespace simtlab::probe {

// Whether one SM works, or every one: then each block's window begins with it, and all of them together are
// the rate.
enum class Where : std::uint8_t { one_sm, everywhere };

// The rest of a kernel, to its closing brace. Registers %u, %w, %t (b32), %t0, %t1, %v, %n, %o (b64), %q;
// `result`: a b64 or f64 register that `finish` computes of what the body did.
std::string window_text(const std::string& body, const std::string& finish, const std::string& result,
                        Where where = Where::one_sm);

struct Window {
  // Warps of a block; more than one block: as many on each SM, of which the first alone works
  std::uint32_t warps = 1, blocks = 1;
  std::uint64_t cycles = 65536;  // the first time; the second is twice that
  std::uint32_t shared_bytes = 0;
  Where where = Where::one_sm;
};
// Bodies a cycle, of all warps of one SM, or of all SMs. arguments: those between `out` and `cycles`.
double rate_in_window(Bench& bench, gpu::Board::Function function, const Window& window,
                      const std::function<gpu::Arguments(std::uint64_t out)>& arguments);

}  // namespace simtlab::probe
