// Limits of a GPU that a run may lift: --what-if, and how `simtlab explain` measures what a remedy is worth.
//
// Lifting a limit changes the model; it never scales a result. The rest of the GPU stays as it is: a limit
// that is lifted may only uncover the next limit.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace simtlab::device {

struct WhatIf {
  bool perfect_l1 = false;
  bool infinite_dram_bandwidth = false;
  bool no_bank_conflicts = false;
  bool perfect_coalescing = false;
  bool double_occupancy = false;
  bool double_math = false;
  bool zero_launch_cost = false;
  bool perfect_fetch = false;
  bool no_register_conflicts = false;
  bool unlimited_tags = false;
  bool wide_writes = false;
  bool alone = false;
  bool operator==(const WhatIf&) const = default;
};

struct WhatIfName {
  std::string_view name;     // "perfect-l1"
  std::string_view meaning;  // what the model does differently
  std::string_view remedy;   // what a programmer could do to come near it
  bool WhatIf::*member;
};
std::span<const WhatIfName> what_ifs();

// "none", or names separated by commas. Throws Error(bad_input "what-if").
WhatIf parse_what_if(std::string_view text);

}  // namespace simtlab::device
