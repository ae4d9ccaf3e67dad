// All models that are asked for, on one set of inputs.
#pragma once

#include <string>

#include "models/counts.h"
#include "models/model.h"
#include "result/metrics.h"

namespace simtlab::models {

// model: "all" answers with every model for which the inputs suffice, and says of the others what they lack.
// A model that is named must be answered: Error(bad_input, "counts-missing"), as when none can be.
result::KernelResult answer(const std::string& name, const Inputs& inputs, const std::string& model,
                            const Options& options);

}  // namespace simtlab::models
