// Entry points of the mock driver: version, devices, context, memory, errors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "calls.h"

namespace simtlab::gpu::board::mock {

Result result_of(const Error& e) {
  if (e.code() == ExitCode::program_failed)
    return e.diagnostics().front().message.find("allocat") != std::string::npos ? illegal_address
                                                                                : launch_failed;
  if (e.id() == "launch-resources") return launch_out_of_resources;
  if (e.code() == ExitCode::bad_input) return invalid_value;
  return e.id().starts_with("memory-") || e.id() == "limit-memory" ? out_of_memory : unknown;
}

}  // namespace simtlab::gpu::board::mock

namespace {

DeviceState* device_at(DeviceHandle device) {
  State& s = state();
  return device >= 0 && static_cast<std::size_t>(device) < s.devices.size()
             ? s.devices[static_cast<std::size_t>(device)].get()
             : nullptr;
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
      options.ptx = gpu::Ptx::counts;  // as the simulated board has it
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
    const bool known = inside(d, device, bytes) && (kind != Gpu::CopyKind::device_to_device ||
                                                    inside(d, reinterpret_cast<DevicePointer>(from), bytes));
    if (!id || !known) return id ? invalid_value : invalid_handle;
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
// The host does not wait for a copy within the device, whichever function it calls.
Result cuMemcpyDtoD_v2(DevicePointer to, DevicePointer from, std::size_t bytes) {
  return cuMemcpyDtoDAsync_v2(to, from, bytes, nullptr);
}
Result cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t bytes, StreamHandle stream) {
  return copy_any(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), to, bytes,
                  Gpu::CopyKind::device_to_device, stream, true);
}
Result cuMemsetD8_v2(DevicePointer to, unsigned char value, std::size_t bytes) {
  return on_device([&](DeviceState& d, Gpu& gpu) {
    return inside(d, to, bytes) ? copied(gpu.fill(to, std::byte{value}, bytes, 0, false)) : invalid_value;
  });
}

// Errors, and the time.

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
