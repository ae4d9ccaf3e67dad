// What `simtlab run` and `simtlab cache` have in common: a source, an executable, a kernel or a trace on the
// simulated GPU.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/kernel.h"
#include "cli/options.h"
#include "cli/program.h"

namespace simtlab::cli {

struct Run {
  RunOptions given;
  std::string trace;
  bool mute = false;  // what a program prints goes nowhere
  // Gets the processes of a program, in the order of the result
  std::vector<GpuProcess>* processes = nullptr;
  OutputOptions output;
  KernelRun kernel;
};

void add_kernel_options(CLI::App& command, KernelRun& run);

// What the words ask for: of `simtlab run`, `cache` or `predict`, as the options say.
options::Study study_of(const Run& options, const std::vector<std::string>& rest,
                        const std::optional<std::vector<std::string>>& after_dashes);

// Runs what `rest` and `after_dashes` name and writes the report. Returns the exit code or throws Error.
int run_command(const CLI::App& app, Run options, const std::vector<std::string>& rest,
                const std::optional<std::vector<std::string>>& after_dashes);

}  // namespace simtlab::cli
