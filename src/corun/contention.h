// How much blocks that are on the SMs together slow each other down: they share the issue slots, L2 and DRAM.
// docs/concepts/corun.md has the equations.
//
// Each of the three is a server whose delay grows with its utilisation and without bound towards full use, so
// what all blocks together get never exceeds what there is. A kernel's blocks are delayed by each in the
// measure in which they wait for it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "corun/profile.h"
#include "device/device.h"
#include "device/occupancy.h"

namespace simtlab::corun {

// What is shared, and how steeply delays grow: delay = 1 + steepness * u / (1 - u) at utilisation u.
struct Servers {
  static constexpr std::size_t issue = 0, l2 = 1, dram = 2, count = 3;
  std::array<double, count> capacity{};  // warp instructions, bytes, bytes: each a nanosecond
  std::array<double, count> steepness = {0.1, 0.15, 0.1};
  double l2_latency = 1, dram_latency = 1;
};
Servers servers_of(const device::Device& device);

// A launch as the SMs see it.
struct GridWork {
  device::Occupancy occupancy;
  std::uint32_t block_warps = 1;
  std::uint64_t blocks = 1;
  std::uint64_t most = 1;                      // blocks on the GPU at once, alone
  double block_ns = 0;                         // of one block, with nothing in its way
  std::array<double, Servers::count> work{};   // of one block
  std::array<double, Servers::count> share{};  // of block_ns that is spent with each; their sum is 1
};
// Needs time, grid and block, ipc, l2, dram and memory_stall; block_ns is such that the launch alone takes
// its time. Throws Error(bad_input, "corun-profiles") if no block fits on an SM.
GridWork grid_work(const Profile& profile, const device::Device& device, const Servers& servers);
// The same launch when nothing of its data is in L2; needs cold_time and footprint, too.
Profile cold_profile(const Profile& profile);
// Of a launch that finds a part of its data missing, 0 to 1.
GridWork between(const GridWork& warm, const GridWork& cold, double missing);

// So many blocks of a grid together with others.
struct Crowd {
  const GridWork* grid = nullptr;
  double blocks = 0;
  double own = 0;          // the part of the SMs that nobody else is on, 0 to 1; 0: it shares all of them
  double stretch = 1;      // what its blocks take over block_ns
  double issue_delay = 1;  // with SMs of its own
  double delay(std::span<const double> delays, std::size_t server) const {
    return server == Servers::issue && own > 0 ? issue_delay : delays[server];
  }
};
// Sets the stretches. Crowds with SMs of their own come last. delays: where the search begins, and the delays
// that were found; {1, 1, 1} if nothing is known.
void settle(const Servers& servers, std::span<Crowd> crowds, std::array<double, Servers::count>& delays);

}  // namespace simtlab::corun
