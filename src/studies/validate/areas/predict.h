#pragma once

#include "studies/common/command.h"
#include "studies/common/studies.h"
#include "studies/validate/areas/validation.h"

namespace simtlab::studies {

AreaReport predict_area(const Command& app, bool quick, const volatile bool* stop);
void add_validate_predict(Command& validate);

}  // namespace simtlab::studies
