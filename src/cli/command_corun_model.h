// The modelled part of `simtlab corun`: mixes on the fast and the cycle-level host, interference, profiles,
// replays of decision logs.
#pragma once

#include "cli/cli.h"

namespace simtlab::cli {

// Corun itself, without a sub-command
void add_corun_mixes(const CLI::App& app, CLI::App& corun, Action& chosen);
void add_corun_interfere(CLI::App& corun, Action& chosen);
void add_corun_profile(CLI::App& corun, Action& chosen,
                       const std::optional<std::vector<std::string>>& after_dashes);
void add_corun_profiles(CLI::App& corun, Action& chosen);
void add_corun_replay(CLI::App& corun, Action& chosen);

}  // namespace simtlab::cli
