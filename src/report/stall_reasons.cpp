// Stall reasons of the timing model (pure data). The names are those of Nsight Compute's warp states; here
// each scheduler slot without an issue is charged to exactly one of them.
#include <algorithm>

#include "report/glossary.h"

namespace simtlab::report {

const std::vector<Term>& stall_reasons() {
  static const std::vector<Term> terms = {
      {"selected", "An instruction was issued: the slot was used.", ""},
      {"long_scoreboard",
       "The warp waits for the result of a load or atomic on global, local or texture memory.",
       "Have more independent loads in flight (unrolling, more warps), improve coalescing and reuse, keep "
       "hot data in shared memory."},
      {"short_scoreboard",
       "The warp waits for the result of shared memory, a special function, a shuffle or a conversion.",
       "Look for bank conflicts (shared.bank_conflicts); put independent instructions between such an "
       "instruction and its use."},
      {"wait",
       "The warp waits for the fixed latency of an arithmetic instruction that the next one depends on.",
       "More independent instructions a thread, or more warps (occupancy.achieved), hide it."},
      {"math_pipe_throttle", "The pipeline that the instruction needs is busy.",
       "The kernel is near the peak of that pipeline (pipe.*): use cheaper operations or another precision."},
      {"mio_throttle", "The queue to shared memory, special functions and shuffles is full.",
       "Fewer and wider shared-memory accesses; resolve bank conflicts; fewer special functions and "
       "conversions."},
      {"lg_throttle", "The queue of loads and stores to global and local memory is full.",
       "Fewer and wider accesses (vector loads), better coalescing, no register spills."},
      {"tex_throttle", "The texture queue is full.", "Fewer texture reads, or plain loads instead."},
      {"barrier", "The warp waits at a barrier for other warps of its block.",
       "Balance the work between barriers; smaller blocks, so that other blocks fill the gap."},
      {"membar", "The warp waits for a memory fence to complete.",
       "Fewer or narrower fences (block instead of device scope)."},
      {"branch_resolving", "The warp waits for a branch to be resolved.",
       "Fewer branches: predication, unrolling."},
      {"dispatch", "An instruction was ready but dispatch was blocked (register banks, issue port).", ""},
      {"imc_miss", "The warp waits for the constant cache, or for an operand that is a constant.",
       "Index constants uniformly within a warp; use fewer constant lines."},
      {"no_instruction", "The warp waits for the instruction cache.", "Smaller loop bodies, less unrolling."},
      {"drain", "The warp has exited but its stores are not yet written.",
       "Spread the stores; write less at the end."},
      {"sleeping", "All threads of the warp sleep (nanosleep).", ""},
      {"no_warp", "The scheduler holds no warp at all: too few blocks, or the tail of the launch.",
       "Launch more blocks, balance them, or make them smaller (gpu.waves, occupancy.achieved)."},
  };
  return terms;
}

const Term* find_term(const std::vector<Term>& terms, std::string_view name) {
  const auto found = std::ranges::find(terms, name, &Term::name);
  return found == terms.end() ? nullptr : &*found;
}

}  // namespace simtlab::report
