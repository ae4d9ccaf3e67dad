// Less work for large grids: when blocks have been going through the GPU at a steady pace for long enough,
// the rest of the grid need not be simulated cycle by cycle.
//
// The simulation hands out no further blocks and runs until those under way have ended: the start, a steady
// stretch and the end of the kernel are simulated. What is left out is taken to go like the steady stretch:
// every count is scaled by the warp instructions of the blocks left out (which are executed functionally, so
// that memory is right) over those of the stretch. The error is the 95 % confidence interval of the mean time
// of a batch of blocks in the stretch (Student's t over batch means), plus the disagreement between scaling
// by instructions and by blocks. Not covered: blocks left out that behave otherwise than those seen.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "memory/time.h"
#include "result/metrics.h"

namespace simtlab::timing {

using memory::Cycle;

class Sampler {
 public:
  // target: relative half-width of the interval at which the pace counts as known. A batch has at least
  // `wave` blocks (all that the GPU holds at once) and takes at least `span` cycles.
  Sampler(double target, std::uint64_t wave, Cycle span) : target_(target), wave_(wave), span_(span) {}

  // So many blocks have been handed out until `now`. True: a batch is complete, and keep() wants the metrics
  // of now.
  bool note(std::uint64_t blocks, Cycle now);
  void keep(result::Metrics&& metrics);
  // The pace of the last two thirds of the batches is steady.
  bool steady() const;

  // Metrics of the whole grid from those of the part simulated. left_out: blocks; instructions: of their
  // warps, if known. Sets gpu.cycles.error and sampling.blocks beside them.
  result::Metrics extrapolate(const result::Metrics& simulated, std::uint64_t left_out,
                              std::optional<std::uint64_t> instructions) const;

 private:
  struct Batch {
    std::uint64_t blocks = 0;  // handed out until its end
    Cycle end = 0;
    result::Metrics metrics;  // then
  };
  std::size_t first() const { return batches_.size() / 3; }  // batch after whose end the stretch begins
  double pace(std::size_t batch) const;                      // cycles a block
  double mean_pace(std::size_t from, std::size_t to) const;
  double half_width() const;  // relative

  double target_;
  std::uint64_t wave_;
  Cycle span_;
  std::vector<Batch> batches_;
  std::uint64_t thinned_ = 1;  // so many waves and spans make a batch now
};

}  // namespace simtlab::timing
