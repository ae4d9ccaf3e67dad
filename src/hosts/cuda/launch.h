// From the arguments of cudaLaunchKernel to a launch on the simulated GPU.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "hosts/cuda/cuda_api.h"
#include "hosts/cuda/graphs.h"

namespace simtlab::hosts::cuda {

class Runtime;
struct KernelEntry;

// The values of a kernel's parameters: one pointer for each, or all of them packed as the kernel has them.
struct Arguments {
  void** each = nullptr;
  const void* packed = nullptr;
  std::size_t packed_bytes = 0;
};

// cluster: blocks of one; nullopt: what the kernel says.
CudaError launch(Runtime& runtime, KernelEntry& entry, const Dim3Arg& grid, const Dim3Arg& block,
                 const Arguments& arguments, std::size_t shared, StreamHandle stream,
                 std::optional<Dim3Arg> cluster = {});
// host: the address that stands for the kernel, or a handle of one.
CudaError launch(Runtime& runtime, const void* host, const Dim3Arg& grid, const Dim3Arg& block,
                 void** arguments, std::size_t shared, StreamHandle stream,
                 std::optional<Dim3Arg> cluster = {});

// A launch with the values that its arguments had; and how a graph repeats it.
struct PreparedLaunch {
  gpu::Kernel kernel;
  Dim3Arg grid{}, block{};
  std::optional<Dim3Arg> cluster;
  std::uint32_t shared = 0;
  std::vector<std::byte> parameters;
};
CudaError prepare(Runtime& runtime, const void* host, const Dim3Arg& grid, const Dim3Arg& block,
                  void** arguments, std::size_t shared, PreparedLaunch& out);
SubmitNode submit_of(PreparedLaunch launch);

// Launch attributes that only hint are ignored; those that change what a kernel may do are taken over or
// refused by name. caller: the API function.
CudaError read_attributes(Runtime& runtime, const void* attributes, unsigned count, const char* caller,
                          std::optional<Dim3Arg>& cluster);

}  // namespace simtlab::hosts::cuda
