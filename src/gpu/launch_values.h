// What OpenCL launches have and CUDA's have not: offset of the global ids, number of dimensions, arguments in
// local memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "gpu/gpu.h"

namespace simtlab::gpu {

struct LaunchValues {
  std::array<std::uint32_t, 3> offset{};
  std::uint32_t dimensions = 1;
  bool operator==(const LaunchValues&) const = default;
};

// Writes the constant simtlab_launch of the module for launches that follow. False if the module has none
// (nothing in it asks) while there is an offset: get_global_id would not honour it.
bool set_launch_values(Gpu& gpu, ModuleId module, const LaunchValues& values);

// Places local-memory arguments behind the static shared memory of a kernel (and what else it has), one after
// another.
class LocalMemory {
 public:
  explicit LocalMemory(std::uint32_t static_bytes, std::uint64_t dynamic_bytes = 0)
      : static_(static_bytes), end_(static_bytes + dynamic_bytes) {}
  // Where the argument begins; nullopt: more than 4 GiB.
  std::optional<std::uint64_t> add(std::uint64_t bytes, std::uint64_t alignment);
  std::uint32_t dynamic_bytes() const { return static_cast<std::uint32_t>(end_ - static_); }

 private:
  std::uint64_t static_, end_;
};

}  // namespace simtlab::gpu
