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
  attribute_cluster_must_be_set = 10,  // can be asked only
  attribute_cluster_width = 11,
  attribute_cluster_depth = 13,
  attribute_non_portable = 14,
  attribute_cluster_policy = 15,  // a hint
  attribute_last_cluster = attribute_cluster_policy
};

// The kernel's code; loads its image. Throws Error.
const ptx::Function& function_of(Runtime& runtime, KernelEntry& entry);
CudaError function_attributes(Runtime& runtime, KernelEntry& entry, FuncAttributes& out);
CudaError set_function_attribute(Runtime& runtime, KernelEntry& entry, int attribute, int value);
// Of clusters: whether a launch has to say their size, what it has to be (0: anything), and whether one above
// the size of every device is allowed.
struct ClusterAttributes {
  int must_be_set = 0, size[3] = {0, 0, 0}, non_portable = 0;
};
ClusterAttributes cluster_attributes(Runtime& runtime, KernelEntry& entry);
// Clusters of that size that the GPU holds at once, and the largest size that it can hold one of.
CudaError clusters_at_once(Runtime& runtime, KernelEntry& entry, const Dim3Arg& cluster, int threads,
                           std::size_t shared, int* out);
CudaError largest_cluster(Runtime& runtime, KernelEntry& entry, int threads, std::size_t shared, int* out);
CudaError parameter_info(Runtime& runtime, KernelEntry& entry, std::size_t index, std::size_t* offset,
                         std::size_t* bytes);
CudaError blocks_per_sm(Runtime& runtime, KernelEntry& entry, int threads, std::size_t shared, int* out);
// The most dynamic shared memory with which that many blocks share an SM.
CudaError available_shared(Runtime& runtime, KernelEntry& entry, int blocks, int threads, std::size_t* out);

}  // namespace simtlab::hosts::cuda
