#pragma once

#include "cli/cli.h"
#include "cli/validate.h"

namespace simtlab::cli {

AreaReport corun_area(const volatile bool* stop);
// The fast host beside the cycle-level one, area "corun-hosts".
AreaReport hosts_area(const CLI::App& app, const volatile bool* stop);
void add_validate_corun(const CLI::App& app, CLI::App& validate, Action& chosen);

}  // namespace simtlab::cli
