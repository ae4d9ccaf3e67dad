// The part of the CUDA driver API that simtlab calls: names, prototypes and numbers, so that no toolkit is
// needed to build it and no driver to start it. Numbers and prototypes are those that NVIDIA's "CUDA Driver
// API" reference manual documents (13.4; sections "Data types used by CUDA driver", "Module Management",
// "Graph Management" and the deprecated forms of older ones), which promises that they do not change: a later
// form of a function gets a name with _v2, and libcuda.so keeps the earlier ones. tests/mockcuda implements
// the same table on the simulator.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simtlab::gpu::board {

using DeviceHandle = int;
using DevicePointer = unsigned long long;
using Context = struct ContextTag*;
using ModuleHandle = struct ModuleTag*;
using FunctionHandle = struct FunctionTag*;
using StreamHandle = struct StreamTag*;
using EventHandle = struct EventTag*;
using Graph = struct GraphTag*;
using GraphNode = struct GraphNodeTag*;
using GraphExec = struct GraphExecTag*;
struct Uuid {
  unsigned char bytes[16];
};

struct KernelNode {  // CUDA_KERNEL_NODE_PARAMS_v1
  FunctionHandle function;
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  void** parameters;
  void** extra;
};

// CUresult, as far as it is told apart here.
using Result = int;
inline constexpr Result success = 0, invalid_value = 1, out_of_memory = 2, not_initialized = 3,
                        deinitialized = 4, stub_library = 34, device_unavailable = 46, no_device = 100,
                        invalid_device = 101, invalid_image = 200, invalid_context = 201,
                        no_binary_for_gpu = 209, ecc_uncorrectable = 214, invalid_ptx = 218,
                        nvlink_uncorrectable = 220, jit_compiler_not_found = 221,
                        unsupported_ptx_version = 222, jit_compilation_disabled = 223, invalid_source = 300,
                        operating_system = 304, invalid_handle = 400, not_found = 500, not_ready = 600,
                        illegal_address = 700, launch_out_of_resources = 701, launch_timeout = 702,
                        context_is_destroyed = 709, device_assert = 710, hardware_stack_error = 714,
                        illegal_instruction = 715, misaligned_address = 716, invalid_address_space = 717,
                        invalid_pc = 718, launch_failed = 719, not_permitted = 800, not_supported = 801,
                        system_not_ready = 802, system_driver_mismatch = 803, compat_not_supported = 804,
                        unknown = 999;

// CUdevice_attribute.
enum Attribute : int {
  max_threads_per_block = 1,
  max_shared_per_block = 8,
  total_constant_memory = 9,
  warp_size = 10,
  clock_rate_khz = 13,
  sm_count = 16,
  kernel_timeout = 17,
  integrated = 18,
  compute_mode = 20,
  concurrent_kernels = 31,
  ecc_enabled = 32,
  memory_clock_khz = 36,
  bus_width_bits = 37,
  l2_bytes = 38,
  max_threads_per_sm = 39,
  copy_engines = 40,
  cc_major = 75,
  cc_minor = 76,
  global_l1_cache = 79,
  max_shared_per_sm = 81,
  max_registers_per_sm = 82,
  max_shared_per_block_optin = 97,
  max_blocks_per_sm = 106,
  reserved_shared_per_block = 111,
};
// CUcomputemode
inline constexpr int mode_default = 0, mode_exclusive_thread = 1, mode_prohibited = 2,
                     mode_exclusive_process = 3;

// CUfunction_attribute, CUfunc_cache, CUjit_option, CUstream_flags, and what ends the list `extra` of a
// launch.
inline constexpr int function_shared_bytes = 1, function_registers = 4, function_max_dynamic_shared = 8,
                     function_carve_out = 9;
inline constexpr int carve_out_max_l1 = 0, cache_prefer_l1 = 2;
inline constexpr int jit_info_log = 3, jit_info_log_bytes = 4, jit_error_log = 5, jit_error_log_bytes = 6;
inline constexpr unsigned stream_non_blocking = 1;
inline void* const launch_end = nullptr;
inline void* const launch_buffer = reinterpret_cast<void*>(std::uintptr_t{1});
inline void* const launch_buffer_bytes = reinterpret_cast<void*>(std::uintptr_t{2});

// The oldest driver: CUDA 9.0 (R384) has all of the first table, and R390 (9.1) is the last one for Fermi.
inline constexpr int oldest_version = 9000;

// F(member, symbol, parameters): what must be there, and what may be missing.
#define SIMTLAB_CUDA_NEEDED(F)                                                                          \
  F(init, cuInit, (unsigned flags))                                                                     \
  F(driver_version, cuDriverGetVersion, (int* version))                                                 \
  F(device_count, cuDeviceGetCount, (int* count))                                                       \
  F(device_get, cuDeviceGet, (DeviceHandle * device, int ordinal))                                      \
  F(device_name, cuDeviceGetName, (char* name, int room, DeviceHandle device))                          \
  F(device_memory, cuDeviceTotalMem_v2, (std::size_t * bytes, DeviceHandle device))                     \
  F(device_attribute, cuDeviceGetAttribute, (int* value, int attribute, DeviceHandle device))           \
  F(device_bus_id, cuDeviceGetPCIBusId, (char* id, int room, DeviceHandle device))                      \
  F(context_retain, cuDevicePrimaryCtxRetain, (Context * context, DeviceHandle device))                 \
  F(context_set, cuCtxSetCurrent, (Context context))                                                    \
  F(allocate, cuMemAlloc_v2, (DevicePointer * address, std::size_t bytes))                              \
  F(release, cuMemFree_v2, (DevicePointer address))                                                     \
  F(memory_info, cuMemGetInfo_v2, (std::size_t * free, std::size_t * total))                            \
  F(allocate_host, cuMemHostAlloc, (void** memory, std::size_t bytes, unsigned flags))                  \
  F(release_host, cuMemFreeHost, (void* memory))                                                        \
  F(copy_in, cuMemcpyHtoD_v2, (DevicePointer to, const void* from, std::size_t bytes))                  \
  F(copy_out, cuMemcpyDtoH_v2, (void* to, DevicePointer from, std::size_t bytes))                       \
  F(copy_in_async, cuMemcpyHtoDAsync_v2,                                                                \
    (DevicePointer to, const void* from, std::size_t bytes, StreamHandle stream))                       \
  F(copy_out_async, cuMemcpyDtoHAsync_v2,                                                               \
    (void* to, DevicePointer from, std::size_t bytes, StreamHandle stream))                             \
  F(copy_within, cuMemcpyDtoD_v2, (DevicePointer to, DevicePointer from, std::size_t bytes))            \
  F(copy_within_async, cuMemcpyDtoDAsync_v2,                                                            \
    (DevicePointer to, DevicePointer from, std::size_t bytes, StreamHandle stream))                     \
  F(fill, cuMemsetD8_v2, (DevicePointer to, unsigned char value, std::size_t bytes))                    \
  F(module_load, cuModuleLoadDataEx,                                                                    \
    (ModuleHandle * module, const void* image, unsigned options, int* names, void** values))            \
  F(module_unload, cuModuleUnload, (ModuleHandle module))                                               \
  F(module_function, cuModuleGetFunction,                                                               \
    (FunctionHandle * function, ModuleHandle module, const char* name))                                 \
  F(function_attribute, cuFuncGetAttribute, (int* value, int attribute, FunctionHandle function))       \
  F(function_set, cuFuncSetAttribute, (FunctionHandle function, int attribute, int value))              \
  F(function_cache, cuFuncSetCacheConfig, (FunctionHandle function, int preference))                    \
  F(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                             \
    (int* blocks, FunctionHandle function, int threads, std::size_t shared_bytes))                      \
  F(launch, cuLaunchKernel,                                                                             \
    (FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,      \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, StreamHandle stream, void** parameters, \
     void** extra))                                                                                     \
  F(stream_create, cuStreamCreate, (StreamHandle * stream, unsigned flags))                             \
  F(stream_destroy, cuStreamDestroy_v2, (StreamHandle stream))                                          \
  F(stream_query, cuStreamQuery, (StreamHandle stream))                                                 \
  F(event_create, cuEventCreate, (EventHandle * event, unsigned flags))                                 \
  F(event_destroy, cuEventDestroy_v2, (EventHandle event))                                              \
  F(event_record, cuEventRecord, (EventHandle event, StreamHandle stream))                              \
  F(event_query, cuEventQuery, (EventHandle event))                                                     \
  F(event_elapsed, cuEventElapsedTime, (float* ms, EventHandle from, EventHandle to))                   \
  F(error_name, cuGetErrorName, (Result result, const char** name))                                     \
  F(error_text, cuGetErrorString, (Result result, const char** text))

// Since CUDA 9.2 and 11.4; 7.0 and 11.0; graphs since 10.0, and in these forms since 11.0 and 11.4.
#define SIMTLAB_CUDA_OPTIONAL(F)                                                                          \
  F(device_uuid, cuDeviceGetUuid, (Uuid * uuid, DeviceHandle device))                                     \
  F(device_uuid_v2, cuDeviceGetUuid_v2, (Uuid * uuid, DeviceHandle device))                               \
  F(context_release, cuDevicePrimaryCtxRelease, (DeviceHandle device))                                    \
  F(context_release_v2, cuDevicePrimaryCtxRelease_v2, (DeviceHandle device))                              \
  F(graph_create, cuGraphCreate, (Graph * graph, unsigned flags))                                         \
  F(graph_add_kernel, cuGraphAddKernelNode,                                                               \
    (GraphNode * node, Graph graph, const GraphNode* after, std::size_t count, const KernelNode* kernel)) \
  F(graph_instantiate, cuGraphInstantiateWithFlags,                                                       \
    (GraphExec * exec, Graph graph, unsigned long long flags))                                            \
  F(graph_instantiate_v2, cuGraphInstantiate_v2,                                                          \
    (GraphExec * exec, Graph graph, GraphNode * failed, char* log, std::size_t room))                     \
  F(graph_launch, cuGraphLaunch, (GraphExec exec, StreamHandle stream))                                   \
  F(graph_exec_destroy, cuGraphExecDestroy, (GraphExec exec))                                             \
  F(graph_destroy, cuGraphDestroy, (Graph graph))

}  // namespace simtlab::gpu::board
