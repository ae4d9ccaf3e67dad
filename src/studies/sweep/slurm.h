// The engine of a cluster: job arrays of Slurm. A batch of points is written as a list, submitted as one
// array whose tasks run some points each, and followed until each point has an outcome; points whose task is
// gone without one were lost with their node and go into another batch.
//
// Files lie in the study's folder (DATABASE.d), which the nodes must see under the same path. A batch is in
// the database before it is submitted, under a job name of its own: a sweep that was killed in between finds
// out whether it was.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "studies/sweep/engine.h"

namespace simtlab::studies::sweep {

struct SlurmOptions {
  std::vector<std::string> options;  // for sbatch: "--partition=long"
  std::uint64_t tasks = 0;           // tasks of an array at once; 0: as many as the cluster gives
  std::uint64_t points_a_task = 0;   // 0: so that an array has at most most_tasks
  double poll_s = 2;
};

// Of an array: Slurm's MaxArraySize is 1001 unless somebody changed it
inline constexpr std::uint64_t most_tasks = 1000;

Ending run_slurm(const Study& study, Store& store, const EngineOptions& options, const SlurmOptions& slurm,
                 Listener& listener);

// What run_slurm would submit first: file names and contents.
struct Script {
  std::string name, content;
};
std::vector<Script> slurm_scripts(const Study& study, const Store& store, const EngineOptions& options,
                                  const SlurmOptions& slurm);

// One task of an array, on its node: runs the points of `batch` that are its own and have no outcome yet.
// Returns the exit status.
int run_task(const std::filesystem::path& list, std::uint64_t task, const volatile bool* stop);

}  // namespace simtlab::studies::sweep
