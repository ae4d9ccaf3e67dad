#include "check/sites.h"

namespace simtlab::check {

std::uint32_t Sites::add(const Site& site) {
  std::vector<Site>& list = site.late ? late_ : sites_;
  if (list.size() == late_bit) {
    full_ = true;
    return 0;
  }
  list.push_back(site);
  return static_cast<std::uint32_t>(list.size() - 1) | (site.late ? late_bit : 0);
}

void Sites::clear() {
  sites_.resize(1);
  late_.resize(1);
}

}  // namespace simtlab::check
