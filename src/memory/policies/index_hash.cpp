// The line's number beyond the sets is mixed and added, so that power-of-two strides spread over the sets
// while any run of `sets` consecutive lines still covers each set once. Stands for hashes that are not known,
// of any number of sets.
#include "memory/mix.h"
#include "memory/set_index.h"

namespace simtlab::memory {
namespace {

class PowerOfTwo final : public SetIndex {
 public:
  explicit PowerOfTwo(std::uint32_t sets)
      : mask_(sets - 1), bits_(static_cast<unsigned>(std::countr_zero(sets))) {}
  std::uint32_t set_of(std::uint64_t key) const override {
    return static_cast<std::uint32_t>(key + mix(key >> bits_)) & mask_;
  }

 private:
  std::uint32_t mask_;
  unsigned bits_;
};

class Hash final : public SetIndex {
 public:
  explicit Hash(std::uint32_t sets) : sets_(sets) {}
  std::uint32_t set_of(std::uint64_t key) const override {
    return static_cast<std::uint32_t>((key + mix(key / sets_) % sets_) % sets_);
  }

 private:
  std::uint32_t sets_;
};

std::unique_ptr<SetIndex> make(const SetGeometry& geometry) {
  if (std::has_single_bit(geometry.sets)) return std::make_unique<PowerOfTwo>(geometry.sets);
  return std::make_unique<Hash>(geometry.sets);
}

}  // namespace

extern constinit const SetIndexRule index_hash{"Bits beyond the sets mixed and added; any number of sets",
                                               make};

}  // namespace simtlab::memory
