// Every access of a study's threads, in the order in which the caches are asked.
#pragma once

#include <cstdint>

namespace simtlab::cache {

class AccessLog {
 public:
  virtual ~AccessLog() = default;
  // Of each launch: threads that take turns together, and blocks of the grid.
  virtual void begin(std::uint32_t warp_size, std::uint64_t blocks) = 0;
  // warp: in the block, of that size; instruction: line of the PTX.
  virtual void access(std::uint64_t address, bool store, std::uint64_t block, std::uint32_t warp,
                      std::uint32_t instruction) = 0;
};

}  // namespace simtlab::cache
