#include "studies/corun/policy_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace simtlab::studies {

void add_policy_options(Command& command, PolicyOptions& o, bool of_running) {
  const auto add = [&](const char* name, auto& value, const char* what, const char* otherwise, Check check,
                       const char* type) {
    command
        .add_option(name, value, fmt::format("{} (default{})", what, of_running ? ": as it is" : otherwise))
        ->check(std::move(check))
        ->type_name(type)
        ->group("Policies");
  };
  const Check cap = in_range(1.0, 1e6);
  add("--light", o.light, "shark: M, the light kernels beside the heaviest", ": limit - 1",
      in_range(0, 1 << 20), "M");
  add("--aging", o.aging, "shark-aging, bandwidth-budget: grants to others after which a launch goes first",
      " 64", in_range(0, 1 << 30), "N");
  add("--quantum", o.quantum_ms, "exclusive: longest turn in milliseconds while others wait", " 30",
      in_range(0.0, 1e9), "MS");
  add("--l2-cap", o.l2_cap, "bandwidth-budget: cap of the sum of L2 bandwidths in GB/s", " 380", cap, "GB/S");
  add("--dram-cap", o.dram_cap, "bandwidth-budget: the same of DRAM", " 250", cap, "GB/S");
  add("--memory-class", o.memory_class,
      "complementary: share of memory stalls from which a kernel is of the memory class", " 0.3",
      in_range(0.0, 1.0), "SHARE");
  add("--best-effort", o.best_effort, "priority: slots of the others while a client with priority is active",
      " 1", in_range(0, 1 << 20), "N");
}

void check_finite(const char* option, const std::optional<double>& value) {
  if (value && !std::isfinite(*value))
    throw Error(ExitCode::usage, "option-value", fmt::format("{} takes a number", option));
}

corun::Settings settings_of(const PolicyOptions& o) {
  check_finite("--quantum", o.quantum_ms);
  check_finite("--l2-cap", o.l2_cap);
  check_finite("--dram-cap", o.dram_cap);
  check_finite("--memory-class", o.memory_class);
  corun::Settings s;
  s.light = o.light;
  s.best_effort = o.best_effort.value_or(s.best_effort);
  s.aging = o.aging.value_or(s.aging);
  s.memory_class = o.memory_class.value_or(s.memory_class);
  if (o.quantum_ms) s.quantum = static_cast<corun::Time>(*o.quantum_ms * 1e6);
  if (o.l2_cap) s.l2_cap = *o.l2_cap * 1e9;
  if (o.dram_cap) s.dram_cap = *o.dram_cap * 1e9;
  return s;
}

void check_policy_options(const PolicyOptions& o, const std::vector<std::string>& policies, bool priority) {
  const auto used = [&](const std::string& option) {
    return std::ranges::any_of(
        policies, [&](const std::string& name) { return corun::looks_at(corun::policy(name), option); });
  };
  const std::pair<const char*, bool> given[] = {{"--light", o.light.has_value()},
                                                {"--aging", o.aging.has_value()},
                                                {"--quantum", o.quantum_ms.has_value()},
                                                {"--l2-cap", o.l2_cap.has_value()},
                                                {"--dram-cap", o.dram_cap.has_value()},
                                                {"--memory-class", o.memory_class.has_value()},
                                                {"--best-effort", o.best_effort.has_value()},
                                                {"--priority", priority}};
  for (const std::string& p : policies) corun::policy(p);  // throws
  for (const auto& [name, is_given] : given)
    if (is_given && !used(name))
      throw Error(ExitCode::usage, "option-conflict",
                  fmt::format("{} has no effect on {}", name, fmt::join(policies, ", ")),
                  "leave it out, or add the policy that it is for");
}

std::string unknown_text(const corun::Policy& policy) {
  return fmt::format("a kernel that nobody knows {}", policy.unknown);
}

}  // namespace simtlab::studies
