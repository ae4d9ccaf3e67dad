// What the daemon of live co-runs counts, as a result.
#pragma once

#include "live/protocol.h"
#include "result/metrics.h"

namespace simtlab::cli {

// Totals, and a row for each client that has asked for a launch. Policy and device are in the manifest's configuration.
result::Result result_of(const live::Stats& stats);

}  // namespace simtlab::cli
