// Names of special registers.
#pragma once

#include <optional>
#include <string_view>

#include "ptx/inst.h"
#include "ptx/types.h"

namespace simtlab::ptx {

// Special register by name without the %: "laneid", "clock64". Not the vectors: see find_special_vector.
std::optional<Special> find_special(std::string_view name);
// The .x component of a vector special register: "tid".
std::optional<Special> find_special_vector(std::string_view name);
// Width: 4 or 8 bytes, 0 for predicates (%is_explicit_cluster).
unsigned size_of(Special special);
std::string_view name_of(Special special);  // "tid.x"
constexpr bool is_clock(Special s) { return s >= Special::clock && s <= Special::globaltimer_hi; }
bool reads_clock(const Inst& inst);  // %clock, %globaltimer and their parts

}  // namespace simtlab::ptx
