// What most people want of the commands with more options than a screen has lines; the rest is in --help-all.
#pragma once

#include "studies/common/command.h"

namespace simtlab::cli {

void name_frequent_options(studies::Command& tool);

}  // namespace simtlab::cli
