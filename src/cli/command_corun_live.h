// The live part of `simtlab corun`: serve, exec, top.
#pragma once

#include "cli/cli.h"

namespace simtlab::cli {

void add_corun_serve(CLI::App& corun, Action& chosen);
void add_corun_exec(CLI::App& corun, Action& chosen,
                    const std::optional<std::vector<std::string>>& after_dashes);
void add_corun_top(CLI::App& corun, Action& chosen);

}  // namespace simtlab::cli
