// The text report of levels in a curve, or of known sizes and cases: a result whose mode is "probe".
//
//   level 1
//     probe.level.latency          28.0 cycles
//     probe.edge.size              137.1 KiB
#pragma once

#include <string>

#include "report/report.h"

namespace simtlab::report {

std::string probe_text(const result::Result& result, const TextOptions& options);

}  // namespace simtlab::report
