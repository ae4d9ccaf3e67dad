// simtlab config diff and simtlab config init.
#pragma once

#include "cli/commands/commands.h"

namespace simtlab::cli {

void add_config_files(Command& config);

}  // namespace simtlab::cli
