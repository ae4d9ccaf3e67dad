#include "device/policy_parameters.h"

#include <fmt/format.h>

#include <algorithm>

namespace simtlab::device {

std::string policies_with(std::span<const DeclaredPolicy> policies, std::string_view parameter) {
  std::string out;
  for (const DeclaredPolicy& policy : policies)
    if (std::ranges::count(policy.parameters, parameter, &PolicyParameter::name) != 0)
      out += fmt::format("{}{}", out.empty() ? "" : " or ", policy.name);
  return out;
}

}  // namespace simtlab::device
