// Building programs: OpenCL C through clang, binaries as the PTX that they are.
#pragma once

#include <string>
#include <vector>

#include "hosts/opencl/objects.h"
#include "hosts/opencl/state.h"

namespace simtlab::hosts::opencl {

// A header of clCompileProgram: the name of #include and its text.
struct Header {
  std::string name, text;
};

// Compiles or takes the binary, and loads the result. Returns an error code; log and status say more. Throws
// Failure for bad options.
cl_int build(State& state, Program& program, const std::string& options);
// Compiles only, to see whether it does; the source waits for a link.
cl_int compile(State& state, Program& program, const std::string& options,
               const std::vector<Header>& headers);
// A program of several that were compiled; their sources become one.
cl_int link(State& state, Program& program, const std::vector<std::shared_ptr<Program>>& inputs,
            const std::string& options);

// The module whose get_global_id adds the launch's offset; compiled when it is asked for. Throws Failure.
gpu::ModuleId offset_module(State& state, Program& program);

}  // namespace simtlab::hosts::opencl
