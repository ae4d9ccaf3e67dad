#include "timing/active.h"

#include <numeric>

namespace simtlab::timing {

void apportion(const SharedUse& used, std::span<ActiveLaunch* const> launches,
               std::span<const std::uint64_t> moved) {
  using Wide = unsigned __int128;
  const std::uint64_t sum = std::accumulate(moved.begin(), moved.end(), std::uint64_t{0});
  for (std::size_t part = 0; part < used.parts.size(); ++part) {
    std::uint64_t rest = used.parts[part];
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const std::uint64_t own = sum == 0
                                    ? used.parts[part] / launches.size()
                                    : static_cast<std::uint64_t>(Wide{used.parts[part]} * moved[i] / sum);
      launches[i]->use.parts[part] += own;
      rest -= own;
    }
    if (!launches.empty()) launches.front()->use.parts[part] += rest;
  }
}

}  // namespace simtlab::timing
