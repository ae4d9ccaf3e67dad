// Memory: allocation, what a pointer is, and fills. Copies: api_copy.cpp.
#include <algorithm>
#include <cstring>

#include "hosts/cuda/driver/driver.h"
#include "hosts/cuda/driver/runtime_calls.h"
#include "hosts/cuda/transfer.h"

using namespace simtlab::hosts::cuda;
namespace gpu = simtlab::gpu;

namespace {

void* pointer(DevicePointer address) { return reinterpret_cast<void*>(address); }
void** place(DevicePointer* out) { return reinterpret_cast<void**>(out); }

// CUpointer_attribute.
enum : int {
  pointer_context = 1,
  pointer_memory_type = 2,
  pointer_device = 3,
  pointer_host = 4,
  pointer_sync = 6,
  pointer_buffer = 7,
  pointer_managed = 8,
  pointer_ordinal = 9,
  pointer_ipc = 10,
  pointer_range_start = 11,
  pointer_range_bytes = 12,
  pointer_mapped = 13,
  pointer_handle_types = 14,
  pointer_last = 21,
};
constexpr int memory_host = 1, memory_device = 2;

template <typename T>
DriverResult store(void* out, T value) {
  std::memcpy(out, &value, sizeof value);
  return driver_success;
}

DriverResult pointer_attribute(Runtime& r, void* out, int attribute, DevicePointer address) {
  if (out == nullptr || attribute < 1 || attribute > pointer_last) return driver_invalid_value;
  const MemoryKind* const kind = r.kind_of(pointer(address));
  const bool host_only = kind == nullptr && (r.plain_host.contains(pointer(address)) ||
                                             r.registered_host.contains(pointer(address)));
  if (kind == nullptr && !host_only) return driver_invalid_value;
  const bool on_device = kind != nullptr && *kind != MemoryKind::host;
  const simtlab::exec::Allocation* const all = r.gpu().memory().find(address);
  switch (attribute) {
    case pointer_context: return store(out, r.contexts.current());
    case pointer_memory_type:
      return store(out, static_cast<unsigned>(on_device ? memory_device : memory_host));
    case pointer_device: return host_only ? driver_invalid_value : store(out, address);
    case pointer_host:
      return kind != nullptr && *kind == MemoryKind::device ? driver_invalid_value
                                                            : store(out, pointer(address));
    case pointer_managed: return store(out, kind != nullptr && *kind == MemoryKind::managed ? 1u : 0u);
    case pointer_ordinal: return store(out, 0);
    case pointer_buffer: return store(out, all == nullptr ? address : all->address);
    case pointer_range_start: return store(out, all == nullptr ? address : all->address);
    case pointer_range_bytes: return store(out, all == nullptr ? std::size_t{0} : std::size_t{all->bytes});
    case pointer_mapped: return store(out, host_only ? 0u : 1u);
    case pointer_sync:
    case pointer_ipc: return store(out, 0u);
    case pointer_handle_types: return store(out, std::uint64_t{0});
    default: return driver_not_supported;
  }
}

// Fills with elements of `bytes` bytes. The GPU fills with bytes: another pattern is written here, after what
// the stream does before and at the time that a fill takes.
struct Fill {
  DevicePointer address;
  std::size_t pitch, width, height;  // width in elements
  unsigned value;
  std::size_t bytes;
};

bool one_byte(const Fill& f) {
  const unsigned byte = f.value & 0xff;
  return f.bytes == 1 || (f.bytes == 2 ? (f.value & 0xffff) == byte * 0x101 : f.value == byte * 0x1010101);
}

CudaError fill_pattern(Runtime& r, const Fill& f, StreamHandle handle) {
  const std::optional<gpu::StreamId> stream = r.stream(handle);
  if (!stream) return error_invalid_resource_handle;
  if (r.graphs.capture_of(*stream) != nullptr)
    return r.unsupported("cuMemsetD16Async and cuMemsetD32Async", "a stream that is captured");
  gpu::Gpu& gpu = r.gpu();
  gpu.synchronize(*stream);
  const std::size_t row_bytes = f.width * f.bytes;
  for (std::size_t y = 0; y < f.height; ++y) {
    const DevicePointer row = f.address + y * f.pitch;
    if (gpu.memory().find(row, row_bytes) == nullptr) return error_invalid_value;
    std::byte* const to = gpu.memory().host(row);
    for (std::size_t x = 0; x < f.width; ++x) std::memcpy(to + x * f.bytes, &f.value, f.bytes);
    gpu.note_written(row, row_bytes);
  }
  gpu.charge_fill(row_bytes * f.height, *stream, true);
  return success;
}

DriverResult fill(const Fill& f, StreamHandle stream) {
  return in_context([&](Runtime& r) {
    std::size_t row = 0;
    if (f.width == 0 || f.height == 0) return driver_success;
    if (f.address % f.bytes != 0 || f.pitch % f.bytes != 0 ||
        __builtin_mul_overflow(f.width, f.bytes, &row) || (f.height > 1 && row > f.pitch))
      return driver_invalid_value;
    if (!one_byte(f)) return driver_result(fill_pattern(r, f, stream));
    gpu::Gpu::Box box;
    box.width = row;
    box.height = f.height;
    box.dst_pitch = f.pitch;
    return driver_result(
        fill_box(r, pointer(f.address), static_cast<int>(f.value & 0xff), box, stream, true));
  });
}

DriverResult allocate(DevicePointer* out, std::size_t bytes) {
  if (bytes == 0) return driver_invalid_value;
  return forward([&] { return cudaMalloc(place(out), bytes); });
}

}  // namespace

// ---- allocation

SIMTLAB_DRIVER_API DriverResult cuMemAlloc_v2(DevicePointer* out, std::size_t bytes) {
  return allocate(out, bytes);
}
SIMTLAB_DRIVER_API DriverResult cuMemFree_v2(DevicePointer address) {
  return forward([&] { return cudaFree(pointer(address)); });
}
SIMTLAB_DRIVER_API DriverResult cuMemAllocAsync(DevicePointer* out, std::size_t bytes, StreamHandle stream) {
  if (bytes == 0) return driver_invalid_value;
  return forward([&] { return cudaMallocAsync(place(out), bytes, stream); });
}
SIMTLAB_DRIVER_API DriverResult cuMemFreeAsync(DevicePointer address, StreamHandle stream) {
  return forward([&] { return cudaFreeAsync(pointer(address), stream); });
}
SIMTLAB_DRIVER_API DriverResult cuMemAllocPitch_v2(DevicePointer* out, std::size_t* pitch, std::size_t width,
                                                   std::size_t height, unsigned) {
  return forward([&] { return cudaMallocPitch(place(out), pitch, width, height); });
}
SIMTLAB_DRIVER_API DriverResult cuMemAllocHost_v2(void** out, std::size_t bytes) {
  return forward([&] { return cudaMallocHost(out, bytes); });
}
SIMTLAB_DRIVER_API DriverResult cuMemHostAlloc(void** out, std::size_t bytes, unsigned flags) {
  return forward([&] { return cudaHostAlloc(out, bytes, flags); });
}
SIMTLAB_DRIVER_API DriverResult cuMemFreeHost(void* host) {
  return forward([&] { return cudaFreeHost(host); });
}
SIMTLAB_DRIVER_API DriverResult cuMemHostGetDevicePointer_v2(DevicePointer* out, void* host, unsigned flags) {
  return forward([&] { return cudaHostGetDevicePointer(place(out), host, flags); });
}
SIMTLAB_DRIVER_API DriverResult cuMemHostGetFlags(unsigned* out, void* host) {
  return forward([&] { return cudaHostGetFlags(out, host); });
}
SIMTLAB_DRIVER_API DriverResult cuMemHostRegister_v2(void* host, std::size_t bytes, unsigned flags) {
  return forward([&] { return cudaHostRegister(host, bytes, flags); });
}
SIMTLAB_CUDA_ALIAS(cuMemHostRegister, cuMemHostRegister_v2);
SIMTLAB_DRIVER_API DriverResult cuMemHostUnregister(void* host) {
  return forward([&] { return cudaHostUnregister(host); });
}
SIMTLAB_DRIVER_API DriverResult cuMemAllocManaged(DevicePointer* out, std::size_t bytes, unsigned flags) {
  return forward([&] { return cudaMallocManaged(place(out), bytes, flags); });
}
SIMTLAB_DRIVER_API DriverResult cuMemAdvise(DevicePointer address, std::size_t bytes) {
  return forward([&] { return cudaMemAdvise(pointer(address), bytes); });
}
SIMTLAB_DRIVER_API DriverResult cuMemPrefetchAsync(DevicePointer address, std::size_t bytes) {
  return forward([&] { return cudaMemPrefetchAsync(pointer(address), bytes); });
}
SIMTLAB_DRIVER_API DriverResult cuStreamAttachMemAsync(StreamHandle stream, DevicePointer address,
                                                       std::size_t bytes, unsigned flags) {
  return forward([&] { return cudaStreamAttachMemAsync(stream, pointer(address), bytes, flags); });
}
SIMTLAB_CUDA_ALIAS(cuMemAllocAsync_ptsz, cuMemAllocAsync);
SIMTLAB_CUDA_ALIAS(cuMemFreeAsync_ptsz, cuMemFreeAsync);
SIMTLAB_CUDA_ALIAS(cuMemAdvise_v2, cuMemAdvise);
SIMTLAB_CUDA_ALIAS(cuMemPrefetchAsync_v2, cuMemPrefetchAsync);
SIMTLAB_CUDA_ALIAS(cuMemPrefetchAsync_ptsz, cuMemPrefetchAsync);
SIMTLAB_CUDA_ALIAS(cuMemPrefetchAsync_v2_ptsz, cuMemPrefetchAsync);
SIMTLAB_CUDA_ALIAS(cuStreamAttachMemAsync_ptsz, cuStreamAttachMemAsync);

// ---- what a pointer is

SIMTLAB_DRIVER_API DriverResult cuMemGetAddressRange_v2(DevicePointer* base, std::size_t* bytes,
                                                        DevicePointer address) {
  return in_context([&](Runtime& r) {
    const simtlab::exec::Allocation* const found = r.gpu().memory().find(address);
    if (found == nullptr) return driver_not_found;
    if (base != nullptr) *base = found->address;
    if (bytes != nullptr) *bytes = found->bytes;
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuPointerGetAttribute(void* out, int attribute, DevicePointer address) {
  return in_context([&](Runtime& r) { return pointer_attribute(r, out, attribute, address); });
}
// Of memory that the device does not know each answer is zero.
SIMTLAB_DRIVER_API DriverResult cuPointerGetAttributes(unsigned count, const int* attributes, void** out,
                                                       DevicePointer address) {
  return in_context([&](Runtime& r) {
    if (attributes == nullptr || out == nullptr) return driver_invalid_value;
    for (unsigned i = 0; i < count; ++i) {
      if (attributes[i] < 1 || attributes[i] > pointer_last || out[i] == nullptr) return driver_invalid_value;
      if (pointer_attribute(r, out[i], attributes[i], address) == driver_success) continue;
      const bool wide = attributes[i] == pointer_context || attributes[i] == pointer_device ||
                        attributes[i] == pointer_host || attributes[i] == pointer_buffer ||
                        attributes[i] == pointer_range_start || attributes[i] == pointer_range_bytes ||
                        attributes[i] == pointer_handle_types;
      if (attributes[i] == pointer_ordinal)
        store(out[i], -2);
      else if (wide)
        store(out[i], std::uint64_t{0});
      else
        store(out[i], 0u);
    }
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuPointerSetAttribute(const void*, int attribute, DevicePointer address) {
  return in_context([&](Runtime& r) {
    if (attribute != pointer_sync || r.kind_of(pointer(address)) == nullptr) return driver_invalid_value;
    return driver_success;  // copies of one stream wait for each other here
  });
}

// ---- fills

#define SIMTLAB_FILL(name, type, size)                                                                   \
  SIMTLAB_DRIVER_API DriverResult cuMemset##name##_v2(DevicePointer to, type value, std::size_t count) { \
    return fill({to, 0, count, 1, value, size}, 0);                                                      \
  }                                                                                                      \
  SIMTLAB_DRIVER_API DriverResult cuMemset##name##Async(DevicePointer to, type value, std::size_t count, \
                                                        StreamHandle stream) {                           \
    return fill({to, 0, count, 1, value, size}, stream);                                                 \
  }                                                                                                      \
  SIMTLAB_CUDA_ALIAS(cuMemset##name##_v2_ptds, cuMemset##name##_v2);                                     \
  SIMTLAB_CUDA_ALIAS(cuMemset##name##Async_ptsz, cuMemset##name##Async)
#define SIMTLAB_FILL_2D(name, type, size)                                                                \
  SIMTLAB_DRIVER_API DriverResult cuMemset##name##_v2(DevicePointer to, std::size_t pitch, type value,   \
                                                      std::size_t width, std::size_t height) {           \
    return fill({to, pitch, width, height, value, size}, 0);                                             \
  }                                                                                                      \
  SIMTLAB_DRIVER_API DriverResult cuMemset##name##Async(DevicePointer to, std::size_t pitch, type value, \
                                                        std::size_t width, std::size_t height,           \
                                                        StreamHandle stream) {                           \
    return fill({to, pitch, width, height, value, size}, stream);                                        \
  }                                                                                                      \
  SIMTLAB_CUDA_ALIAS(cuMemset##name##_v2_ptds, cuMemset##name##_v2);                                     \
  SIMTLAB_CUDA_ALIAS(cuMemset##name##Async_ptsz, cuMemset##name##Async)
SIMTLAB_FILL(D8, unsigned char, 1);
SIMTLAB_FILL(D16, unsigned short, 2);
SIMTLAB_FILL(D32, unsigned, 4);
SIMTLAB_FILL_2D(D2D8, unsigned char, 1);
SIMTLAB_FILL_2D(D2D16, unsigned short, 2);
SIMTLAB_FILL_2D(D2D32, unsigned, 4);
#undef SIMTLAB_FILL
#undef SIMTLAB_FILL_2D
