#pragma once

#include "studies/common/command.h"
#include "studies/common/studies.h"
#include "studies/validate/areas/validation.h"

namespace simtlab::studies {

AreaReport corun_area(const volatile bool* stop);
// The fast host beside the cycle-level one, area "corun-hosts".
AreaReport hosts_area(const Command& app, const volatile bool* stop);
void add_validate_corun(Command& validate);

}  // namespace simtlab::studies
