// simtlab list gpus: the device files, and how well founded the values of each are.
#pragma once

#include "studies/common/command.h"

namespace simtlab::cli {

void add_list_gpus(studies::Command& list);

}  // namespace simtlab::cli
