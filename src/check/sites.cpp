#include "check/sites.h"

namespace simtlab::check {

std::uint32_t Sites::add(const Site& site) {
  if (sites_.size() == most_sites) {
    full_ = true;
    return 0;
  }
  sites_.push_back(site);
  return static_cast<std::uint32_t>(sites_.size() - 1);
}

void Sites::clear() { sites_.resize(1); }

}  // namespace simtlab::check
