#pragma once

#include "cli/cli.h"
#include "cli/validate.h"

namespace simtlab::cli {

AreaReport predict_area(const CLI::App& app, bool quick, const volatile bool* stop);
void add_validate_predict(CLI::App& validate, Action& chosen);

}  // namespace simtlab::cli
