#include "memory/replacement.h"

#include "base/error.h"
#include "device/policy_names.h"

namespace simtlab::memory {

std::unique_ptr<Replacement> make_replacement(device::Replacement kind, std::uint32_t sets,
                                              std::uint32_t ways) {
  const ReplacementRule* const rule = find_named(replacement_rules(), device::name_of(kind));
  SIMTLAB_ASSERT(rule != nullptr, "every name of a replacement has its file");
  return rule->make == nullptr ? nullptr : rule->make(sets, ways);
}

}  // namespace simtlab::memory
