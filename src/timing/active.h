// A launch that is under way, and its part of what launches use together.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "timing/dispatcher.h"
#include "timing/sampling.h"
#include "timing/series.h"

namespace simtlab::timing {

// Counters of units that launches use together, since the GPU was idle. Nobody can say which launch a DRAM
// burst or a busy port belongs to when several run: each gets its part by the sectors that it moved through
// L2 in that time (D-TIMING-20).
struct SharedUse {
  enum Part : std::uint8_t {
    dram_read_bytes,
    dram_write_bytes,
    row_hits,
    row_misses,
    network_read_bytes,
    request_busy,
    reply_busy,
    l2_busy,
    l2_full,
    l2_held,
    l2_writebacks,
    reply_flits,
    count_,
  };
  std::array<std::uint64_t, count_> parts{};
};

struct ActiveLaunch {
  ActiveLaunch(std::uint64_t number, std::uint64_t series_interval) : id(number), series(series_interval) {}
  LaunchContext context;
  Grid grid;
  std::uint64_t id;
  std::uint64_t ended_blocks = 0;
  Cycle begun = 0, ended = 0;
  Cycle opens = 0;  // its first blocks may be handed out from then on
  bool opened = false;
  Cycle overlapped = 0;       // cycles in which another one was under way
  bool alone = true;          // the only one since the GPU was idle
  std::uint64_t weighed = 0;  // sectors that its part so far was measured by
  SharedUse use;
  Series series;
  std::optional<Sampler> sampler;
  std::uint64_t left_out = 0;  // blocks
  bool over() const { return grid.all_handed_out() && ended_blocks == grid.blocks; }
};

// Gives each launch its part of what was used meanwhile. moved: sectors of each in that time. The parts add
// up to `used` exactly.
void apportion(const SharedUse& used, std::span<ActiveLaunch* const> launches,
               std::span<const std::uint64_t> moved);

}  // namespace simtlab::timing
