// What the user says of policies, for mixes and for the daemon.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "corun/policy.h"
#include "studies/common/command.h"
namespace simtlab::studies {

struct PolicyOptions {
  std::optional<std::uint32_t> light, best_effort;
  std::optional<std::uint64_t> aging;
  std::optional<double> quantum_ms, l2_cap, dram_cap, memory_class;
};

// of_running: what is not given stays as a daemon has it.
void add_policy_options(Command& command, PolicyOptions& o, bool of_running = false);
// The limit is the default one.
corun::Settings settings_of(const PolicyOptions& o);
// An option that none of the policies looks at would have no effect: Error(usage, "option-conflict").
// priority: --priority is given, too.
void check_policy_options(const PolicyOptions& o, const std::vector<std::string>& policies, bool priority);
// Ranges of the command line let what is no number pass.
void check_finite(const char* option, const std::optional<double>& value);

// "a kernel that nobody knows counts as ...": of a policy that needs to know something.
std::string unknown_text(const corun::Policy& policy);

}  // namespace simtlab::studies
