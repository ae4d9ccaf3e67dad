// From the arguments of cudaLaunchKernel to a launch on the simulated GPU.
#pragma once

#include "runtime/cuda_api.h"

namespace simtlab::runtime {

class Runtime;

CudaError launch(Runtime& runtime, const void* host, const Dim3Arg& grid, const Dim3Arg& block,
                 void** arguments, std::size_t shared, StreamHandle stream);

// Launch attributes that only hint are ignored; those that change what a kernel may do are refused by name.
CudaError check_attributes(Runtime& runtime, const LaunchConfig& config);

}  // namespace simtlab::runtime
