#pragma once

#include "studies/common/command.h"
#include "studies/common/studies.h"
#include "studies/validate/areas/validation.h"

namespace simtlab::studies {

AreaReport probe_area();
void add_validate_probe(Command& validate);

}  // namespace simtlab::studies
