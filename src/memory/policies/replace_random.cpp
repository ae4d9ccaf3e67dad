// Random: the cache keeps the state of the generator itself (memory/cache.cpp).
#include "memory/replacement.h"

namespace simtlab::memory {

extern constinit const ReplacementRule replace_random{"Any line, by a generator with a seed", nullptr};

}  // namespace simtlab::memory
