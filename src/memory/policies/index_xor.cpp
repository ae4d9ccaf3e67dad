// The low bits of the line's number, with the next as many by exclusive or. The number of sets is a power of
// two.
#include "memory/set_index.h"

namespace simtlab::memory {
namespace {

class Xor final : public SetIndex {
 public:
  explicit Xor(std::uint32_t sets) : mask_(sets - 1), bits_(static_cast<unsigned>(std::countr_zero(sets))) {}
  std::uint32_t set_of(std::uint64_t key) const override {
    return static_cast<std::uint32_t>(key ^ (key >> bits_)) & mask_;
  }

 private:
  std::uint32_t mask_;
  unsigned bits_;
};

std::unique_ptr<SetIndex> make(const SetGeometry& geometry) { return std::make_unique<Xor>(geometry.sets); }

}  // namespace

extern constinit const SetIndexRule index_xor{
    "The low bits with the next as many by exclusive or; a power of two of sets", make};

}  // namespace simtlab::memory
