// Runs one launch of a launch file (or of the command line) and compares its outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compile/launch_file.h"
#include "gpu/gpu.h"

namespace simtlab::hosts::cuda {

// What was launched, while its buffers hold what the kernel left.
struct Launched {
  struct Buffer {
    std::size_t arg = 0;             // of spec.args
    std::uint32_t param_offset = 0;  // where its address is
    std::uint64_t address = 0;
  };
  const compile::LaunchSpec& spec;
  gpu::Kernel kernel;
  exec::Dim3 grid, block;
  std::uint32_t shared_bytes = 0;  // dynamic
  std::span<const std::byte> params;
  std::vector<Buffer> buffers;
};
using AfterLaunch = std::function<void(const Launched&)>;

// after: called once the kernel has ended and before its outputs are compared; may be empty.
// module: where the kernel is. seed: of random contents that have none of their own. Arguments are checked
// against the kernel's parameter list before anything runs: Error(bad_input, "launch-arguments") with the
// launch file's line. Throws exec::Fault and other errors of the launch; Error(program_failed,
// "wrong-result") lists the first elements that differ from what is expected. Buffers are allocated, filled,
// read back and released on the simulated GPU.
//
// interrupt: looked at while buffers are filled and compared; true throws Error(interrupted). May be null.
void run_launch(const compile::LaunchSpec& spec, gpu::ModuleId module, gpu::Gpu& gpu, std::uint64_t seed,
                const volatile bool* interrupt = nullptr, const AfterLaunch& after = {});

// Whether an element is what it has to be: equal, or |got - wanted| <= tolerance * max(1, |wanted|).
bool equal_elements(const std::byte* got, const std::byte* wanted, compile::ElementType type,
                    double tolerance);
// For comparisons and messages; integers beyond 2^53 lose their last bits.
double value_of(const std::byte* at, compile::ElementType type);
std::string text_of(const std::byte* at, compile::ElementType type);
// Position of an element in its argument's shape: "[3, 17]".
std::string place_of(const compile::LaunchArg& arg, std::uint64_t index);
// "argument 2 'y'".
std::string label_of(const compile::LaunchArg& arg, std::size_t index);

// What is launched, and in which shape; arguments are not looked at. Throws Error(bad_input,
// "launch-arguments").
struct PlannedLaunch {
  gpu::Kernel kernel;
  exec::Dim3 grid, block;
};
PlannedLaunch plan_launch(const compile::LaunchSpec& spec, gpu::ModuleId module, const gpu::Gpu& gpu);

}  // namespace simtlab::hosts::cuda
