// What `simtlab run` and `simtlab cache` have in common: a source, an executable, a kernel or a trace on the
// simulated GPU.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "studies/common/command.h"
#include "studies/common/options.h"
#include "studies/common/output.h"
#include "studies/run/kernel.h"
#include "studies/run/program.h"

namespace simtlab::studies {

struct Run {
  RunOptions given;
  std::string trace;
  bool mute = false;  // what a program prints goes nowhere
  // Gets the processes of a program, in the order of the result
  std::vector<GpuProcess>* processes = nullptr;
  OutputOptions output;
  KernelRun kernel;
};

void add_kernel_options(Command& command, KernelRun& run);

// What the words ask for: of `simtlab run`, `cache` or `predict`, as the options say.
options::Study study_of(const Run& options, const Call& call);

// Runs what the call names. Throws Error.
Outcome run_command(const Call& call, Run options);
// The result alone, as a part of another study. Throws Error also for what ended it early.
result::Result study_result(Run options, const Call& call);

}  // namespace simtlab::studies
