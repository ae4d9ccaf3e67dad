// Allocation and one-dimensional copies.
#include <sys/mman.h>

#include <cstdlib>
#include <limits>

#include "hosts/cuda/call.h"
#include "hosts/cuda/transfer.h"

using namespace simtlab::hosts::cuda;
namespace gpu = simtlab::gpu;

namespace {

constexpr std::size_t pitch_alignment = 512;  // cudaMallocPitch rows; real devices: 512 as well

CudaError allocate(Runtime& runtime, void** out, std::size_t bytes, const char* what, MemoryKind kind) {
  if (out == nullptr) return error_invalid_value;
  *out = nullptr;
  if (bytes == 0) return success;
  gpu::Gpu& gpu = runtime.gpu();
  const std::optional<std::uint64_t> address = gpu.allocate(bytes, what);
  if (!address) return error_memory_allocation;
  runtime.allocations.emplace(*address, kind);
  if (kind != MemoryKind::device) gpu.memory().set_host_writes(*address);
  *out = reinterpret_cast<void*>(*address);
  return success;
}

// The host can only follow device addresses when they are its own.
bool host_visible(gpu::Gpu& gpu, const void* pointer) {
  return reinterpret_cast<const void*>(gpu.memory().host(reinterpret_cast<std::uint64_t>(pointer))) ==
         pointer;
}

// in: the host does not wait.
CudaError release(Runtime& runtime, void* pointer, bool host, std::optional<gpu::StreamId> in = {}) {
  if (pointer == nullptr) return success;
  const auto it = runtime.allocations.find(reinterpret_cast<std::uint64_t>(pointer));
  if (it == runtime.allocations.end() || (it->second == MemoryKind::host) != host) return error_invalid_value;
  if (!in) runtime.gpu().synchronize();
  runtime.gpu().release(it->first, in);
  runtime.allocations.erase(it);
  return success;
}

// Page-locked memory comes from the device's address range, so that kernels can use it in place. What does
// not fit there is ordinary memory, which only copies can use.
CudaError allocate_host(Runtime& runtime, void** out, std::size_t bytes) {
  if (out == nullptr) return error_invalid_value;
  const CudaError code = allocate(runtime, out, bytes, "cudaMallocHost", MemoryKind::host);
  if (code == success && *out != nullptr && host_visible(runtime.gpu(), *out)) return success;
  if (code == success && *out != nullptr) release(runtime, *out, true);
  if (bytes == 0) return success;
  *out = std::calloc(1, bytes);
  if (*out == nullptr) return error_memory_allocation;
  runtime.plain_host.insert(*out);
  return success;
}

CudaError allocate_managed(Runtime& runtime, void** out, std::size_t bytes) {
  if (bytes == 0) return error_invalid_value;
  const CudaError code = allocate(runtime, out, bytes, "cudaMallocManaged", MemoryKind::managed);
  if (code != success || host_visible(runtime.gpu(), *out)) return code;
  release(runtime, *out, false);
  *out = nullptr;
  return runtime.unsupported("cudaMallocManaged", "the address range this host gave");
}

CudaError allocate_pitch(Runtime& runtime, void** out, std::size_t* pitch, std::size_t width,
                         std::size_t height, std::size_t depth) {
  if (pitch == nullptr) return error_invalid_value;
  std::size_t total = 0;
  const std::size_t row =
      width / pitch_alignment * pitch_alignment + (width % pitch_alignment != 0 ? pitch_alignment : 0);
  if (row < width || __builtin_mul_overflow(row, height, &total) ||
      __builtin_mul_overflow(total, depth, &total))
    return error_memory_allocation;
  *pitch = row;
  return allocate(runtime, out, total, "cudaMallocPitch", MemoryKind::device);
}

}  // namespace

SIMTLAB_CUDA_API CudaError cudaMalloc(void** out, std::size_t bytes) {
  return call([&](Runtime& r) { return allocate(r, out, bytes, "cudaMalloc", MemoryKind::device); });
}
SIMTLAB_CUDA_API CudaError cudaFree(void* pointer) {
  return call([&](Runtime& r) {
    r.gpu();  // cudaFree(0) is how programs start the context
    return release(r, pointer, false);
  });
}
SIMTLAB_CUDA_API CudaError cudaMallocAsync(void** out, std::size_t bytes, StreamHandle stream) {
  return call([&](Runtime& r) {
    const std::optional<gpu::StreamId> in = r.stream(stream);
    if (!in) return error_invalid_resource_handle;
    const CudaError code = allocate(r, out, bytes, "cudaMallocAsync", MemoryKind::device);
    if (code == success && bytes != 0)
      r.gpu().allocated_in_stream(reinterpret_cast<std::uint64_t>(*out), *in);
    return code;
  });
}
SIMTLAB_CUDA_API CudaError cudaFreeAsync(void* pointer, StreamHandle stream) {
  return call([&](Runtime& r) {
    const std::optional<gpu::StreamId> in = r.stream(stream);
    return in ? release(r, pointer, false, in) : error_invalid_resource_handle;
  });
}
SIMTLAB_CUDA_ALIAS(cudaMallocAsync_ptsz, cudaMallocAsync);
SIMTLAB_CUDA_ALIAS(cudaFreeAsync_ptsz, cudaFreeAsync);

SIMTLAB_CUDA_API CudaError cudaMallocPitch(void** out, std::size_t* pitch, std::size_t width,
                                           std::size_t height) {
  return call([&](Runtime& r) { return allocate_pitch(r, out, pitch, width, height, 1); });
}
SIMTLAB_CUDA_API CudaError cudaMalloc3D(PitchedPointer* out, Extent extent) {
  return call([&](Runtime& r) {
    if (out == nullptr) return error_invalid_value;
    PitchedPointer p{nullptr, 0, extent.width, extent.height};
    const CudaError code = allocate_pitch(r, &p.pointer, &p.pitch, extent.width, extent.height, extent.depth);
    if (code == success) *out = p;
    return code;
  });
}

SIMTLAB_CUDA_API CudaError cudaMallocHost(void** out, std::size_t bytes) {
  return call([&](Runtime& r) { return allocate_host(r, out, bytes); });
}
SIMTLAB_CUDA_API CudaError cudaHostAlloc(void** out, std::size_t bytes, unsigned flags) {
  constexpr unsigned portable_mapped_write_combined = 7;
  return call([&](Runtime& r) {
    if ((flags & ~portable_mapped_write_combined) != 0) return error_invalid_value;
    const CudaError code = allocate_host(r, out, bytes);
    if (code == success) r.host_flags[*out] = flags;
    return code;
  });
}
SIMTLAB_CUDA_API CudaError cudaFreeHost(void* pointer) {
  return call([&](Runtime& r) {
    r.host_flags.erase(pointer);
    const auto plain = r.plain_host.find(pointer);
    if (plain == r.plain_host.end()) return release(r, pointer, true);
    std::free(pointer);
    r.plain_host.erase(plain);
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
  return call([&](Runtime& r) {
    r.gpu();
    if (pointer == nullptr || bytes == 0) return error_invalid_value;
    return r.registered_host.emplace(pointer, bytes).second ? success : error_host_memory_already_registered;
  });
}
SIMTLAB_CUDA_API CudaError cudaHostUnregister(void* pointer) {
  return call([&](Runtime& r) {
    return r.registered_host.erase(pointer) != 0 ? success : error_host_memory_not_registered;
  });
}
SIMTLAB_CUDA_API CudaError cudaHostGetDevicePointer(void** out, void* host, unsigned) {
  return call([&](Runtime& r) {
    if (out == nullptr) return error_invalid_value;
    const MemoryKind* kind = r.kind_of(host);
    if (kind != nullptr && *kind != MemoryKind::device) {
      *out = host;
      return success;
    }
    if (r.registered_host.contains(host) || r.plain_host.contains(host))
      return r.unsupported("cudaHostGetDevicePointer",
                           "memory that cudaHostRegister pinned (use cudaHostAlloc)");
    return error_invalid_value;
  });
}
SIMTLAB_CUDA_API CudaError cudaHostGetFlags(unsigned* flags, void* host) {
  return call([&](Runtime& r) {
    const MemoryKind* kind = r.kind_of(host);
    if (flags == nullptr || (!r.plain_host.contains(host) && (kind == nullptr || *kind != MemoryKind::host)))
      return error_invalid_value;
    constexpr unsigned mapped = 2;  // always, as on devices with unified addressing
    const auto given = r.host_flags.find(host);
    *flags = mapped | (given == r.host_flags.end() ? 0 : given->second);
    return success;
  });
}

SIMTLAB_CUDA_API CudaError cudaMallocManaged(void** out, std::size_t bytes, unsigned) {
  return call([&](Runtime& r) { return allocate_managed(r, out, bytes); });
}
// Hints about managed memory: there is one memory, so nothing moves. The location argument differs between
// CUDA versions and is not read.
SIMTLAB_CUDA_API CudaError cudaMemPrefetchAsync(const void* pointer, std::size_t) {
  return call([&](Runtime& r) { return r.kind_of(pointer) != nullptr ? success : error_invalid_value; });
}
SIMTLAB_CUDA_API CudaError cudaMemAdvise(const void* pointer, std::size_t) {
  return call([&](Runtime& r) { return r.kind_of(pointer) != nullptr ? success : error_invalid_value; });
}
SIMTLAB_CUDA_API CudaError cudaStreamAttachMemAsync(StreamHandle stream, void*, std::size_t, unsigned) {
  return call([&](Runtime& r) { return r.stream(stream) ? success : error_invalid_resource_handle; });
}
SIMTLAB_CUDA_ALIAS(cudaMemPrefetchAsync_ptsz, cudaMemPrefetchAsync);
SIMTLAB_CUDA_ALIAS(cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync);
SIMTLAB_CUDA_ALIAS(cudaMemPrefetchAsync_v2_ptsz, cudaMemPrefetchAsync);
SIMTLAB_CUDA_ALIAS(cudaMemAdvise_v2, cudaMemAdvise);
SIMTLAB_CUDA_ALIAS(cudaStreamAttachMemAsync_ptsz, cudaStreamAttachMemAsync);

SIMTLAB_CUDA_API CudaError cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call([&](Runtime& r) {
    if (free == nullptr || total == nullptr) return error_invalid_value;
    const simtlab::exec::GlobalMemory& memory = r.gpu().memory();
    *total = memory.capacity();
    *free = memory.capacity() - memory.used();
    return success;
  });
}

SIMTLAB_CUDA_API CudaError cudaPointerGetAttributes(PointerAttributes* out, const void* pointer) {
  return call([&](Runtime& r) {
    if (out == nullptr) return error_invalid_value;
    r.gpu();
    *out = PointerAttributes{0, -2, nullptr, nullptr};
    auto* address = const_cast<void*>(pointer);
    if (const MemoryKind* kind = r.kind_of(pointer)) {
      const int type = *kind == MemoryKind::host ? 1 : *kind == MemoryKind::device ? 2 : 3;
      *out = PointerAttributes{type, 0, address, *kind == MemoryKind::device ? nullptr : address};
    } else if (r.plain_host.contains(address) || r.registered_host.contains(pointer)) {
      *out = PointerAttributes{1, 0, nullptr, address};
    }
    return success;
  });
}

// ---- copies

SIMTLAB_CUDA_API CudaError cudaMemcpy(void* dst, const void* src, std::size_t bytes, int kind) {
  return call([&](Runtime& r) { return copy_linear(r, dst, src, bytes, kind, 0, false); });
}
SIMTLAB_CUDA_API CudaError cudaMemcpyAsync(void* dst, const void* src, std::size_t bytes, int kind,
                                           StreamHandle stream) {
  return call([&](Runtime& r) { return copy_linear(r, dst, src, bytes, kind, stream, true); });
}
SIMTLAB_CUDA_API CudaError cudaMemcpyPeer(void* dst, int to, const void* src, int from, std::size_t bytes) {
  return call([&](Runtime& r) {
    if (to != 0 || from != 0) return error_invalid_device;
    return copy_linear(r, dst, src, bytes, device_to_device, 0, false);
  });
}
SIMTLAB_CUDA_API CudaError cudaMemcpyPeerAsync(void* dst, int to, const void* src, int from,
                                               std::size_t bytes, StreamHandle stream) {
  return call([&](Runtime& r) {
    if (to != 0 || from != 0) return error_invalid_device;
    return copy_linear(r, dst, src, bytes, device_to_device, stream, true);
  });
}
SIMTLAB_CUDA_API CudaError cudaMemset(void* dst, int value, std::size_t bytes) {
  return call([&](Runtime& r) {
    gpu::Gpu::Box box;
    box.width = bytes;
    return fill_box(r, dst, value, box, 0, false);
  });
}
SIMTLAB_CUDA_API CudaError cudaMemsetAsync(void* dst, int value, std::size_t bytes, StreamHandle stream) {
  return call([&](Runtime& r) {
    gpu::Gpu::Box box;
    box.width = bytes;
    return fill_box(r, dst, value, box, stream, true);
  });
}
SIMTLAB_CUDA_ALIAS(cudaMemcpy_ptds, cudaMemcpy);
SIMTLAB_CUDA_ALIAS(cudaMemcpyAsync_ptsz, cudaMemcpyAsync);
SIMTLAB_CUDA_ALIAS(cudaMemset_ptds, cudaMemset);
SIMTLAB_CUDA_ALIAS(cudaMemsetAsync_ptsz, cudaMemsetAsync);
