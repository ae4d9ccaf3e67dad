// Consecutive lines in consecutive sets: the text-book cache. No GPU is known to index its L1 so
// (docs/concepts/cache.md); for teaching and comparison.
#include "memory/set_index.h"

namespace simtlab::memory {
namespace {

class PowerOfTwo final : public SetIndex {
 public:
  explicit PowerOfTwo(std::uint32_t sets) : mask_(sets - 1) {}
  std::uint32_t set_of(std::uint64_t key) const override { return static_cast<std::uint32_t>(key) & mask_; }

 private:
  std::uint32_t mask_;
};

class Modulo final : public SetIndex {
 public:
  explicit Modulo(std::uint32_t sets) : sets_(sets) {}
  std::uint32_t set_of(std::uint64_t key) const override { return static_cast<std::uint32_t>(key % sets_); }

 private:
  std::uint32_t sets_;
};

std::unique_ptr<SetIndex> make(const SetGeometry& geometry) {
  if (std::has_single_bit(geometry.sets)) return std::make_unique<PowerOfTwo>(geometry.sets);
  return std::make_unique<Modulo>(geometry.sets);
}

}  // namespace

extern constinit const SetIndexRule index_modulo{"The line's number modulo the sets", make};

}  // namespace simtlab::memory
