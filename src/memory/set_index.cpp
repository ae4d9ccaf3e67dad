#include "memory/set_index.h"

#include "base/error.h"

namespace simtlab::memory {

std::unique_ptr<SetIndex> make_set_index(device::SetIndex kind, const SetGeometry& geometry) {
  switch (kind) {
    case device::SetIndex::modulo:
      return make_modulo_index(geometry);
    case device::SetIndex::hash:
      return make_hash_index(geometry);
    case device::SetIndex::xor_fold:
      return make_xor_index(geometry);
    case device::SetIndex::fermi:
      return make_fermi_index(geometry);
    case device::SetIndex::bits:
      return make_bits_index(geometry);
  }
  assertion_failed("kind", __FILE__, __LINE__, "a rule for the set of a line without an implementation");
}

}  // namespace simtlab::memory
