#pragma once

#include "studies/common/command.h"
#include "studies/common/studies.h"
#include "studies/validate/areas/validation.h"

namespace simtlab::studies {

AreaReport dram_area(const volatile bool* stop);
void add_validate_dram(Command& validate);

}  // namespace simtlab::studies
