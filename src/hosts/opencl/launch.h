// From clEnqueueNDRangeKernel to a launch: sizes, limits, arguments.
#pragma once

#include <cstdint>

#include "gpu/launch_values.h"
#include "hosts/opencl/objects.h"
#include "hosts/opencl/state.h"

namespace simtlab::hosts::opencl {

// Work-items a group of the kernel may have: what registers allow, at most what the device does.
std::uint32_t most_work_items(const device::Device& device, const ptx::Function& function);

struct Range {
  cl_uint dimensions = 1;
  exec::Dim3 groups, local;
  std::array<std::uint32_t, 3> offset{};
  bool has_offset = false;
};
// The arrays as clEnqueueNDRangeKernel gets them. Without local sizes the largest that divide are taken, 256
// work-items at most. Throws Failure with OpenCL's code for what is wrong.
Range make_range(const device::Device& device, const ptx::Function& function, cl_uint dimensions,
                 const size_t* offset, const size_t* global, const size_t* local);

// The parameter block of a launch, and what it keeps alive.
struct Arguments {
  std::vector<std::byte> block;
  std::uint32_t local_bytes = 0;  // dynamic shared memory
  std::vector<std::shared_ptr<Buffer>> buffers;
};
// Throws Failure: CL_INVALID_KERNEL_ARGS, CL_INVALID_MEM_OBJECT, CL_OUT_OF_RESOURCES.
Arguments gather_arguments(const device::Device& device, const Kernel& kernel, const ptx::Function& function);

}  // namespace simtlab::hosts::opencl
