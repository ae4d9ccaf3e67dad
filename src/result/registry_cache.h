// Metrics of cache studies: a part of the registry.
#pragma once

#include <span>

#include "result/metrics.h"

namespace simtlab::result {

std::span<const MetricDeclaration> cache_metrics();

}  // namespace simtlab::result
