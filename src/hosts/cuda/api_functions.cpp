// What a program can ask and set about a kernel, and occupancy.
#include <algorithm>
#include <iterator>
#include <optional>

#include "hosts/cuda/call.h"
#include "hosts/cuda/functions.h"
#include "hosts/cuda/launch.h"

using namespace simtlab::hosts::cuda;

namespace {

// body: CudaError(Runtime&, KernelEntry&).
template <typename Body>
CudaError with_kernel(const void* host, Body&& body) {
  return call([&](Runtime& r) {
    KernelEntry* const entry = r.find_kernel(host);
    return entry == nullptr ? error_invalid_device_function : body(r, *entry);
  });
}

int threads_of(const LaunchConfig& config) {
  const std::uint64_t threads =
      std::uint64_t{config.block.x} * config.block.y * std::uint64_t{config.block.z};
  return static_cast<int>(std::min<std::uint64_t>(threads, 1u << 20));
}

}  // namespace

// CUDA 12 added members at the end (clusters), CUDA 11 programs have no room for them.
SIMTLAB_CUDA_API CudaError cudaFuncGetAttributes(FuncAttributes* out, const void* host) {
  return with_kernel(host, [&](Runtime& r, KernelEntry& entry) {
    if (out == nullptr) return error_invalid_value;
    const CudaError code = function_attributes(r, entry, *out);
    if (code != success || library_major < 12) return code;
    const ClusterAttributes c = cluster_attributes(r, entry);
    const int members[] = {c.must_be_set, c.size[0], c.size[1], c.size[2], 0, c.non_portable};
    std::copy(std::begin(members), std::end(members), reinterpret_cast<int*>(&out->carveout) + 1);
    return code;
  });
}

SIMTLAB_CUDA_API CudaError cudaFuncSetAttribute(const void* host, int attribute, int value) {
  return with_kernel(host, [&](Runtime& r, KernelEntry& entry) {
    return set_function_attribute(r, entry, attribute, value);
  });
}

// Hints; the device file decides.
SIMTLAB_CUDA_API CudaError cudaFuncSetCacheConfig(const void* host, int) {
  return with_kernel(host, [](Runtime&, KernelEntry&) { return success; });
}
SIMTLAB_CUDA_API CudaError cudaFuncSetSharedMemConfig(const void* host, int) {
  return with_kernel(host, [](Runtime&, KernelEntry&) { return success; });
}
SIMTLAB_CUDA_API CudaError cudaFuncGetName(const char** name, const void* host) {
  return with_kernel(host, [&](Runtime&, KernelEntry& entry) {
    if (name == nullptr) return error_invalid_value;
    *name = entry.name.c_str();
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaFuncGetParamInfo(const void* host, std::size_t index, std::size_t* offset,
                                                std::size_t* bytes) {
  return with_kernel(
      host, [&](Runtime& r, KernelEntry& entry) { return parameter_info(r, entry, index, offset, bytes); });
}

SIMTLAB_CUDA_API CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* out, const void* host,
                                                                         int threads, std::size_t shared) {
  return with_kernel(
      host, [&](Runtime& r, KernelEntry& entry) { return blocks_per_sm(r, entry, threads, shared, out); });
}
SIMTLAB_CUDA_API CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* out, const void* host,
                                                                                  int threads,
                                                                                  std::size_t shared,
                                                                                  unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(out, host, threads, shared);
}

SIMTLAB_CUDA_API CudaError cudaOccupancyMaxActiveClusters(int* out, const void* host,
                                                          const LaunchConfig* config) {
  return with_kernel(host, [&](Runtime& r, KernelEntry& entry) {
    if (config == nullptr) return error_invalid_value;
    std::optional<Dim3Arg> cluster;
    const CudaError code = read_attributes(r, config->attributes, config->attribute_count,
                                           "cudaOccupancyMaxActiveClusters", cluster);
    if (code != success) return code;
    const ClusterAttributes own = cluster_attributes(r, entry);
    const auto of = [&](int i) { return static_cast<std::uint32_t>(std::max(own.size[i], 1)); };
    return clusters_at_once(r, entry, cluster.value_or(Dim3Arg{of(0), of(1), of(2)}), threads_of(*config),
                            config->shared_bytes, out);
  });
}
SIMTLAB_CUDA_API CudaError cudaOccupancyMaxPotentialClusterSize(int* out, const void* host,
                                                                const LaunchConfig* config) {
  return with_kernel(host, [&](Runtime& r, KernelEntry& entry) {
    return config == nullptr ? error_invalid_value
                             : largest_cluster(r, entry, threads_of(*config), config->shared_bytes, out);
  });
}

SIMTLAB_CUDA_API CudaError cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* out, const void* host,
                                                                     int blocks, int threads) {
  return with_kernel(
      host, [&](Runtime& r, KernelEntry& entry) { return available_shared(r, entry, blocks, threads, out); });
}
