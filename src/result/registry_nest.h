// Metrics and tables of a sequential loop nest: a part of the registries.
#pragma once

#include <span>
#include <vector>

#include "result/metrics.h"

namespace simtlab::result {

std::span<const MetricDeclaration> nest_metrics();
std::vector<TableDeclaration> nest_tables();

}  // namespace simtlab::result
