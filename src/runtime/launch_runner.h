// Runs one launch of a launch file (or of the command line) and compares its outputs.
#pragma once

#include <cstdint>

#include "frontend/launch_file.h"
#include "gpu/gpu.h"

namespace simtlab::runtime {

// module: where the kernel is. seed: of random contents that have none of their own. Arguments are checked
// against the kernel's parameter list before anything runs: Error(bad_input, "launch-arguments") with the
// launch file's line. Throws exec::Fault and other errors of the launch; Error(program_failed,
// "wrong-result") lists the first elements that differ from what is expected. Buffers are allocated, filled,
// read back and released on the simulated GPU.
//
// interrupt: looked at while buffers are filled and compared; true throws Error(interrupted). May be null.
void run_launch(const frontend::LaunchSpec& spec, gpu::ModuleId module, gpu::Gpu& gpu, std::uint64_t seed,
                const volatile bool* interrupt = nullptr);

// What is launched, and in which shape; arguments are not looked at. Throws Error(bad_input, "launch-arguments").
struct PlannedLaunch {
  gpu::Kernel kernel;
  exec::Dim3 grid, block;
};
PlannedLaunch plan_launch(const frontend::LaunchSpec& spec, gpu::ModuleId module, const gpu::Gpu& gpu);

}  // namespace simtlab::runtime
