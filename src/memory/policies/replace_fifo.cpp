// First in, first out: the cache keeps the order itself (memory/cache.cpp).
#include "memory/replacement.h"

namespace simtlab::memory {

extern constinit const ReplacementRule replace_fifo{"The line that came first", nullptr};

}  // namespace simtlab::memory
