// Several studies of one program or kernel: sweeps and comparisons.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cache/options.h"
#include "cli/run.h"
#include "result/metrics.h"

namespace simtlab::cli {

// What is studied, as the command line names it.
struct Target {
  const CLI::App& app;
  std::vector<std::string> rest;
  const std::optional<std::vector<std::string>>& after_dashes;
};

// Runs the study and returns its result instead of a report.
result::Result study_result(Run run, const Target& target);

// "size=16K:128K", "policy=lru,fifo": a table over all combinations. Returns the exit code or throws Error.
int sweep_study(const Run& run, const cache::Options& study, const Target& target,
                const std::vector<std::string>& axes);
// Two variants side by side: settings ("order=gto,l1.ways=8"), a result file or another kernel.
int compare_studies(const Run& run, const cache::Options& study, const Target& target, const std::string& a,
                    const std::string& b);

}  // namespace simtlab::cli
