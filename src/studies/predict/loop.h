// Predictions from a sequential C program: what a loop nest would take on a GPU.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu/prediction.h"
#include "result/metrics.h"
#include "studies/common/command.h"
#include "studies/common/options.h"
#include "studies/common/output.h"

namespace simtlab::studies {

struct LoopOptions {
  std::string loop;                 // FILE:LINE; empty: the marked one
  std::vector<std::string> params;  // NAME=VALUE, with commas between
  std::optional<std::string> run;   // arguments of the program
  std::string cflags, block, map;
  std::string emit_ptx, emit_cuda;
  double run_limit = 60;
  std::uint64_t keep_bytes = std::uint64_t{256} << 20;
  bool assume_parallel = false, simulate = false;
  bool stage = false;  // --emit-cuda with what shared memory should hold
};

void add_loop_options(Command& command, LoopOptions& options);
// The first word that names a file is a C program.
bool names_c_program(const std::vector<std::string>& rest);
// `--loop program.c` names the program, not a loop of it.
void take_file_of_loop(LoopOptions& options, std::vector<std::string>& rest);
// The prediction alone, of the C program `file`; with --emit-ptx and --emit-cuda their files are written.
result::Result loop_result(const LoopOptions& options, const RunOptions& given,
                           const gpu::PredictOptions& predict, const std::string& file,
                           const OutputOptions& output);

// rest: the C file and what else stands on the command line. sweep: axes (gpu, block, map, a device key, a
// parameter of the nest). Throws Error.
Outcome predict_loop(const LoopOptions& options, const RunOptions& given, OutputOptions output,
                     const gpu::PredictOptions& predict, const std::vector<std::string>& rest,
                     const std::vector<std::string>& sweep);

}  // namespace simtlab::studies
