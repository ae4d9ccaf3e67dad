#include "studies/corun/policy_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace simtlab::studies {

void add_policy_options(Command& command, PolicyOptions& o) {
  const auto group = "Policies";
  const Check cap = in_range(1.0, 1e6);
  command
      .add_option("--light", o.light, "shark: M, the light kernels beside the heaviest (default: limit - 1)")
      ->check(in_range(0, 1 << 20))
      ->type_name("M")
      ->group(group);
  command
      .add_option(
          "--aging", o.aging,
          "shark-aging, bandwidth-budget: grants to others after which a launch goes first (default 64)")
      ->check(in_range(0, 1 << 30))
      ->type_name("N")
      ->group(group);
  command
      .add_option("--quantum", o.quantum_ms,
                  "exclusive: longest turn in milliseconds while others wait (default 30)")
      ->check(in_range(0.0, 1e9))
      ->type_name("MS")
      ->group(group);
  command
      .add_option("--l2-cap", o.l2_cap,
                  "bandwidth-budget: cap of the sum of L2 bandwidths in GB/s (default 380)")
      ->check(cap)
      ->type_name("GB/S")
      ->group(group);
  command.add_option("--dram-cap", o.dram_cap, "bandwidth-budget: the same of DRAM (default 250)")
      ->check(cap)
      ->type_name("GB/S")
      ->group(group);
  command
      .add_option(
          "--memory-class", o.memory_class,
          "complementary: share of memory stalls from which a kernel is of the memory class (default 0.3)")
      ->check(in_range(0.0, 1.0))
      ->type_name("SHARE")
      ->group(group);
  command
      .add_option("--best-effort", o.best_effort,
                  "priority: slots of the others while a client with priority is active (default 1)")
      ->check(in_range(0, 1 << 20))
      ->type_name("N")
      ->group(group);
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
    return std::ranges::any_of(policies, [&](const std::string& name) {
      return fmt::format(" {} ", corun::policy(name).options).find(" " + option + " ") != std::string::npos;
    });
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
