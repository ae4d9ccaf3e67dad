// The entry points themselves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/error.h"
#include "device/occupancy.h"
#include "mock.h"

#define MOCK_EXPORT extern "C" __attribute__((visibility("default")))

using namespace simtlab;
using namespace simtlab::gpu;
using namespace simtlab::gpu::board;
using namespace simtlab::gpu::board::mock;

// What is exported is what the table says, parameter for parameter.
#define MOCK_DECLARE(member, symbol, parameters) MOCK_EXPORT Result symbol parameters;
SIMTLAB_CUDA_NEEDED(MOCK_DECLARE)
SIMTLAB_CUDA_OPTIONAL(MOCK_DECLARE)
#undef MOCK_DECLARE
MOCK_EXPORT double simtlab_host_now_ns();

namespace {

Result result_of(const Error& e) {
  if (e.code() == ExitCode::program_failed)
    return e.diagnostics().front().message.find("allocat") != std::string::npos ? illegal_address
                                                                                : launch_failed;
  if (e.id() == "launch-resources") return launch_out_of_resources;
  if (e.code() == ExitCode::bad_input) return invalid_value;
  return e.id().starts_with("memory-") || e.id() == "limit-memory" ? out_of_memory : unknown;
}

template <class Work>
Result guarded(const Work& work) {
  try {
    return work();
  } catch (const Error& e) {
    if (std::getenv("SIMTLAB_MOCK_VERBOSE") != nullptr) std::fputs(e.format().c_str(), stderr);
    const Result result = result_of(e);
    if (e.code() == ExitCode::program_failed && state().current != nullptr) state().current->sticky = result;
    return result;
  } catch (const std::bad_alloc&) { return out_of_memory; } catch (...) {
    return unknown;
  }
}

// For calls that use the device of the current context.
template <class Work>
Result on_device(const Work& work) {
  State& s = state();
  if (!s.initialised) return not_initialized;
  if (s.current == nullptr || s.current->gpu == nullptr) return invalid_context;
  if (s.current->sticky != success) return s.current->sticky;
  return guarded([&]() -> Result { return work(*s.current, *s.current->gpu); });
}

DeviceState* device_at(DeviceHandle device) {
  State& s = state();
  return device >= 0 && static_cast<std::size_t>(device) < s.devices.size()
             ? s.devices[static_cast<std::size_t>(device)].get()
             : nullptr;
}

template <class Tag>
bool lives(const DeviceState& d, Tag* handle) {
  return d.handles.contains(handle);
}
template <class Tag>
Tag* keep(DeviceState& d, Tag tag) {
  const auto handle = std::make_shared<Tag>(std::move(tag));
  d.handles[handle.get()] = handle;
  return handle.get();
}
template <class Tag>
Result drop(DeviceState& d, Tag* handle) {
  return d.handles.erase(handle) == 0 ? invalid_handle : success;
}

// nullptr is the default stream.
std::optional<StreamId> stream_id(const DeviceState& d, StreamHandle stream) {
  if (stream == nullptr) return 0;
  if (!lives(d, stream)) return std::nullopt;
  return stream->id;
}

bool inside(const DeviceState& d, DevicePointer address, std::size_t bytes) {
  auto at = d.sizes.upper_bound(address);
  if (at == d.sizes.begin()) return false;
  --at;
  return address - at->first <= at->second && bytes <= at->second - (address - at->first);
}

Result copy_text(char* to, int room, const std::string& text) {
  if (room <= 0) return invalid_value;
  std::snprintf(to, static_cast<std::size_t>(room), "%s", text.c_str());
  return success;
}

// Before a launch: nullopt goes on.
std::optional<Result> refuse_launch(DeviceState& d, const FunctionTag& f, std::uint32_t shared_bytes) {
  if (std::uint64_t{f.static_shared} + shared_bytes >
      std::max<std::uint64_t>(d.facts.shared_bytes_per_block,
                              f.static_shared + std::uint64_t{f.max_dynamic_shared}))
    return invalid_value;
  if (d.launches >= state().faults.lost) return d.sticky = unknown;
  if (d.launches >= state().faults.hang) {
    d.hung = true;
    if (std::getenv("SIMTLAB_MOCK_VERBOSE") != nullptr)
      std::fputs("mock driver: this launch never ends\n", stderr);
    return success;
  }
  ++d.launches;
  d.asked = false;
  return std::nullopt;
}

// What a real driver takes from `extra`: one buffer.
std::optional<std::vector<std::byte>> arguments_of(void** parameters, void** extra) {
  if (parameters != nullptr || extra == nullptr) return std::nullopt;
  const std::byte* bytes = nullptr;
  std::size_t size = 0;
  for (; *extra != launch_end; extra += 2) {
    if (extra[0] == launch_buffer)
      bytes = static_cast<const std::byte*>(extra[1]);
    else if (extra[0] == launch_buffer_bytes)
      size = *static_cast<const std::size_t*>(extra[1]);
    else
      return std::nullopt;
  }
  if (bytes == nullptr && size > 0) return std::nullopt;
  return std::vector<std::byte>(bytes, bytes + size);
}

Result wait_or_not_yet(DeviceState& d, bool& asked) {
  if (d.hung || !std::exchange(asked, true)) return not_ready;
  return success;
}

// Calls that wait for kernels: with one that never ends nobody may make them.
void waits(const DeviceState& d) {
  if (!d.hung) return;
  std::fputs("mock driver: this call would wait for ever\n", stderr);
  std::abort();
}

Result copied(bool done) { return done ? success : invalid_value; }

}  // namespace

// The version and the devices.

Result cuInit(unsigned flags) {
  if (flags != 0) return invalid_value;
  return guarded([]() -> Result {
    State& s = state();
    try {
      start(s);
    } catch (const Error& e) {
      std::fputs(e.format().c_str(), stderr);
      return invalid_value;
    }
    if (s.faults.mismatch) return system_driver_mismatch;
    if (s.faults.permission) return not_permitted;
    return s.faults.no_device ? no_device : success;
  });
}
Result cuDriverGetVersion(int* version) {
  const char* given = std::getenv("SIMTLAB_MOCK_VERSION");
  *version = given == nullptr || *given == '\0' ? State{}.version : std::atoi(given);
  return success;
}
Result cuDeviceGetCount(int* count) {
  *count = static_cast<int>(state().devices.size());
  return state().initialised ? success : not_initialized;
}
Result cuDeviceGet(DeviceHandle* device, int ordinal) {
  *device = ordinal;
  return device_at(ordinal) == nullptr ? invalid_device : success;
}
Result cuDeviceGetName(char* name, int room, DeviceHandle device) {
  const DeviceState* d = device_at(device);
  return d == nullptr ? invalid_device : copy_text(name, room, d->facts.name);
}
Result cuDeviceTotalMem_v2(std::size_t* bytes, DeviceHandle device) {
  const DeviceState* d = device_at(device);
  if (d == nullptr) return invalid_device;
  *bytes = d->facts.memory_bytes;
  return success;
}
Result cuDeviceGetPCIBusId(char* id, int room, DeviceHandle device) {
  return device_at(device) == nullptr ? invalid_device
                                      : copy_text(id, room, fmt::format("0000:{:02X}:00.0", device + 1));
}
Result cuDeviceGetUuid_v2(Uuid* uuid, DeviceHandle device) {
  if (state().faults.no_uuid) return not_supported;
  if (device_at(device) == nullptr) return invalid_device;
  for (unsigned i = 0; i < sizeof uuid->bytes; ++i)
    uuid->bytes[i] = static_cast<unsigned char>(0x10 * i + static_cast<unsigned>(device));
  return success;
}
Result cuDeviceGetUuid(Uuid* uuid, DeviceHandle device) { return cuDeviceGetUuid_v2(uuid, device); }

Result cuDeviceGetAttribute(int* value, int which, DeviceHandle device) {
  const DeviceState* d = device_at(device);
  if (d == nullptr) return invalid_device;
  const BoardFacts& f = d->facts;
  const auto give = [&](auto number) {
    *value = static_cast<int>(number);
    return success;
  };
  switch (which) {
    case max_threads_per_block: return give(f.max_threads_per_block);
    case max_shared_per_block: return give(f.shared_bytes_per_block);
    case total_constant_memory: return give(f.constant_bytes);
    case warp_size: return give(f.warp_size);
    case clock_rate_khz: return give(std::llround(f.sm_clock_hz.value_or(0) / 1e3));
    case sm_count: return give(f.sms);
    case kernel_timeout:
    case integrated: return give(0);
    case compute_mode: return give(state().mode);
    case concurrent_kernels: return give(f.concurrent_kernels);
    case ecc_enabled: return give(0);
    case memory_clock_khz: return give(std::llround(f.memory_clock_hz.value_or(0) / 1e3));
    case bus_width_bits: return give(f.bus_bits.value_or(0));
    case l2_bytes: return give(f.l2_bytes.value_or(0));
    case max_threads_per_sm: return give(f.max_threads_per_sm);
    case copy_engines: return give(f.copy_engines);
    case cc_major: return give(f.cc_major);
    case cc_minor: return give(f.cc_minor);
    case global_l1_cache: return give(f.l1_caches_global.value_or(false));
    case max_shared_per_sm: return give(f.shared_bytes_per_sm);
    case max_registers_per_sm: return give(f.registers_per_sm);
    case max_shared_per_block_optin: return give(f.shared_bytes_per_block_optin);
    case max_blocks_per_sm: return state().version >= 11000 ? give(f.max_blocks_per_sm) : invalid_value;
    case reserved_shared_per_block:
      return state().version >= 11000 ? give(f.shared_reserved_per_block) : invalid_value;
    default: return invalid_value;
  }
}

// The context.

Result cuDevicePrimaryCtxRetain(Context* context, DeviceHandle device) {
  DeviceState* d = device_at(device);
  if (d == nullptr) return invalid_device;
  if (state().faults.busy) return state().faults.busy_old ? unknown : device_unavailable;
  return guarded([&] {
    if (d->retained++ == 0) {
      gpu::Options options;
      options.threads = 1;
      d->gpu = std::make_unique<Gpu>(d->device, options);
    }
    *context = reinterpret_cast<Context>(d);
    return success;
  });
}
Result cuDevicePrimaryCtxRelease_v2(DeviceHandle device) {
  DeviceState* d = device_at(device);
  if (d == nullptr || d->retained == 0) return invalid_context;
  if (--d->retained > 0) return success;
  waits(*d);
  // Whoever used it has to have given all back: the tests count on this.
  if (d->sticky == success && (!d->handles.empty() || !d->sizes.empty() || !d->host.empty()))
    std::fprintf(stderr, "mock driver: %zu handles, %zu allocations and %zu host allocations were left\n",
                 d->handles.size(), d->sizes.size(), d->host.size());
  d->gpu.reset();
  d->handles.clear();
  d->functions.clear();
  d->sizes.clear();
  for (void* memory : d->host) std::free(memory);
  d->host.clear();
  d->allocated = d->launches = 0;
  d->sticky = success;
  d->hung = false;
  return success;
}
Result cuDevicePrimaryCtxRelease(DeviceHandle device) { return cuDevicePrimaryCtxRelease_v2(device); }
Result cuCtxSetCurrent(Context context) {
  state().current = reinterpret_cast<DeviceState*>(context);
  return success;
}

// Memory.

Result cuMemAlloc_v2(DevicePointer* address, std::size_t bytes) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    if (bytes == 0) return invalid_value;
    if (bytes > state().faults.memory || d.allocated > state().faults.memory - bytes) return out_of_memory;
    const auto got = gpu.allocate(bytes, "mock");
    if (!got) return out_of_memory;
    *address = *got;
    d.sizes[*got] = bytes;
    d.allocated += bytes;
    return success;
  });
}
Result cuMemFree_v2(DevicePointer address) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    waits(d);
    const auto at = d.sizes.find(address);
    if (at == d.sizes.end()) return invalid_value;
    d.allocated -= at->second;
    d.sizes.erase(at);
    return copied(gpu.release(address));
  });
}
Result cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return on_device([&](DeviceState& d, Gpu&) {
    *total = d.facts.memory_bytes;
    *free = d.facts.memory_bytes - std::min(d.facts.memory_bytes, d.allocated + state().faults.used);
    return success;
  });
}
Result cuMemHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  return on_device([&](DeviceState& d, Gpu&) {
    if (bytes == 0 || flags != 0) return invalid_value;
    *memory = std::malloc(bytes);
    if (*memory == nullptr) return out_of_memory;
    d.host.insert(*memory);
    return success;
  });
}
Result cuMemFreeHost(void* memory) {
  return on_device([&](DeviceState& d, Gpu&) {
    waits(d);
    if (d.host.erase(memory) == 0) return invalid_value;
    std::free(memory);
    return success;
  });
}

namespace {

Result copy_any(void* to, const void* from, DevicePointer device, std::size_t bytes, Gpu::CopyKind kind,
                StreamHandle stream, bool async) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    const auto id = stream_id(d, stream);
    if (!id || !inside(d, device, bytes)) return id ? invalid_value : invalid_handle;
    if (async)
      d.asked = false;
    else
      waits(d);
    return copied(gpu.copy(to, from, bytes, kind, *id, async));
  });
}

}  // namespace

Result cuMemcpyHtoD_v2(DevicePointer to, const void* from, std::size_t bytes) {
  return copy_any(reinterpret_cast<void*>(to), from, to, bytes, Gpu::CopyKind::host_to_device, nullptr,
                  false);
}
Result cuMemcpyDtoH_v2(void* to, DevicePointer from, std::size_t bytes) {
  return copy_any(to, reinterpret_cast<const void*>(from), from, bytes, Gpu::CopyKind::device_to_host,
                  nullptr, false);
}
Result cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t bytes, StreamHandle stream) {
  return copy_any(reinterpret_cast<void*>(to), from, to, bytes, Gpu::CopyKind::host_to_device, stream, true);
}
Result cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t bytes, StreamHandle stream) {
  return copy_any(to, reinterpret_cast<const void*>(from), from, bytes, Gpu::CopyKind::device_to_host, stream,
                  true);
}
Result cuMemsetD8_v2(DevicePointer to, unsigned char value, std::size_t bytes) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    return inside(d, to, bytes) ? copied(gpu.fill(to, std::byte{value}, bytes, 0, false)) : invalid_value;
  });
}

// Modules and functions.

Result cuModuleLoadDataEx(ModuleHandle* module, const void* image, unsigned options, int* names,
                          void** values) {
  const auto log = [&](const std::string& text) {
    char* to = nullptr;
    std::size_t room = 0;
    for (unsigned i = 0; i < options; ++i) {
      if (names[i] == jit_error_log) to = static_cast<char*>(values[i]);
      if (names[i] == jit_error_log_bytes) room = reinterpret_cast<std::uintptr_t>(values[i]);
    }
    if (to != nullptr && room > 0) std::snprintf(to, room, "%s", text.c_str());
  };
  return on_device([&](DeviceState& d, Gpu& gpu) {
    const char* ptx = static_cast<const char*>(image);
    Result result = success;
    if (const std::string why = refusal(state(), d.device, ptx, result); !why.empty()) {
      log(why);
      return result;
    }
    try {
      *module = keep(d, ModuleTag{gpu.load_module("mock.ptx", ptx)});
    } catch (const Error& e) {
      log(e.format());
      return invalid_ptx;
    }
    return success;
  });
}
Result cuModuleUnload(ModuleHandle module) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    if (!lives(d, module)) return invalid_handle;
    waits(d);
    std::erase_if(d.functions, [&](const auto& f) { return f.second.second == module; });
    gpu.unload_module(module->id);
    return drop(d, module);
  });
}
Result cuModuleGetFunction(FunctionHandle* function, ModuleHandle module, const char* name) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    if (!lives(d, module)) return invalid_handle;
    const auto kernel = gpu.find_kernel(module->id, name);
    if (!kernel) return not_found;
    const ptx::Function& f = gpu.module(kernel->module).functions[kernel->function];
    auto tag =
        std::make_unique<FunctionTag>(FunctionTag{*kernel, f.shared_bytes, std::max(1u, f.registers), 0});
    *function = tag.get();
    d.functions[*function] = {std::move(tag), module};
    return success;
  });
}
Result cuFuncGetAttribute(int* value, int which, FunctionHandle function) {
  return on_device([&](DeviceState& d, Gpu&) {
    if (!d.functions.contains(function)) return invalid_handle;
    if (which == function_registers)
      *value = static_cast<int>(function->registers);
    else if (which == function_shared_bytes)
      *value = static_cast<int>(function->static_shared);
    else
      return invalid_value;
    return success;
  });
}
Result cuFuncSetAttribute(FunctionHandle function, int which, int value) {
  return on_device([&](DeviceState& d, Gpu&) {
    if (!d.functions.contains(function)) return invalid_handle;
    if (which == function_carve_out) return value >= -1 && value <= 100 ? success : invalid_value;
    if (which != function_max_dynamic_shared || value < 0 ||
        std::uint64_t{function->static_shared} + static_cast<std::uint32_t>(value) >
            d.facts.shared_bytes_per_block_optin)
      return invalid_value;
    function->max_dynamic_shared = static_cast<std::uint32_t>(value);
    return success;
  });
}
Result cuFuncSetCacheConfig(FunctionHandle function, int preference) {
  return on_device([&](DeviceState& d, Gpu&) {
    return d.functions.contains(function) && preference >= 0 && preference <= 3 ? success : invalid_value;
  });
}
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, FunctionHandle function, int threads,
                                                   std::size_t shared_bytes) {
  return on_device([&](DeviceState& d, Gpu&) {
    if (threads <= 0 || !d.functions.contains(function)) return invalid_value;
    *blocks = static_cast<int>(device::occupancy(d.device, static_cast<std::uint32_t>(threads),
                                                 function->registers, shared_bytes + function->static_shared)
                                   .blocks_per_sm);
    return success;
  });
}

// Launches.

Result cuLaunchKernel(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                      StreamHandle stream, void** parameters, void** extra) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    const auto id = stream_id(d, stream);
    const auto arguments = arguments_of(parameters, extra);
    if (!id || !d.functions.contains(function)) return invalid_handle;
    if (!arguments) return invalid_value;
    if (const auto refused = refuse_launch(d, *function, shared_bytes)) return *refused;
    gpu.launch(function->kernel, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes,
               *arguments, *id);
    return success;
  });
}
Result cuGraphCreate(Graph* graph, unsigned flags) {
  return on_device([&](DeviceState& d, Gpu&) {
    *graph = keep(d, GraphTag{});
    return flags == 0 ? success : invalid_value;
  });
}
Result cuGraphAddKernelNode(GraphNode* node, Graph graph, const GraphNode* after, std::size_t count,
                            const KernelNode* kernel) {
  return on_device([&](DeviceState& d, Gpu&) {
    auto arguments = arguments_of(kernel->parameters, kernel->extra);
    // A chain, each after the one before: all that the simulator's graph is asked for.
    const bool chained =
        graph->nodes.empty() ? count == 0 : count == 1 && *after == graph->nodes.back().get();
    if (!lives(d, graph) || !arguments || !chained) return invalid_value;
    graph->nodes.push_back(
        std::make_unique<GraphNodeTag>(GraphNodeTag{kernel->function,
                                                    {kernel->grid_x, kernel->grid_y, kernel->grid_z},
                                                    {kernel->block_x, kernel->block_y, kernel->block_z},
                                                    kernel->shared_bytes,
                                                    std::move(*arguments)}));
    *node = graph->nodes.back().get();
    return success;
  });
}
Result cuGraphInstantiateWithFlags(GraphExec* exec, Graph graph, unsigned long long flags) {
  return on_device([&](DeviceState& d, Gpu&) {
    if (!lives(d, graph) || flags != 0) return invalid_value;
    GraphExecTag tag;
    for (const auto& node : graph->nodes) tag.nodes.push_back(*node);
    *exec = keep(d, std::move(tag));
    return success;
  });
}
Result cuGraphInstantiate_v2(GraphExec* exec, Graph graph, GraphNode*, char*, std::size_t) {
  return cuGraphInstantiateWithFlags(exec, graph, 0);
}
Result cuGraphLaunch(GraphExec exec, StreamHandle stream) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    const auto id = stream_id(d, stream);
    if (!id || !lives(d, exec)) return invalid_handle;
    bool paid = false;
    for (const GraphNodeTag& node : exec->nodes) {
      if (const auto refused = refuse_launch(d, *node.function, node.shared_bytes)) return *refused;
      gpu.launch(node.function->kernel, node.grid, node.block, node.shared_bytes, node.arguments, *id,
                 std::exchange(paid, true));
    }
    return success;
  });
}
Result cuGraphExecDestroy(GraphExec exec) {
  return on_device([&](DeviceState& d, Gpu&) { return drop(d, exec); });
}
Result cuGraphDestroy(Graph graph) {
  return on_device([&](DeviceState& d, Gpu&) { return drop(d, graph); });
}

// Streams and events.

Result cuStreamCreate(StreamHandle* stream, unsigned flags) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    *stream = keep(d, StreamTag{gpu.create_stream(flags == stream_non_blocking)});
    return success;
  });
}
Result cuStreamDestroy_v2(StreamHandle stream) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    if (!lives(d, stream)) return invalid_handle;
    gpu.destroy_stream(stream->id);
    return drop(d, stream);
  });
}
Result cuStreamQuery(StreamHandle stream) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    const auto id = stream_id(d, stream);
    if (!id) return invalid_handle;
    if (const Result result = wait_or_not_yet(d, d.asked); result != success) return result;
    gpu.synchronize(*id);
    return success;
  });
}
Result cuEventCreate(EventHandle* event, unsigned) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    *event = keep(d, EventTag{gpu.create_event(), false, false});
    return success;
  });
}
Result cuEventDestroy_v2(EventHandle event) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    if (!lives(d, event)) return invalid_handle;
    gpu.destroy_event(event->id);
    return drop(d, event);
  });
}
Result cuEventRecord(EventHandle event, StreamHandle stream) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    const auto id = stream_id(d, stream);
    if (!id || !lives(d, event)) return invalid_handle;
    gpu.record_event(event->id, *id);
    event->recorded = true, event->asked = false;
    return success;
  });
}
Result cuEventQuery(EventHandle event) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    if (!lives(d, event) || !event->recorded) return invalid_handle;
    if (const Result result = wait_or_not_yet(d, event->asked); result != success) return result;
    return gpu.event_time_ns(event->id) ? success : unknown;
  });
}
Result cuEventElapsedTime(float* ms, EventHandle from, EventHandle to) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    if (!lives(d, from) || !lives(d, to) || !from->recorded || !to->recorded) return invalid_handle;
    const auto begin = gpu.event_time_ns(from->id), end = gpu.event_time_ns(to->id);
    if (!begin || !end) return not_ready;
    *ms = static_cast<float>((*end - *begin) * 1e-6);
    return success;
  });
}

Result cuGetErrorName(Result result, const char** name) {
  switch (result) {
    case success: *name = "CUDA_SUCCESS"; break;
    case invalid_value: *name = "CUDA_ERROR_INVALID_VALUE"; break;
    case out_of_memory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
    case device_unavailable: *name = "CUDA_ERROR_DEVICE_UNAVAILABLE"; break;
    case no_device: *name = "CUDA_ERROR_NO_DEVICE"; break;
    case invalid_ptx: *name = "CUDA_ERROR_INVALID_PTX"; break;
    case unsupported_ptx_version: *name = "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"; break;
    case illegal_address: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; break;
    case launch_failed: *name = "CUDA_ERROR_LAUNCH_FAILED"; break;
    case system_driver_mismatch: *name = "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"; break;
    case not_permitted: *name = "CUDA_ERROR_NOT_PERMITTED"; break;
    case unknown: *name = "CUDA_ERROR_UNKNOWN"; break;
    default: return invalid_value;
  }
  return success;
}
Result cuGetErrorString(Result result, const char** text) {
  *text = "as the mock driver was told to answer";
  return result == success ? invalid_value : success;
}

// The host's time is simulated, too: what is measured with it does not depend on how fast the simulator is.
double simtlab_host_now_ns() {
  return state().current == nullptr || state().current->gpu == nullptr ? 0 : state().current->gpu->now_ns();
}
