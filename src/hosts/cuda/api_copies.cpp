// Two- and three-dimensional copies and fills, and CUDA arrays.
#include <cstdlib>
#include <new>

#include "hosts/cuda/call.h"
#include "hosts/cuda/transfer.h"

using namespace simtlab::hosts::cuda;
namespace gpu = simtlab::gpu;

namespace {

using Box = gpu::Gpu::Box;

Box plane(std::size_t width, std::size_t height, std::size_t dst_pitch, std::size_t src_pitch) {
  Box box;
  box.width = width;
  box.height = height;
  box.dst_pitch = dst_pitch;
  box.src_pitch = src_pitch;
  return box;
}

bool known(Runtime& r, const CudaArray* array) { return r.arrays.contains(const_cast<CudaArray*>(array)); }

// Start of a region of an array; x in bytes. False if the region leaves it.
bool region(const CudaArray& a, std::size_t x, std::size_t y, std::size_t width, std::size_t height,
            void*& out) {
  const std::size_t row = a.row_bytes();
  if (x > row || width > row - x || y > a.rows() || height > a.rows() - y) return false;
  out = reinterpret_cast<void*>(a.address + y * row + x);
  return true;
}

CudaError copy_2d(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch, std::size_t width,
                  std::size_t height, int kind, StreamHandle stream, bool async) {
  return call([&](Runtime& r) {
    if (width > dst_pitch || width > src_pitch) return error_invalid_pitch_value;
    return copy_box(r, dst, src, plane(width, height, dst_pitch, src_pitch), kind, stream, async);
  });
}

// Kind for a copy whose other side is an array, which is on the device.
int array_kind(Runtime& r, const void* other, int kind, bool to_array) {
  if (kind != by_address) return kind;
  const MemoryKind* k = r.kind_of(other);
  const bool device = k != nullptr && *k != MemoryKind::host;
  return device ? device_to_device : (to_array ? host_to_device : device_to_host);
}

CudaError to_array(CudaArray* array, std::size_t x, std::size_t y, const void* src, std::size_t pitch,
                   std::size_t width, std::size_t height, int kind, StreamHandle stream, bool async) {
  return call([&](Runtime& r) {
    void* place = nullptr;
    if (!known(r, array) || !region(*array, x, y, width, height, place)) return error_invalid_value;
    kind = array_kind(r, src, kind, true);
    if (kind != host_to_device && kind != device_to_device) return error_invalid_memcpy_direction;
    return copy_box(r, place, src, plane(width, height, array->row_bytes(), pitch), kind, stream, async);
  });
}

CudaError from_array(void* dst, std::size_t pitch, const CudaArray* array, std::size_t x, std::size_t y,
                     std::size_t width, std::size_t height, int kind, StreamHandle stream, bool async) {
  return call([&](Runtime& r) {
    void* place = nullptr;
    if (!known(r, array) || !region(*array, x, y, width, height, place)) return error_invalid_value;
    kind = array_kind(r, dst, kind, false);
    if (kind != device_to_host && kind != device_to_device) return error_invalid_memcpy_direction;
    return copy_box(r, dst, place, plane(width, height, pitch, array->row_bytes()), kind, stream, async);
  });
}

// The old form of array copies: `bytes` from (x, y) on, running over the ends of rows.
CudaError linear_array(CudaArray* array, std::size_t x, std::size_t y, void* other, std::size_t bytes,
                       int kind, StreamHandle stream, bool async, bool to) {
  return call([&](Runtime& r) {
    if (!known(r, array)) return error_invalid_value;
    const std::size_t all = array->row_bytes() * array->rows(), begin = y * array->row_bytes() + x;
    if (y > array->rows() || begin > all || bytes > all - begin) return error_invalid_value;
    kind = array_kind(r, other, kind, to);
    void* place = reinterpret_cast<void*>(array->address + begin);
    return to ? copy_linear(r, place, other, bytes, kind, stream, async)
              : copy_linear(r, other, place, bytes, kind, stream, async);
  });
}

CudaError make_array(CudaArray** out, const ChannelFormat* format, Extent extent, unsigned flags) {
  return call([&](Runtime& r) {
    if (out == nullptr || format == nullptr || extent.width == 0) return error_invalid_value;
    constexpr unsigned layered = 1, cubemap = 4;
    if ((flags & (layered | cubemap)) != 0)
      return r.unsupported("cudaMalloc3DArray", "layered or cubemap arrays");
    const int bits = format->x + format->y + format->z + format->w;
    if (bits <= 0 || bits % 8 != 0 || bits > 128) return error_invalid_channel_descriptor;
    CudaArray array{*format, extent.width, extent.height, extent.depth, static_cast<std::size_t>(bits) / 8,
                    0};
    std::size_t total = 0;
    if (__builtin_mul_overflow(extent.width, array.element_bytes, &total) ||
        __builtin_mul_overflow(total, array.rows(), &total) ||
        __builtin_mul_overflow(total, array.slices(), &total))
      return error_memory_allocation;
    const std::optional<std::uint64_t> address = r.gpu().allocate(total, "cudaMallocArray");
    if (!address) return error_memory_allocation;
    r.allocations.emplace(*address, MemoryKind::device);
    array.address = *address;
    *out = new CudaArray(array);
    r.arrays.insert(*out);
    return success;
  });
}

// One side of cudaMemcpy3D: start, pitch, slice and element size of positions.
struct Side {
  char* start = nullptr;
  std::size_t pitch = 0, slice = 0, element = 1;
};

CudaError side_of(Runtime& r, const CudaArray* array, const Position& at, const PitchedPointer& pointer,
                  const Extent& extent, Side& side) {
  if (array == nullptr) {
    side.pitch = pointer.pitch;
    side.slice = pointer.pitch * (pointer.ysize == 0 ? extent.height : pointer.ysize);
    side.start = static_cast<char*>(pointer.pointer) + at.z * side.slice + at.y * side.pitch + at.x;
    return pointer.pointer == nullptr ? error_invalid_value : success;
  }
  if (!known(r, array)) return error_invalid_value;
  if (at.x + extent.width > array->width || at.y + extent.height > array->rows() ||
      at.z + extent.depth > array->slices())
    return error_invalid_value;
  side.element = array->element_bytes;
  side.pitch = array->row_bytes();
  side.slice = side.pitch * array->rows();
  side.start =
      reinterpret_cast<char*>(array->address) + at.z * side.slice + at.y * side.pitch + at.x * side.element;
  return success;
}

CudaError copy_3d(const Memcpy3DParms* p, StreamHandle stream, bool async) {
  return call([&](Runtime& r) { return p == nullptr ? error_invalid_value : copy_3d(r, *p, stream, async); });
}

CudaError fill_2d(void* dst, std::size_t pitch, int value, std::size_t width, std::size_t height,
                  StreamHandle stream, bool async) {
  return call([&](Runtime& r) {
    if (width > pitch) return error_invalid_pitch_value;
    return fill_box(r, dst, value, plane(width, height, pitch, 0), stream, async);
  });
}

CudaError fill_3d(const PitchedPointer& dst, int value, const Extent& extent, StreamHandle stream,
                  bool async) {
  return call([&](Runtime& r) {
    if (extent.width > dst.pitch) return error_invalid_pitch_value;
    Box box = plane(extent.width, extent.height, dst.pitch, 0);
    box.depth = extent.depth;
    box.dst_slice = dst.pitch * dst.ysize;
    return fill_box(r, dst.pointer, value, box, stream, async);
  });
}

}  // namespace

CudaError simtlab::hosts::cuda::copy_3d(Runtime& r, const Memcpy3DParms& p, StreamHandle stream, bool async) {
  Side from, to;
  CudaError code = side_of(r, p.source_array, p.source_position, p.source, p.extent, from);
  if (code == success) code = side_of(r, p.target_array, p.target_position, p.target, p.extent, to);
  if (code != success) return code;
  // The extent counts elements as soon as an array takes part, else bytes.
  const std::size_t element = p.source_array != nullptr ? from.element : to.element;
  Box box = plane(p.extent.width * element, p.extent.height, to.pitch, from.pitch);
  box.depth = p.extent.depth;
  box.dst_slice = to.slice;
  box.src_slice = from.slice;
  return copy_box(r, to.start, from.start, box, p.kind, stream, async);
}

SIMTLAB_CUDA_API CudaError cudaMemcpy2D(void* dst, std::size_t dst_pitch, const void* src,
                                        std::size_t src_pitch, std::size_t width, std::size_t height,
                                        int kind) {
  return copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind, 0, false);
}
SIMTLAB_CUDA_API CudaError cudaMemcpy2DAsync(void* dst, std::size_t dst_pitch, const void* src,
                                             std::size_t src_pitch, std::size_t width, std::size_t height,
                                             int kind, StreamHandle stream) {
  return copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind, stream, true);
}
SIMTLAB_CUDA_API CudaError cudaMemcpy3D(const Memcpy3DParms* p) { return copy_3d(p, 0, false); }
SIMTLAB_CUDA_API CudaError cudaMemcpy3DAsync(const Memcpy3DParms* p, StreamHandle stream) {
  return copy_3d(p, stream, true);
}
SIMTLAB_CUDA_API CudaError cudaMemset2D(void* dst, std::size_t pitch, int value, std::size_t width,
                                        std::size_t height) {
  return fill_2d(dst, pitch, value, width, height, 0, false);
}
SIMTLAB_CUDA_API CudaError cudaMemset2DAsync(void* dst, std::size_t pitch, int value, std::size_t width,
                                             std::size_t height, StreamHandle stream) {
  return fill_2d(dst, pitch, value, width, height, stream, true);
}
SIMTLAB_CUDA_API CudaError cudaMemset3D(PitchedPointer dst, int value, Extent extent) {
  return fill_3d(dst, value, extent, 0, false);
}
SIMTLAB_CUDA_API CudaError cudaMemset3DAsync(PitchedPointer dst, int value, Extent extent,
                                             StreamHandle stream) {
  return fill_3d(dst, value, extent, stream, true);
}

SIMTLAB_CUDA_API CudaError cudaMallocArray(CudaArray** out, const ChannelFormat* format, std::size_t width,
                                           std::size_t height, unsigned flags) {
  return make_array(out, format, {width, height, 0}, flags);
}
SIMTLAB_CUDA_API CudaError cudaMalloc3DArray(CudaArray** out, const ChannelFormat* format, Extent extent,
                                             unsigned flags) {
  return make_array(out, format, extent, flags);
}
SIMTLAB_CUDA_API CudaError cudaFreeArray(CudaArray* array) {
  return call([&](Runtime& r) {
    if (array == nullptr) return success;
    if (r.arrays.erase(array) == 0) return error_invalid_value;
    r.gpu().synchronize();
    r.gpu().release(array->address);
    r.allocations.erase(array->address);
    delete array;
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaArrayGetInfo(ChannelFormat* format, Extent* extent, unsigned* flags,
                                            const CudaArray* array) {
  return call([&](Runtime& r) {
    if (!known(r, array)) return error_invalid_value;
    if (format != nullptr) *format = array->format;
    if (extent != nullptr) *extent = {array->width, array->height, array->depth};
    if (flags != nullptr) *flags = 0;
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaGetChannelDesc(ChannelFormat* format, const CudaArray* array) {
  return cudaArrayGetInfo(format, nullptr, nullptr, array);
}

SIMTLAB_CUDA_API CudaError cudaMemcpy2DToArray(CudaArray* dst, std::size_t x, std::size_t y, const void* src,
                                               std::size_t pitch, std::size_t width, std::size_t height,
                                               int kind) {
  return to_array(dst, x, y, src, pitch, width, height, kind, 0, false);
}
SIMTLAB_CUDA_API CudaError cudaMemcpy2DToArrayAsync(CudaArray* dst, std::size_t x, std::size_t y,
                                                    const void* src, std::size_t pitch, std::size_t width,
                                                    std::size_t height, int kind, StreamHandle stream) {
  return to_array(dst, x, y, src, pitch, width, height, kind, stream, true);
}
SIMTLAB_CUDA_API CudaError cudaMemcpy2DFromArray(void* dst, std::size_t pitch, const CudaArray* src,
                                                 std::size_t x, std::size_t y, std::size_t width,
                                                 std::size_t height, int kind) {
  return from_array(dst, pitch, src, x, y, width, height, kind, 0, false);
}
SIMTLAB_CUDA_API CudaError cudaMemcpy2DFromArrayAsync(void* dst, std::size_t pitch, const CudaArray* src,
                                                      std::size_t x, std::size_t y, std::size_t width,
                                                      std::size_t height, int kind, StreamHandle stream) {
  return from_array(dst, pitch, src, x, y, width, height, kind, stream, true);
}
SIMTLAB_CUDA_API CudaError cudaMemcpyToArray(CudaArray* dst, std::size_t x, std::size_t y, const void* src,
                                             std::size_t bytes, int kind) {
  return linear_array(dst, x, y, const_cast<void*>(src), bytes, kind, 0, false, true);
}
SIMTLAB_CUDA_API CudaError cudaMemcpyToArrayAsync(CudaArray* dst, std::size_t x, std::size_t y,
                                                  const void* src, std::size_t bytes, int kind,
                                                  StreamHandle stream) {
  return linear_array(dst, x, y, const_cast<void*>(src), bytes, kind, stream, true, true);
}
SIMTLAB_CUDA_API CudaError cudaMemcpyFromArray(void* dst, const CudaArray* src, std::size_t x, std::size_t y,
                                               std::size_t bytes, int kind) {
  return linear_array(const_cast<CudaArray*>(src), x, y, dst, bytes, kind, 0, false, false);
}
SIMTLAB_CUDA_API CudaError cudaMemcpyFromArrayAsync(void* dst, const CudaArray* src, std::size_t x,
                                                    std::size_t y, std::size_t bytes, int kind,
                                                    StreamHandle stream) {
  return linear_array(const_cast<CudaArray*>(src), x, y, dst, bytes, kind, stream, true, false);
}

SIMTLAB_CUDA_ALIAS(cudaMemcpy2D_ptds, cudaMemcpy2D);
SIMTLAB_CUDA_ALIAS(cudaMemcpy2DAsync_ptsz, cudaMemcpy2DAsync);
SIMTLAB_CUDA_ALIAS(cudaMemcpy3D_ptds, cudaMemcpy3D);
SIMTLAB_CUDA_ALIAS(cudaMemcpy3DAsync_ptsz, cudaMemcpy3DAsync);
SIMTLAB_CUDA_ALIAS(cudaMemset2D_ptds, cudaMemset2D);
SIMTLAB_CUDA_ALIAS(cudaMemset2DAsync_ptsz, cudaMemset2DAsync);
SIMTLAB_CUDA_ALIAS(cudaMemset3D_ptds, cudaMemset3D);
SIMTLAB_CUDA_ALIAS(cudaMemset3DAsync_ptsz, cudaMemset3DAsync);
SIMTLAB_CUDA_ALIAS(cudaMemcpy2DToArray_ptds, cudaMemcpy2DToArray);
SIMTLAB_CUDA_ALIAS(cudaMemcpy2DToArrayAsync_ptsz, cudaMemcpy2DToArrayAsync);
SIMTLAB_CUDA_ALIAS(cudaMemcpy2DFromArray_ptds, cudaMemcpy2DFromArray);
SIMTLAB_CUDA_ALIAS(cudaMemcpy2DFromArrayAsync_ptsz, cudaMemcpy2DFromArrayAsync);
SIMTLAB_CUDA_ALIAS(cudaMemcpyToArray_ptds, cudaMemcpyToArray);
SIMTLAB_CUDA_ALIAS(cudaMemcpyToArrayAsync_ptsz, cudaMemcpyToArrayAsync);
SIMTLAB_CUDA_ALIAS(cudaMemcpyFromArray_ptds, cudaMemcpyFromArray);
SIMTLAB_CUDA_ALIAS(cudaMemcpyFromArrayAsync_ptsz, cudaMemcpyFromArrayAsync);
