// Least frequently used: the line with the fewest uses since it came leaves.
#include "memory/policies/use_counts.h"

namespace simtlab::memory {
namespace {

class LeastFrequent final : public UseCounts {
 public:
  using UseCounts::UseCounts;
  std::uint32_t victim(std::uint32_t set) override { return find(set, false); }
};

std::unique_ptr<Replacement> make(std::uint32_t sets, std::uint32_t ways) {
  return std::make_unique<LeastFrequent>(sets, ways);
}

}  // namespace

extern constinit const ReplacementRule replace_lfu{"The line with the fewest uses since it came", make};

}  // namespace simtlab::memory
