// Metrics of applications that share a GPU: a part of the registry.
#pragma once

#include <span>
#include <vector>

#include "result/metrics.h"

namespace simtlab::result {

std::span<const MetricDeclaration> corun_metrics();
std::vector<TableDeclaration> corun_tables();

}  // namespace simtlab::result
