#include "cache/prefetcher.h"

namespace simtlab::cache {

extern constinit const PrefetchPolicy prefetcher_none{"none", "Nothing", nullptr};

}  // namespace simtlab::cache
