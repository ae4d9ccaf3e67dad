#include "cache/prefetcher.h"

#include <algorithm>

namespace simtlab::cache {

const PrefetchPolicy* find_prefetcher(std::string_view name) {
  const auto all = prefetch_policies();
  const auto found = std::ranges::find(all, name, [](const PrefetchPolicy* one) { return one->name; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace simtlab::cache
