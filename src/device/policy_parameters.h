// Named parameters of policies that are a source file each. The file of the policy declares them; a
// description file, or
// --set, gives them values under the section of its kind: "schedule.row_hit_cap", "page.timeout".
//
// device/ reads the values and knows nothing of the policies: the layer that has them (memory/dram) defines
// the two functions below from the lists that the build makes, and the linker brings them together
// (device/rules.cmake).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace simtlab::device {

// A whole number. Policies of one kind may share a parameter if they declare its name, unit, range and
// default alike.
struct PolicyParameter {
  std::string_view name;  // "row_hit_cap"
  Unit unit = Unit::none;
  std::uint32_t minimum = 0, maximum = 0, default_value = 0;
  std::string_view doc;  // one sentence without the final full stop
  bool operator==(const PolicyParameter&) const = default;
};

struct DeclaredPolicy {
  std::string_view name, doc;
  std::span<const PolicyParameter> parameters;
};

// In the order of the names.
std::span<const DeclaredPolicy> memory_schedulers();  // schedule.kind
std::span<const DeclaredPolicy> page_policies();      // page.policy

// Values by the names of the parameters; what is absent has its default.
using ParameterValues = std::map<std::string, std::uint32_t, std::less<>>;

// A key that names a policy: what it fills, and the policies that there are.
struct PolicyChoice {
  std::string* name;
  std::span<const DeclaredPolicy> (*all)();
};

// "fr_fcfs_cap or round_robin": the policies that have the parameter.
std::string policies_with(std::span<const DeclaredPolicy> policies, std::string_view parameter);

}  // namespace simtlab::device
