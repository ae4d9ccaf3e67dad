// When a barrier of a block is complete: one rule for the executor and for recorded warps.
#pragma once

#include <cstdint>

namespace simtlab::exec {

struct BarrierCount {
  std::uint32_t arrived = 0;  // warps, one bit each
  std::uint32_t waiting = 0;
  std::uint32_t arrivals = 0;  // warps, a warp that arrives twice counts twice
  std::uint32_t expected = 0;  // threads; 0: all of the block

  void arrive(unsigned warp, std::uint32_t threads) {
    expected = threads;
    arrived |= 1u << warp;
    ++arrivals;
  }
  // Warps that have exited count as arrived where the whole block is expected.
  bool complete(std::uint32_t everybody, std::uint32_t exited) const {
    if (arrivals == 0) return false;
    return expected != 0 ? arrivals * 32 >= expected : ((arrived | exited) & everybody) == everybody;
  }
};

}  // namespace simtlab::exec
