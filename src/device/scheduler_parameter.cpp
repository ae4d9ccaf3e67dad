#include "device/scheduler_parameter.h"

#include <fmt/format.h>

#include "base/error.h"

namespace simtlab::device {
namespace {

// The parameter's place in the list.
std::size_t find(std::string_view policy, std::string_view name, bool whole) {
  const std::span<const OwnedParameter> all = scheduler_parameters();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].policy == policy && all[i].parameter.name == name && all[i].parameter.whole == whole) return i;
  const std::string call = fmt::format("{}_parameter(\"{}\"", whole ? "whole" : "real", name);
  assertion_failed("found", __FILE__, __LINE__,
                   fmt::format("the file of policy {} has a call {}, ...)", policy, call).c_str());
}

}  // namespace

std::uint64_t SchedulerValues::whole(std::string_view parameter) const {
  const std::size_t i = find(policy_, parameter, true);
  if (i < device_.scheduler_values.size()) return device_.scheduler_values[i].whole;
  return static_cast<std::uint64_t>(scheduler_parameters()[i].parameter.default_value);
}

double SchedulerValues::real(std::string_view parameter) const {
  const std::size_t i = find(policy_, parameter, false);
  if (i < device_.scheduler_values.size()) return device_.scheduler_values[i].real;
  return scheduler_parameters()[i].parameter.default_value;
}

}  // namespace simtlab::device
