// simtlab suite: which programs of a folder build, run and pass their own check on the simulated GPU.
//
// The folder is never written to. Each project (a Makefile, a CMake project, a single source, a program of a
// list) is built and run in a copy of its own below the work folder; the rest of the tree stands beside it,
// so that relative paths hold. A state file remembers what is done.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "result/suite.h"
#include "studies/toolkit/toolkit.h"

namespace simtlab::studies {

struct SuiteLimits {
  double seconds = 120;                                  // of one run
  double build_seconds = 600;                            // of one build
  std::uint64_t memory_bytes = std::uint64_t{8} << 30;   // resident, of all processes of one program
  std::uint64_t output_bytes = std::uint64_t{64} << 20;  // that one step prints
};

struct SuiteOptions {
  std::filesystem::path folder;
  std::filesystem::path list;  // TOML list of programs; empty: simtlab-suite.toml of the folder, else search
  std::filesystem::path work;  // for copies, logs, results and the state
  std::vector<std::string> only;  // names, with * and ?; none: all
  bool build_only = false, fresh = false, retry_failed = false, keep = false;
  std::size_t jobs = 1;
  SuiteLimits limits;
  ToolkitParts parts;                  // of the toolkit that programs are built with, WORK/toolkit
  std::vector<std::string> run_words;  // options for `simtlab run`
  std::string tool;                    // identity of this simtlab: another one starts anew
  const volatile bool* stop = nullptr;
  // Told when a project begins (program empty) and when one of its programs is through. From any thread, one
  // at a time.
  std::function<void(const std::string& project, const result::SuiteProgram* program)> told;
};

// Throws Error: "suite-folder", "suite-list", "suite-empty" (bad_input), "suite-busy", "file-write"
// (failure). What a program does is never an error. When *stop is set the programs that were not reached are
// `waiting`.
result::Suite run_suite(const SuiteOptions& options);

}  // namespace simtlab::studies
