// The files of a batch: the list of its points, the script that is submitted, what tasks write.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "studies/sweep/slurm.h"

namespace simtlab::studies::sweep {

std::filesystem::path list_file(const std::filesystem::path& spool, std::uint64_t batch);
std::filesystem::path script_file(const std::filesystem::path& spool, std::uint64_t batch);
std::filesystem::path log_file(const std::filesystem::path& spool, std::uint64_t batch,
                               const std::string& task);
std::filesystem::path outcome_file(const std::filesystem::path& spool, std::uint64_t point);

std::uint64_t points_a_task(std::uint64_t pending, const SlurmOptions& slurm);
std::string script_text(const Store& store, const Batch& batch, const EngineOptions& options,
                        const SlurmOptions& slurm);
// A line of JSON for the batch, then one a point.
std::string list_text(const Study& study, const Store& store, const std::vector<Point>& points,
                      const EngineOptions& options, std::uint64_t points_a_task);

// What a task says of a point, written when its process has ended.
struct TaskOutcome {
  int exit_code = 0;
  double begun = 0, ended = 0;
  bool timed_out = false;
  std::string host, worker;
};
void write_outcome(const std::filesystem::path& spool, std::uint64_t point, const TaskOutcome& outcome);
// Throws Error(bad_input, "sweep-task").
TaskOutcome read_outcome(const std::filesystem::path& spool, std::uint64_t point);

}  // namespace simtlab::studies::sweep
