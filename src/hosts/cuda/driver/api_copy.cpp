// Copies: linear ones by their direction, and boxes between memory of the host, of the device, and arrays.
#include "hosts/cuda/driver/driver.h"
#include "hosts/cuda/driver/runtime_calls.h"
#include "hosts/cuda/transfer.h"

using namespace simtlab::hosts::cuda;
namespace gpu = simtlab::gpu;

namespace {

DriverResult copy(void* to, const void* from, std::size_t bytes, int kind) {
  return forward([&] { return cudaMemcpy(to, from, bytes, kind); });
}
DriverResult copy_async(void* to, const void* from, std::size_t bytes, int kind, StreamHandle stream) {
  return forward([&] { return cudaMemcpyAsync(to, from, bytes, kind, stream); });
}
void* pointer_to(DevicePointer address) { return reinterpret_cast<void*>(address); }

enum MemoryType : int { type_host = 1, type_device = 2, type_array = 3, type_unified = 4 };

// CUDA_MEMCPY2D and CUDA_MEMCPY3D.
struct Side2D {
  std::size_t x, y;
  int type;
  void* host;
  DevicePointer device;
  const CudaArray* array;
  std::size_t pitch;
};
struct Copy2D {
  Side2D source, target;
  std::size_t width, height;
};
struct Side3D {
  std::size_t x, y, z, level;
  int type;
  void* host;
  DevicePointer device;
  const CudaArray* array;
  void* reserved;
  std::size_t pitch, height;
};
struct Copy3D {
  Side3D source, target;
  std::size_t width, height, depth;
};

Side3D plane(const Side2D& s) {
  return {s.x, s.y, 0, 0, s.type, s.host, s.device, s.array, nullptr, s.pitch, 0};
}

// Where a side begins, and the bytes between its rows and slices.
struct Region {
  char* start = nullptr;
  std::size_t pitch = 0, slice = 0;
  bool array = false;
};

CudaError region_of(Runtime& r, const Side3D& side, const Copy3D& copy, Region& out) {
  if (side.type == type_array) {
    const CudaArray* const a = side.array;
    if (!r.arrays.contains(const_cast<CudaArray*>(a))) return error_invalid_value;
    const std::size_t row = a->row_bytes();
    if (side.x > row || copy.width > row - side.x || side.y > a->rows() || copy.height > a->rows() - side.y ||
        side.z > a->slices() || copy.depth > a->slices() - side.z)
      return error_invalid_value;
    out = {reinterpret_cast<char*>(a->address), row, row * a->rows(), true};
  } else if (side.type == type_host || side.type == type_device || side.type == type_unified) {
    void* const begin = side.type == type_host ? side.host : pointer_to(side.device);
    if (begin == nullptr || (side.pitch != 0 && side.pitch < side.x + copy.width)) return error_invalid_value;
    const std::size_t pitch = side.pitch == 0 ? side.x + copy.width : side.pitch;
    out = {static_cast<char*>(begin), pitch, pitch * (side.height == 0 ? side.y + copy.height : side.height),
           false};
  } else {
    return error_invalid_value;
  }
  out.start += side.z * out.slice + side.y * out.pitch + side.x;
  return success;
}

// An array is on the device, whatever the other side is.
int kind_of(Runtime& r, const Side3D& from, const Side3D& to, const Region& source, const Region& target) {
  const auto on_device = [&](const Side3D& side, const Region& region) {
    if (side.type == type_array || side.type == type_device) return true;
    const MemoryKind* const kind = side.type == type_unified ? r.kind_of(region.start) : nullptr;
    return kind != nullptr && *kind != MemoryKind::host;
  };
  const bool a = on_device(from, source), b = on_device(to, target);
  return a ? (b ? device_to_device : device_to_host) : (b ? host_to_device : host_to_host);
}

DriverResult copy_box_of(const Copy3D& c, StreamHandle stream, bool async) {
  return in_context([&](Runtime& r) {
    Region source, target;
    if (c.width == 0 || c.height == 0 || c.depth == 0) return driver_success;
    if (c.source.level != 0 || c.target.level != 0)
      return driver_result(r.unsupported("cuMemcpy3D", "mipmapped arrays"));
    CudaError code = region_of(r, c.source, c, source);
    if (code == success) code = region_of(r, c.target, c, target);
    if (code != success) return driver_result(code);
    gpu::Gpu::Box box;
    box.width = c.width;
    box.height = c.height;
    box.depth = c.depth;
    box.src_pitch = source.pitch;
    box.src_slice = source.slice;
    box.dst_pitch = target.pitch;
    box.dst_slice = target.slice;
    return driver_result(copy_box(r, target.start, source.start, box,
                                  ::kind_of(r, c.source, c.target, source, target), stream, async));
  });
}

DriverResult copy_2d_of(const Copy2D* c, StreamHandle stream, bool async) {
  if (c == nullptr) return driver_invalid_value;
  return copy_box_of({plane(c->source), plane(c->target), c->width, c->height, 1}, stream, async);
}

// Part of a one-dimensional array, as memory.
struct Slice {
  const CudaArray* array;
  std::size_t offset;
};
Side3D side(Slice s) { return {s.offset, 0, 0, 0, type_array, nullptr, 0, s.array, nullptr, 0, 0}; }
Side3D side(DevicePointer p) { return {0, 0, 0, 0, type_device, nullptr, p, nullptr, nullptr, 0, 0}; }
Side3D side(const void* p) {
  return {0, 0, 0, 0, type_host, const_cast<void*>(p), 0, nullptr, nullptr, 0, 0};
}
template <typename To, typename From>
DriverResult copy_slice(To to, From from, std::size_t bytes, StreamHandle stream, bool async) {
  return copy_box_of({side(from), side(to), bytes, 1, 1}, stream, async);
}

}  // namespace

SIMTLAB_DRIVER_API DriverResult cuMemcpy(DevicePointer to, DevicePointer from, std::size_t bytes) {
  return copy(pointer_to(to), pointer_to(from), bytes, by_address);
}
SIMTLAB_DRIVER_API DriverResult cuMemcpyHtoD_v2(DevicePointer to, const void* from, std::size_t bytes) {
  return copy(pointer_to(to), from, bytes, host_to_device);
}
SIMTLAB_DRIVER_API DriverResult cuMemcpyDtoH_v2(void* to, DevicePointer from, std::size_t bytes) {
  return copy(to, pointer_to(from), bytes, device_to_host);
}
SIMTLAB_DRIVER_API DriverResult cuMemcpyDtoD_v2(DevicePointer to, DevicePointer from, std::size_t bytes) {
  return copy(pointer_to(to), pointer_to(from), bytes, device_to_device);
}
SIMTLAB_DRIVER_API DriverResult cuMemcpyPeer(DevicePointer to, const void*, DevicePointer from, const void*,
                                             std::size_t bytes) {
  return cuMemcpyDtoD_v2(to, from, bytes);
}
SIMTLAB_DRIVER_API DriverResult cuMemcpyAsync(DevicePointer to, DevicePointer from, std::size_t bytes,
                                              StreamHandle stream) {
  return copy_async(pointer_to(to), pointer_to(from), bytes, by_address, stream);
}
SIMTLAB_DRIVER_API DriverResult cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t bytes,
                                                     StreamHandle stream) {
  return copy_async(pointer_to(to), from, bytes, host_to_device, stream);
}
SIMTLAB_DRIVER_API DriverResult cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t bytes,
                                                     StreamHandle stream) {
  return copy_async(to, pointer_to(from), bytes, device_to_host, stream);
}
SIMTLAB_DRIVER_API DriverResult cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t bytes,
                                                     StreamHandle stream) {
  return copy_async(pointer_to(to), pointer_to(from), bytes, device_to_device, stream);
}
SIMTLAB_DRIVER_API DriverResult cuMemcpyPeerAsync(DevicePointer to, const void*, DevicePointer from,
                                                  const void*, std::size_t bytes, StreamHandle stream) {
  return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}

SIMTLAB_DRIVER_API DriverResult cuMemcpy2D_v2(const Copy2D* c) { return copy_2d_of(c, 0, false); }
SIMTLAB_DRIVER_API DriverResult cuMemcpy2DUnaligned_v2(const Copy2D* c) { return copy_2d_of(c, 0, false); }
SIMTLAB_DRIVER_API DriverResult cuMemcpy2DAsync_v2(const Copy2D* c, StreamHandle stream) {
  return copy_2d_of(c, stream, true);
}
SIMTLAB_DRIVER_API DriverResult cuMemcpy3D_v2(const Copy3D* c) {
  return c == nullptr ? driver_invalid_value : copy_box_of(*c, 0, false);
}
SIMTLAB_DRIVER_API DriverResult cuMemcpy3DAsync_v2(const Copy3D* c, StreamHandle stream) {
  return c == nullptr ? driver_invalid_value : copy_box_of(*c, stream, true);
}

SIMTLAB_DRIVER_API DriverResult cuMemcpyDtoA_v2(const CudaArray* to, std::size_t offset, DevicePointer from,
                                                std::size_t bytes) {
  return copy_slice(Slice{to, offset}, from, bytes, 0, false);
}
SIMTLAB_DRIVER_API DriverResult cuMemcpyAtoD_v2(DevicePointer to, const CudaArray* from, std::size_t offset,
                                                std::size_t bytes) {
  return copy_slice(to, Slice{from, offset}, bytes, 0, false);
}
SIMTLAB_DRIVER_API DriverResult cuMemcpyHtoA_v2(const CudaArray* to, std::size_t offset, const void* from,
                                                std::size_t bytes) {
  return copy_slice(Slice{to, offset}, from, bytes, 0, false);
}
SIMTLAB_DRIVER_API DriverResult cuMemcpyAtoH_v2(void* to, const CudaArray* from, std::size_t offset,
                                                std::size_t bytes) {
  return copy_slice(static_cast<const void*>(to), Slice{from, offset}, bytes, 0, false);
}
SIMTLAB_DRIVER_API DriverResult cuMemcpyAtoA_v2(const CudaArray* to, std::size_t to_offset,
                                                const CudaArray* from, std::size_t from_offset,
                                                std::size_t bytes) {
  return copy_slice(Slice{to, to_offset}, Slice{from, from_offset}, bytes, 0, false);
}
SIMTLAB_DRIVER_API DriverResult cuMemcpyHtoAAsync_v2(const CudaArray* to, std::size_t offset,
                                                     const void* from, std::size_t bytes,
                                                     StreamHandle stream) {
  return copy_slice(Slice{to, offset}, from, bytes, stream, true);
}
SIMTLAB_DRIVER_API DriverResult cuMemcpyAtoHAsync_v2(void* to, const CudaArray* from, std::size_t offset,
                                                     std::size_t bytes, StreamHandle stream) {
  return copy_slice(static_cast<const void*>(to), Slice{from, offset}, bytes, stream, true);
}

SIMTLAB_CUDA_ALIAS(cuMemcpy_ptds, cuMemcpy);
SIMTLAB_CUDA_ALIAS(cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD_v2);
SIMTLAB_CUDA_ALIAS(cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH_v2);
SIMTLAB_CUDA_ALIAS(cuMemcpyDtoD_v2_ptds, cuMemcpyDtoD_v2);
SIMTLAB_CUDA_ALIAS(cuMemcpyPeer_ptds, cuMemcpyPeer);
SIMTLAB_CUDA_ALIAS(cuMemcpyAsync_ptsz, cuMemcpyAsync);
SIMTLAB_CUDA_ALIAS(cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyHtoDAsync_v2);
SIMTLAB_CUDA_ALIAS(cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoHAsync_v2);
SIMTLAB_CUDA_ALIAS(cuMemcpyDtoDAsync_v2_ptsz, cuMemcpyDtoDAsync_v2);
SIMTLAB_CUDA_ALIAS(cuMemcpyPeerAsync_ptsz, cuMemcpyPeerAsync);
SIMTLAB_CUDA_ALIAS(cuMemcpy2D_v2_ptds, cuMemcpy2D_v2);
SIMTLAB_CUDA_ALIAS(cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2DUnaligned_v2);
SIMTLAB_CUDA_ALIAS(cuMemcpy2DAsync_v2_ptsz, cuMemcpy2DAsync_v2);
SIMTLAB_CUDA_ALIAS(cuMemcpy3D_v2_ptds, cuMemcpy3D_v2);
SIMTLAB_CUDA_ALIAS(cuMemcpy3DAsync_v2_ptsz, cuMemcpy3DAsync_v2);
SIMTLAB_CUDA_ALIAS(cuMemcpyDtoA_v2_ptds, cuMemcpyDtoA_v2);
SIMTLAB_CUDA_ALIAS(cuMemcpyAtoD_v2_ptds, cuMemcpyAtoD_v2);
SIMTLAB_CUDA_ALIAS(cuMemcpyHtoA_v2_ptds, cuMemcpyHtoA_v2);
SIMTLAB_CUDA_ALIAS(cuMemcpyAtoH_v2_ptds, cuMemcpyAtoH_v2);
SIMTLAB_CUDA_ALIAS(cuMemcpyAtoA_v2_ptds, cuMemcpyAtoA_v2);
SIMTLAB_CUDA_ALIAS(cuMemcpyHtoAAsync_v2_ptsz, cuMemcpyHtoAAsync_v2);
SIMTLAB_CUDA_ALIAS(cuMemcpyAtoHAsync_v2_ptsz, cuMemcpyAtoHAsync_v2);
