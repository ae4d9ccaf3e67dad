// Least recently used: the cache keeps the order itself (memory/cache.cpp).
#include "memory/replacement.h"

namespace simtlab::memory {

extern constinit const ReplacementRule replace_lru{"The line that was used longest ago", nullptr};

}  // namespace simtlab::memory
