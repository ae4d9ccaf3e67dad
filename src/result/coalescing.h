// Global accesses whose threads use little of what they touch: the table "coalescing" of a kernel, and the
// kinds of accesses that it is about.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "result/metrics.h"

namespace simtlab::result {

// Bytes asked for over bytes of the sectors touched; below it a line of text is worth while.
inline constexpr double well_coalesced = 0.75;

struct AccessUse {
  std::string kind;    // "load", "store", "atomic"
  double use = 0;      // below well_coalesced
  double sectors = 0;  // touched
  std::string place;   // of the line that wastes most of them, "a.cu:8"; empty if the result does not say
};
// The kinds that are not well coalesced, in the order above.
std::vector<AccessUse> badly_coalesced(const KernelResult& kernel);
// Of one kind; nothing if it is well coalesced or there is none.
std::optional<AccessUse> badly_coalesced(const KernelResult& kernel, const std::string& kind);

}  // namespace simtlab::result
