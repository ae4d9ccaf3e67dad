#include "gpu/texture_table.h"

#include <algorithm>

namespace simtlab::gpu {

std::uint64_t TextureTable::create(const exec::Texture& texture) {
  seen_.reset();
  const auto free = std::ranges::find(textures_, std::uint64_t{0}, &exec::Texture::address);
  if (free != textures_.end()) {
    *free = texture;
    return static_cast<std::uint64_t>(free - textures_.begin()) + 1;
  }
  textures_.push_back(texture);
  return textures_.size();
}

bool TextureTable::destroy(std::uint64_t handle) {
  if (find(handle) == nullptr) return false;
  textures_[handle - 1] = exec::Texture{};
  seen_.reset();
  return true;
}

const exec::Texture* TextureTable::find(std::uint64_t handle) const {
  if (handle == 0 || handle > textures_.size() || textures_[handle - 1].address == 0) return nullptr;
  return &textures_[handle - 1];
}

void TextureTable::clear() {
  textures_.clear();
  seen_.reset();
}

std::shared_ptr<const TextureTable::Textures> TextureTable::snapshot() {
  if (seen_ == nullptr) seen_ = std::make_shared<const Textures>(textures_);
  return seen_;
}

}  // namespace simtlab::gpu
