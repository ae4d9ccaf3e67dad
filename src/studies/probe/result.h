// Levels of a curve as a result and as text.
#pragma once

#include <string>

#include "probe/analysis/levels.h"
#include "result/metrics.h"

namespace simtlab::studies {

// An entry a level; totals of the curve.
result::Result result_of(const probe::Curve& curve, const probe::Levels& levels);
std::string text_of(const std::string& name, const probe::Curve& curve, const probe::Levels& levels,
                    const probe::LevelOptions& options);

std::string footprint_text(double bytes);  // "128 KiB", "20.7 MiB"
void set_edge(result::Metrics& metrics, const probe::Boundary& edge);

}  // namespace simtlab::studies
