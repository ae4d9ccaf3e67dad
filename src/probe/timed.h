// Kernels around a piece of PTX that is repeated between two readings of the clock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "probe/bench.h"
#include "probe/interval.h"
#include "probe/window.h"

namespace simtlab::probe {

// Registers for all pieces: %r0 to %r15 (b32), %l0 to %l15 (b64), %f0 to %f15 (f32), %d0 to %d7 (f64), %p0 to
// %p7, %lane, %thread, %warp (b32), and %a, %b, %c (b64), the launch's parameters. What must not be dropped
// ends in %l15, which is stored.
struct Timed {
  std::string declarations;  // of the module: shared variables
  std::string setup;
  std::function<std::string(unsigned)> body;  // the n-th repetition
  std::string finish;
  // Of the shortest; the others have twice and four times as many
  unsigned repetitions = 32;
  bool barrier = true;  // warps begin together
  // Makes what the first repetition needs wait for %v, which is 0; empty: an assembler cannot move it before
  // a reading of the clock anyhow
  std::string tie;
};
std::string timed_text(const Timed& timed);

struct TimedRun {
  std::uint32_t blocks = 1, threads = 32, shared_bytes = 0;
  std::uint64_t a = 0, b = 0, c = 0;
  Where where = Where::one_sm;  // of rate_of_timed
};
struct TimedWarp {
  std::uint64_t begin = 0, end = 0, value = 0;
  std::uint32_t sm = 0;
};
// Of every warp, by block and warp. factor: 1, 2 or 4.
std::vector<TimedWarp> run_timed(Bench& bench, const std::string& text, unsigned factor, const TimedRun& run);
// From the first begin to the last end.
double span_of(const std::vector<TimedWarp>& warps);
// Repetitions a cycle, all warps of one SM (of all of them) together (run.blocks on each), while none has
// ended: every warp goes on until the time is over, and two lengths of time are compared.
double rate_of_timed(Bench& bench, const Timed& timed, const TimedRun& run, std::uint64_t cycles = 24576);
// One repetition between two readings of the clock, and none, again and again: of each time the warp's
// interval that is shortest, as its last warp waits for no other.
Singles singles_of_timed(Bench& bench, const Timed& timed, const TimedRun& run);
// Cycles of one repetition: the slope over the three lengths, for one block.
double slope_of_timed(Bench& bench, const Timed& timed, const TimedRun& run);

}  // namespace simtlab::probe
