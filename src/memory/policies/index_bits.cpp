// Address bits of the user's choice, as many as make the number of sets.
#include <vector>

#include "device/set_bits.h"
#include "memory/set_index.h"

namespace simtlab::memory {
namespace {

class Bits final : public SetIndex {
 public:
  Bits(const std::vector<unsigned>& address_bits, std::uint32_t line_bytes) : bits_(address_bits) {
    const auto offset = static_cast<unsigned>(std::countr_zero(line_bytes));
    for (unsigned& bit : bits_) bit -= offset;
  }
  std::uint32_t set_of(std::uint64_t key) const override {
    std::uint32_t set = 0;
    for (std::size_t i = 0; i < bits_.size(); ++i)
      set |= static_cast<std::uint32_t>(key >> bits_[i] & 1) << i;
    return set;
  }

 private:
  std::vector<unsigned> bits_;
};

std::unique_ptr<SetIndex> make(const SetGeometry& geometry) {
  return std::make_unique<Bits>(device::parse_set_bits(geometry.bits), geometry.line_bytes);
}

}  // namespace

extern constinit const SetIndexRule index_bits{"The address bits of set_bits", make};

}  // namespace simtlab::memory
