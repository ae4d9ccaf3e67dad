#include "gpu/board/board.h"

#include <cstring>

namespace simtlab::gpu {

void Arguments::put(const void* value, std::size_t size) {
  bytes_.resize((bytes_.size() + size - 1) / size * size);
  const std::size_t at = bytes_.size();
  bytes_.resize(at + size);
  std::memcpy(bytes_.data() + at, value, size);
}

}  // namespace simtlab::gpu
