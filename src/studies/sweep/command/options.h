// What `simtlab sweep` and `simtlab report STUDY.db` share.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "studies/common/command.h"
#include "studies/common/outcome.h"
#include "studies/common/output.h"
#include "studies/sweep/analysis.h"
#include "studies/sweep/engine.h"
#include "studies/sweep/slurm.h"
#include "studies/sweep/study.h"

namespace simtlab::studies {

struct SweepOptions {
  std::string study;  // TOML file; empty: all is on the command line
  std::vector<std::string> axes, kernels, constraints, metrics, minimise, maximise, baseline;
  std::optional<std::string> design, timeout;
  std::optional<std::uint64_t> points, repeats, seed;
  std::string db, program;
  std::optional<std::size_t> jobs;
  std::uint64_t max_failures = 0, retries = 2;
  bool dry_run = false, retry_failed = false;
  std::string engine = "local";
  studies::sweep::SlurmOptions slurm;
  std::string html, timeline;
  OutputOptions output;
};

// The study of a command line; its command is what followed `--`. Throws Error.
studies::sweep::Study study_of(const Call& call, const SweepOptions& options);

// Whether the study's command, or a value of an axis that is words of it, has the option among simtlab's own
// words.
bool sets_option(const studies::sweep::Study& study, const std::string& option);

// Whether a command of that name has that option.
bool command_has(const Command& app, const std::string& command, const std::string& option);

struct StudyForms {
  std::string html, timeline, markdown;  // where to; empty: not asked for
  std::string next_command;
  bool text = true;  // print the text if nothing else goes to stdout
};
Outcome study_outcome(result::Study&& study, const StudyForms& forms, const OutputOptions& output);

}  // namespace simtlab::studies
