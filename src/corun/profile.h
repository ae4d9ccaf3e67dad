// What is known of one kernel when it runs alone: what policies decide by and the interference model computes
// with.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace simtlab::corun {

// A value that nobody measured is absent, never zero.
struct Profile {
  std::optional<std::array<std::uint32_t, 3>> grid, block;
  std::optional<double> registers;       // per thread
  std::optional<double> shared_bytes;    // per block
  std::optional<double> time_ns;         // of one launch
  std::optional<double> instructions;    // warp instructions of one launch
  std::optional<double> ipc;             // warp instructions per cycle, whole GPU
  std::optional<double> threads;         // resident, whole GPU
  std::optional<double> l2_bandwidth;    // bytes/s
  std::optional<double> dram_bandwidth;  // bytes/s
  std::optional<double> cold_time_ns;    // of one launch that finds nothing of its data in L2
  std::optional<double> footprint;       // bytes that such a launch brings into L2
  std::optional<double> memory_stall;    // share of the warps' stalls that is memory, 0 to 1
  // What a file knows beside that, by its own names (more.NAME in all forms): for policies that ask for it
  std::map<std::string, double> more;
  // Of a launch of another shape: the nearest that is known (never in a file)
  bool nearest = false;
  bool operator==(const Profile&) const = default;
};

}  // namespace simtlab::corun
