// Metrics of predictions: a part of the registry.
#pragma once

#include <span>

#include "result/metrics.h"

namespace simtlab::result {

std::span<const MetricDeclaration> predict_metrics();

}  // namespace simtlab::result
