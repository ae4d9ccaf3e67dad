// simtlab trace info.
#pragma once

#include "studies/common/command.h"
#include "studies/common/studies.h"

namespace simtlab::studies {

void add_trace_info(Command& trace);

}  // namespace simtlab::studies
