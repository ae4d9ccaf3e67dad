// Tables of probes, and metrics of samples.
#pragma once

#include <span>
#include <vector>

#include "result/metrics.h"
#include "result/table.h"

namespace simtlab::result {

std::span<const MetricDeclaration> probe_metrics();
std::vector<TableDeclaration> probe_tables();

}  // namespace simtlab::result
