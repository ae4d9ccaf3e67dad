// The hash of Fermi's L1, found by microbenchmarks (Nugteren, van den Braak, Corporaal, Bal: A detailed GPU
// cache model based on reuse distance theory, HPCA 2014): bits 0 to 4 of the line's number with bits 6, 7, 8,
// 10 and 12 by exclusive or; with 64 sets (48 KiB) bit 5 on top.
#include "memory/set_index.h"

namespace simtlab::memory {
namespace {

class Fermi final : public SetIndex {
 public:
  explicit Fermi(std::uint32_t sets) : top_(sets == 64 ? 32 : 0) {}
  std::uint32_t set_of(std::uint64_t key) const override {
    const auto line = static_cast<std::uint32_t>(key);
    const std::uint32_t upper = (line >> 6 & 7) | (line >> 10 & 1) << 3 | (line >> 12 & 1) << 4;
    return ((line ^ upper) & 31) | (line & top_);
  }

 private:
  std::uint32_t top_;
};

std::unique_ptr<SetIndex> make(const SetGeometry& geometry) { return std::make_unique<Fermi>(geometry.sets); }

}  // namespace

extern constinit const SetIndexRule index_fermi{"What measurements found in Fermi's L1; 32 or 64 sets", make};

}  // namespace simtlab::memory
