#include "memory/replacement.h"

#include "base/error.h"

namespace simtlab::memory {

std::unique_ptr<Replacement> make_replacement(device::Replacement kind, std::uint32_t sets, std::uint32_t ways) {
  switch (kind) {
    case device::Replacement::lru:
    case device::Replacement::fifo:
    case device::Replacement::random:
      return nullptr;
    case device::Replacement::plru:
      return make_tree_lru(sets, ways);
    case device::Replacement::lfu:
      return make_least_frequent(sets, ways);
    case device::Replacement::mfu:
      return make_most_frequent(sets, ways);
  }
  assertion_failed("kind", __FILE__, __LINE__, "a replacement without an implementation");
}

}  // namespace simtlab::memory
