// What the HTML report needs of the device that a result was made on.
#pragma once

#include <vector>

#include "report/html.h"
#include "result/metrics.h"

namespace simtlab::studies {

// Occupancy of each kernel over its block size, registers and shared memory, on the device as the manifest
// describes it. Empty if that device's file is not on this machine.
std::vector<report::OccupancyCurve> occupancy_curves(const result::Result& result);

}  // namespace simtlab::studies
