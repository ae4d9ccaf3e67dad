// Textures by handle. A kernel sees the textures of the time of its launch.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/executor.h"

namespace simtlab::gpu {

class TextureTable {
 public:
  using Textures = std::vector<exec::Texture>;

  std::uint64_t create(const exec::Texture& texture);     // its handle: the lowest free one, from 1
  bool destroy(std::uint64_t handle);                     // false: no such handle
  const exec::Texture* find(std::uint64_t handle) const;  // null: no such handle
  void clear();
  // As they are now; the same object for all launches between two changes.
  std::shared_ptr<const Textures> snapshot();

 private:
  Textures textures_;                     // handle = index + 1; address 0: free
  std::shared_ptr<const Textures> seen_;  // by the launch before
};

}  // namespace simtlab::gpu
