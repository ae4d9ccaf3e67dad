// Functions: what can be asked and set, occupancy, and launches.
#include <algorithm>

#include "hosts/cuda/driver/driver.h"
#include "hosts/cuda/driver/runtime_calls.h"
#include "hosts/cuda/functions.h"
#include "hosts/cuda/launch.h"

using namespace simtlab::hosts::cuda;

namespace {

CudaError attribute_of(Runtime& r, KernelEntry& entry, int attribute, int* out) {
  FuncAttributes a{};
  const CudaError code = function_attributes(r, entry, a);
  if (code != success) return code;
  const int values[] = {a.max_threads_per_block,
                        static_cast<int>(a.shared_bytes),
                        static_cast<int>(a.const_bytes),
                        static_cast<int>(a.local_bytes),
                        a.registers,
                        a.ptx_version,
                        a.binary_version,
                        a.cache_mode_ca,
                        a.max_dynamic_shared,
                        a.carveout};
  const ClusterAttributes clusters = cluster_attributes(r, entry);
  constexpr int known = static_cast<int>(std::size(values));
  if (out == nullptr || attribute < 0 || attribute > attribute_last_cluster) return error_invalid_value;
  *out = attribute < known                       ? values[attribute]
         : attribute == attribute_cluster_policy ? 0
         : attribute == attribute_non_portable   ? clusters.non_portable
         : attribute == known                    ? clusters.must_be_set
                                                 : clusters.size[attribute - known - 1];
  return success;
}

DriverResult get_attribute(int* out, int attribute, const void* function) {
  return with_function(
      function, [&](Runtime& r, KernelEntry& entry) { return attribute_of(r, entry, attribute, out); });
}
DriverResult set_attribute(const void* function, int attribute, int value) {
  return with_function(function, [&](Runtime& r, KernelEntry& entry) {
    return set_function_attribute(r, entry, attribute, value);
  });
}
DriverResult name_of(const char** out, const void* function) {
  return with_function(function, [&](Runtime&, KernelEntry& entry) {
    if (out == nullptr) return error_invalid_value;
    *out = entry.name.c_str();
    return success;
  });
}
DriverResult parameter(const void* function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return with_function(function, [&](Runtime& r, KernelEntry& entry) {
    return parameter_info(r, entry, index, offset, bytes);
  });
}
DriverResult hint(const void* function) {
  return with_function(function, [](Runtime&, KernelEntry&) { return success; });
}

// The pairs behind `extra`: a buffer with the parameters, and its size.
bool packed_arguments(void** extra, Arguments& out) {
  const void* const end = nullptr;
  void* const buffer = reinterpret_cast<void*>(std::uintptr_t{1});
  void* const size = reinterpret_cast<void*>(std::uintptr_t{2});
  bool sized = false;
  for (; *extra != end; extra += 2) {
    if (*extra == buffer)
      out.packed = extra[1];
    else if (*extra == size && extra[1] != nullptr)
      out.packed_bytes = *static_cast<const std::size_t*>(extra[1]), sized = true;
    else
      return false;
  }
  return out.packed != nullptr && sized;
}

struct Launch {
  const void* function;
  Dim3Arg grid, block;
  unsigned shared;
  StreamHandle stream;
  void** parameters;
  void** extra;
  std::optional<Dim3Arg> cluster;
};

DriverResult launch_kernel(const Launch& l) {
  return with_function(l.function, [&](Runtime& r, KernelEntry& entry) {
    Arguments arguments{.each = l.parameters};
    if (l.extra != nullptr && (l.parameters != nullptr || !packed_arguments(l.extra, arguments)))
      return error_invalid_value;
    return launch(r, entry, l.grid, l.block, arguments, l.shared, l.stream, l.cluster);
  });
}

struct DriverLaunchConfig {
  Dim3Arg grid, block;
  unsigned shared;
  StreamHandle stream;
  const void* attributes;
  unsigned attribute_count;
};

// The largest number of threads of all SMs, and the grid that has as many blocks.
CudaError best_block(Runtime& r, KernelEntry& entry, std::size_t (*shared_of)(int), std::size_t shared,
                     int limit, int* grid, int* block) {
  FuncAttributes a{};
  CudaError code = function_attributes(r, entry, a);
  if (code != success) return code;
  if (grid == nullptr || block == nullptr) return error_invalid_value;
  int best = 0;
  const int most = limit > 0 ? std::min(limit, a.max_threads_per_block) : a.max_threads_per_block;
  for (int threads = most; threads > 0; threads = (threads - 1) / 32 * 32) {
    int blocks = 0;
    code = blocks_per_sm(r, entry, threads, shared_of != nullptr ? shared_of(threads) : shared, &blocks);
    if (code != success) return code;
    if (blocks * threads <= best) continue;
    best = blocks * threads;
    *block = threads;
    *grid = blocks * static_cast<int>(r.device().sm.count);
  }
  return best > 0 ? success : error_launch_out_of_resources;
}

}  // namespace

SIMTLAB_DRIVER_API DriverResult cuFuncGetAttribute(int* out, int attribute, const void* function) {
  return get_attribute(out, attribute, function);
}
SIMTLAB_DRIVER_API DriverResult cuFuncSetAttribute(const void* function, int attribute, int value) {
  return set_attribute(function, attribute, value);
}
SIMTLAB_DRIVER_API DriverResult cuFuncGetName(const char** out, const void* function) {
  return name_of(out, function);
}
SIMTLAB_DRIVER_API DriverResult cuFuncGetParamInfo(const void* function, std::size_t index,
                                                   std::size_t* offset, std::size_t* bytes) {
  return parameter(function, index, offset, bytes);
}
SIMTLAB_DRIVER_API DriverResult cuFuncSetCacheConfig(const void* function, int) { return hint(function); }
SIMTLAB_DRIVER_API DriverResult cuFuncSetSharedMemConfig(const void* function, int) { return hint(function); }
SIMTLAB_DRIVER_API DriverResult cuFuncLoad(const void* function) { return hint(function); }
SIMTLAB_DRIVER_API DriverResult cuFuncIsLoaded(int* out, const void* function) {
  if (out != nullptr) *out = 1;
  return out == nullptr ? driver_invalid_value : hint(function);
}

SIMTLAB_DRIVER_API DriverResult cuKernelGetAttribute(int* out, int attribute, const void* kernel, Device) {
  return get_attribute(out, attribute, kernel);
}
SIMTLAB_DRIVER_API DriverResult cuKernelSetAttribute(int attribute, int value, const void* kernel, Device) {
  return set_attribute(kernel, attribute, value);
}
SIMTLAB_DRIVER_API DriverResult cuKernelGetName(const char** out, const void* kernel) {
  return name_of(out, kernel);
}
SIMTLAB_DRIVER_API DriverResult cuKernelGetParamInfo(const void* kernel, std::size_t index,
                                                     std::size_t* offset, std::size_t* bytes) {
  return parameter(kernel, index, offset, bytes);
}
SIMTLAB_DRIVER_API DriverResult cuKernelSetCacheConfig(const void* kernel, int, Device) {
  return hint(kernel);
}

// ---- occupancy

SIMTLAB_DRIVER_API DriverResult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* out, const void* function,
                                                                            int threads, std::size_t shared) {
  return with_function(function, [&](Runtime& r, KernelEntry& entry) {
    return blocks_per_sm(r, entry, threads, shared, out);
  });
}
SIMTLAB_DRIVER_API DriverResult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* out, const void* function, int threads, std::size_t shared, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(out, function, threads, shared);
}
SIMTLAB_DRIVER_API DriverResult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* function,
                                                                 std::size_t (*shared_of)(int),
                                                                 std::size_t shared, int limit) {
  return with_function(function, [&](Runtime& r, KernelEntry& entry) {
    return best_block(r, entry, shared_of, shared, limit, grid, block);
  });
}
SIMTLAB_DRIVER_API DriverResult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block,
                                                                          const void* function,
                                                                          std::size_t (*shared_of)(int),
                                                                          std::size_t shared, int limit,
                                                                          unsigned) {
  return cuOccupancyMaxPotentialBlockSize(grid, block, function, shared_of, shared, limit);
}
SIMTLAB_DRIVER_API DriverResult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* out,
                                                                        const void* function, int blocks,
                                                                        int threads) {
  return with_function(function, [&](Runtime& r, KernelEntry& entry) {
    return available_shared(r, entry, blocks, threads, out);
  });
}

// ---- launches

SIMTLAB_DRIVER_API DriverResult cuLaunchKernel(const void* function, unsigned grid_x, unsigned grid_y,
                                               unsigned grid_z, unsigned block_x, unsigned block_y,
                                               unsigned block_z, unsigned shared, StreamHandle stream,
                                               void** parameters, void** extra) {
  return launch_kernel({function,
                        {grid_x, grid_y, grid_z},
                        {block_x, block_y, block_z},
                        shared,
                        stream,
                        parameters,
                        extra,
                        {}});
}
SIMTLAB_DRIVER_API DriverResult cuLaunchKernelEx(const DriverLaunchConfig* config, const void* function,
                                                 void** parameters, void** extra) {
  if (config == nullptr) return driver_invalid_value;
  std::optional<Dim3Arg> cluster;
  const DriverResult allowed = in_context([&](Runtime& r) {
    return driver_result(
        read_attributes(r, config->attributes, config->attribute_count, "cuLaunchKernelEx", cluster));
  });
  if (allowed != driver_success) return allowed;
  return launch_kernel(
      {function, config->grid, config->block, config->shared, config->stream, parameters, extra, cluster});
}
SIMTLAB_DRIVER_API DriverResult cuLaunchCooperativeKernel() {
  return in_context([](Runtime& r) {
    return driver_result(r.unsupported("cuLaunchCooperativeKernel", "grid-wide synchronisation"));
  });
}
SIMTLAB_DRIVER_API DriverResult cuLaunchHostFunc(StreamHandle stream, void (*function)(void*), void* data) {
  return forward([&] { return cudaLaunchHostFunc(stream, function, data); });
}
SIMTLAB_CUDA_ALIAS(cuLaunchKernel_ptsz, cuLaunchKernel);
SIMTLAB_CUDA_ALIAS(cuLaunchKernelEx_ptsz, cuLaunchKernelEx);
SIMTLAB_CUDA_ALIAS(cuLaunchCooperativeKernel_ptsz, cuLaunchCooperativeKernel);
SIMTLAB_CUDA_ALIAS(cuLaunchHostFunc_ptsz, cuLaunchHostFunc);
