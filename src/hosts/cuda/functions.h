// What can be asked and set about a kernel, by the entry that stands for it: behind cudaFunc*, cuFunc* and
// occupancy.
#pragma once

#include <cstddef>

#include "hosts/cuda/runtime.h"

namespace simtlab::hosts::cuda {

// Of a kernel's function attributes, those that can be set.
enum FunctionAttribute : int {
  attribute_max_dynamic_shared = 8,
  attribute_carveout = 9,
  attribute_last_cluster = 15
};

// The kernel's code; loads its image. Throws Error.
const ptx::Function& function_of(Runtime& runtime, KernelEntry& entry);
CudaError function_attributes(Runtime& runtime, KernelEntry& entry, FuncAttributes& out);
// caller: the API function, for what is refused by name.
CudaError set_function_attribute(Runtime& runtime, KernelEntry& entry, int attribute, int value,
                                 const char* caller);
CudaError parameter_info(Runtime& runtime, KernelEntry& entry, std::size_t index, std::size_t* offset,
                         std::size_t* bytes);
CudaError blocks_per_sm(Runtime& runtime, KernelEntry& entry, int threads, std::size_t shared, int* out);
// The most dynamic shared memory with which that many blocks share an SM.
CudaError available_shared(Runtime& runtime, KernelEntry& entry, int blocks, int threads, std::size_t* out);

}  // namespace simtlab::hosts::cuda
