// The heap that malloc, free, new and delete of device code use: one allocation of the simulated memory,
// divided first fit. The heap lives as long as the context: a kernel may free memory that an earlier kernel
// allocated.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "exec/memory.h"

namespace simtlab::exec {

class DeviceHeap {
 public:
  explicit DeviceHeap(GlobalMemory& memory) : memory_(memory) {}
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  // cudaLimitMallocHeapSize; false once the heap exists.
  bool set_bytes(std::uint64_t bytes);
  // Before a launch whose kernel allocates. Throws Error(program_failed "device-heap") if the memory is not
  // there.
  void prepare();
  // Addresses are multiples of 16, the lowest fit; 0 if there is none, or of no bytes.
  std::uint64_t allocate(std::uint64_t bytes);
  bool release(std::uint64_t address);  // false: no block begins there
  void reset();                         // gives everything back

  // Blocks that kernels hold, for checkpoints.
  const std::map<std::uint64_t, std::uint64_t>& blocks() const { return used_; }
  // Makes the heap hold these blocks; false if a block is outside of the heap, not in its units, or over
  // another.
  bool restore(const std::map<std::uint64_t, std::uint64_t>& blocks);

 private:
  GlobalMemory& memory_;
  std::uint64_t bytes_ = 8 << 20;  // CUDA's default
  std::optional<std::uint64_t> base_;
  std::map<std::uint64_t, std::uint64_t> free_, used_;  // address -> bytes
};

}  // namespace simtlab::exec
