// Metrics of real boards: a part of the registry.
#pragma once

#include <span>

#include "result/metrics.h"

namespace simtlab::result {

std::span<const MetricDeclaration> board_metrics();

}  // namespace simtlab::result
