#pragma once

#include "studies/common/command.h"
#include "studies/common/studies.h"
#include "studies/validate/areas/validation.h"

namespace simtlab::studies {

AreaReport cache_area(bool quick, const volatile bool* stop);
void add_validate_cache(Command& validate);

}  // namespace simtlab::studies
