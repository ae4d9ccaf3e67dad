// From the arguments of cudaLaunchKernel to a launch on the simulated GPU.
#pragma once

#include <cstddef>
#include <vector>

#include "hosts/cuda/cuda_api.h"
#include "hosts/cuda/graphs.h"

namespace simtlab::hosts::cuda {

class Runtime;

CudaError launch(Runtime& runtime, const void* host, const Dim3Arg& grid, const Dim3Arg& block,
                 void** arguments, std::size_t shared, StreamHandle stream);

// A launch with the values that its arguments had; and how a graph repeats it.
struct PreparedLaunch {
  gpu::Kernel kernel;
  Dim3Arg grid{}, block{};
  std::uint32_t shared = 0;
  std::vector<std::byte> parameters;
};
CudaError prepare(Runtime& runtime, const void* host, const Dim3Arg& grid, const Dim3Arg& block,
                  void** arguments, std::size_t shared, PreparedLaunch& out);
SubmitNode submit_of(PreparedLaunch launch);

// Launch attributes that only hint are ignored; those that change what a kernel may do are refused by name.
CudaError check_attributes(Runtime& runtime, const LaunchConfig& config);

}  // namespace simtlab::hosts::cuda
