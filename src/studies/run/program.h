// Running a CUDA or OpenCL program as a child process on the simulated GPU.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/program_identity.h"
#include "options/run_file.h"
#include "result/metrics.h"
#include "studies/common/options.h"
#include "studies/common/output.h"

namespace simtlab::studies {

struct ProgramRun {
  std::vector<std::string> command;  // program and its arguments
  options::RunFile run;
  bool mute = false;              // its standard output goes nowhere
  bool stdout_to_stderr = false;  // when our own stdout carries JSON or CSV
  const OutputOptions& output;    // how the user wants to see it go on
  std::string device;             // its name, for that
};

// A process of a program that used the GPU.
struct GpuProcess {
  std::size_t kernels = 0;
  ProgramIdentity program;
};

struct ProgramResult {
  result::Result result;
  std::vector<GpuProcess> processes;  // in the order of the result
  bool used_gpu = false;              // the runtime library wrote a result, or left a part of one
  // Of processes that ended without writing their result (_exit, a signal): kernels that were under way, and
  // kernels that ended and are not in the result.
  bool cut_off = false;
  std::uint64_t under_way = 0, missing = 0;
  bool linked = false;                    // the program asks for the runtime library, or for OpenCL's loader
  std::filesystem::file_time_type begun;  // files that are older are of an earlier run
  int exit_status = 0;                    // 128 + signal number if a signal ended it
  int signal = 0;
  bool interrupted = false, timed_out = false;
};

// Throws Error: bad_input if the program can't be started, unsupported if it can't use our runtime library.
ProgramResult run_program(const ProgramRun& run);

// Where the program is: as given if it has a slash, else through $PATH.
std::filesystem::path find_program(const std::string& name);

}  // namespace simtlab::studies
