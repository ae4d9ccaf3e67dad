// Arrays and texture objects: the runtime's, described in the driver's structures.
#include <cstring>

#include "hosts/cuda/driver/driver.h"
#include "hosts/cuda/driver/runtime_calls.h"

using namespace simtlab::hosts::cuda;

namespace {

// CUDA_ARRAY_DESCRIPTOR and CUDA_ARRAY3D_DESCRIPTOR.
struct ArrayDescriptor {
  std::size_t width, height;
  int format;
  unsigned channels;
};
struct Array3DDescriptor {
  std::size_t width, height, depth;
  int format;
  unsigned channels, flags;
};

// CUarray_format: bits of a channel, and what they are.
struct Format {
  int code, bits, kind;
};
constexpr Format formats[] = {{0x01, 8, 1},  {0x02, 16, 1}, {0x03, 32, 1}, {0x08, 8, 0},
                              {0x09, 16, 0}, {0x0a, 32, 0}, {0x10, 16, 2}, {0x20, 32, 2}};

bool channel_format(int code, unsigned channels, ChannelFormat& out) {
  if (channels != 1 && channels != 2 && channels != 4) return false;
  for (const Format& f : formats) {
    if (f.code != code) continue;
    out = {f.bits, channels > 1 ? f.bits : 0, channels > 2 ? f.bits : 0, channels > 2 ? f.bits : 0, f.kind};
    return true;
  }
  return false;
}

DriverResult make_array(CudaArray** out, const Array3DDescriptor& d) {
  ChannelFormat format{};
  if (!channel_format(d.format, d.channels, format)) return driver_invalid_value;
  return forward([&] { return cudaMalloc3DArray(out, &format, {d.width, d.height, d.depth}, d.flags); });
}

DriverResult describe(const CudaArray* array, Array3DDescriptor& out) {
  ChannelFormat f{};
  Extent extent{};
  unsigned flags = 0;
  const DriverResult code = forward([&] { return cudaArrayGetInfo(&f, &extent, &flags, array); });
  if (code != driver_success) return code;
  out = {extent.width, extent.height, extent.depth, 0, f.w != 0 ? 4u : f.y != 0 ? 2u : 1u, flags};
  for (const Format& known : formats)
    if (known.bits == f.x && known.kind == f.kind) out.format = known.code;
  return driver_success;
}

// CUDA_RESOURCE_DESC and CUDA_TEXTURE_DESC.
struct DriverResource {
  int type;
  union {
    CudaArray* array;
    struct {
      DevicePointer address;
      int format;
      unsigned channels;
      std::size_t bytes;
    } linear;
    struct {
      DevicePointer address;
      int format;
      unsigned channels;
      std::size_t width, height, pitch;
    } pitch2d;
    int reserved[32];
  };
};
struct DriverTexture {
  int address_mode[3];
  int filter_mode;
  unsigned flags;
  unsigned anisotropy;
  int mipmap_filter;
  float mipmap_bias, mipmap_least, mipmap_most;
  float border[4];
};
constexpr unsigned texture_as_integer = 1, texture_normalized = 2, texture_srgb = 16;

bool resource_of(const DriverResource& d, ResourceDesc& out) {
  out.type = d.type;
  switch (d.type) {
    case resource_linear:
      out.linear.pointer = reinterpret_cast<void*>(d.linear.address);
      out.linear.bytes = d.linear.bytes;
      return channel_format(d.linear.format, d.linear.channels, out.linear.format);
    case resource_pitch2d:
      out.pitch2d.pointer = reinterpret_cast<void*>(d.pitch2d.address);
      out.pitch2d.width = d.pitch2d.width;
      out.pitch2d.height = d.pitch2d.height;
      out.pitch2d.pitch = d.pitch2d.pitch;
      return channel_format(d.pitch2d.format, d.pitch2d.channels, out.pitch2d.format);
    default: out.array = d.array; return true;
  }
}

}  // namespace

SIMTLAB_DRIVER_API DriverResult cuArrayCreate_v2(CudaArray** out, const ArrayDescriptor* d) {
  return d == nullptr ? driver_invalid_value
                      : make_array(out, {d->width, d->height, 0, d->format, d->channels, 0});
}
SIMTLAB_DRIVER_API DriverResult cuArray3DCreate_v2(CudaArray** out, const Array3DDescriptor* d) {
  return d == nullptr ? driver_invalid_value : make_array(out, *d);
}
SIMTLAB_DRIVER_API DriverResult cuArrayGetDescriptor_v2(ArrayDescriptor* out, const CudaArray* array) {
  Array3DDescriptor d{};
  if (out == nullptr) return driver_invalid_value;
  const DriverResult code = describe(array, d);
  if (code == driver_success) *out = {d.width, d.height, d.format, d.channels};
  return code;
}
SIMTLAB_DRIVER_API DriverResult cuArray3DGetDescriptor_v2(Array3DDescriptor* out, const CudaArray* array) {
  return out == nullptr ? driver_invalid_value : describe(array, *out);
}
SIMTLAB_DRIVER_API DriverResult cuArrayDestroy(CudaArray* array) {
  if (array == nullptr) return driver_invalid_handle;
  return forward([&] { return cudaFreeArray(array); });
}

SIMTLAB_DRIVER_API DriverResult cuTexObjectCreate(unsigned long long* out, const DriverResource* resource,
                                                  const DriverTexture* texture, const void* view) {
  if (out == nullptr || resource == nullptr || texture == nullptr) return driver_invalid_value;
  ResourceDesc r{};
  if (!resource_of(*resource, r)) return driver_invalid_value;
  // The runtime's structure goes on behind what is declared of it.
  struct {
    TextureDesc desc;
    char rest[64];
  } t{};
  std::memcpy(t.desc.address_mode, texture->address_mode, sizeof t.desc.address_mode);
  t.desc.filter_mode = texture->filter_mode;
  t.desc.read_mode = (texture->flags & texture_as_integer) != 0 ? 0 : 1;
  t.desc.srgb = (texture->flags & texture_srgb) != 0 ? 1 : 0;
  std::memcpy(t.desc.border, texture->border, sizeof t.desc.border);
  t.desc.normalized = (texture->flags & texture_normalized) != 0 ? 1 : 0;
  return forward([&] { return cudaCreateTextureObject(out, &r, &t.desc, view); });
}
SIMTLAB_DRIVER_API DriverResult cuTexObjectDestroy(unsigned long long texture) {
  return forward([&] { return cudaDestroyTextureObject(texture); });
}
