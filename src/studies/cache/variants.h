// Several studies of one program or kernel: sweeps and comparisons.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cache/options.h"
#include "result/metrics.h"
#include "studies/common/command.h"
#include "studies/run/run.h"

namespace simtlab::studies {

// "size=16K:128K", "policy=lru,fifo": a table over all combinations. Throws Error.
Outcome sweep_study(const Run& run, const cache::Options& study, const Call& call,
                    const std::vector<std::string>& axes);
// Two variants side by side: settings ("order=gto,l1.ways=8"), a result file or another kernel.
Outcome compare_studies(const Run& run, const cache::Options& study, const Call& call, const std::string& a,
                        const std::string& b);

}  // namespace simtlab::studies
