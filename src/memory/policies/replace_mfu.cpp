// Most frequently used: the line with the most uses since it came leaves.
#include "memory/policies/use_counts.h"

namespace simtlab::memory {
namespace {

class MostFrequent final : public UseCounts {
 public:
  using UseCounts::UseCounts;
  std::uint32_t victim(std::uint32_t set) override { return find(set, true); }
};

std::unique_ptr<Replacement> make(std::uint32_t sets, std::uint32_t ways) {
  return std::make_unique<MostFrequent>(sets, ways);
}

}  // namespace

extern constinit const ReplacementRule replace_mfu{"The line with the most uses since it came", make};

}  // namespace simtlab::memory
