#include "memory/set_index.h"

#include "base/error.h"
#include "device/policy_names.h"

namespace simtlab::memory {

std::unique_ptr<SetIndex> make_set_index(device::SetIndex kind, const SetGeometry& geometry) {
  const SetIndexRule* const rule = find_named(set_index_rules(), device::name_of(kind));
  SIMTLAB_ASSERT(rule != nullptr, "every name of a set index has its file");
  return rule->make(geometry);
}

}  // namespace simtlab::memory
