// Predictions as a result: metrics `predict.<model>.*`, and tables for what has no name of its own.
#pragma once

#include <span>
#include <string>

#include "models/model.h"
#include "result/metrics.h"

namespace simtlab::models {

// A model that was not evaluated, and why.
struct Skipped {
  std::string model, reason;
};

// One entry for all predictions of one counts file. Its bottleneck is the limiting term of the first model.
result::KernelResult to_result(const std::string& name, const Counts& counts,
                               std::span<const Prediction> predictions, std::span<const Skipped> skipped);

// The counts with the origin of each, for the manifest.
std::vector<result::ConfigValue> to_configuration(const Inputs& inputs);

}  // namespace simtlab::models
