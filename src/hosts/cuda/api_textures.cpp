// Texture references (as CUDA 11 and earlier have them) and texture objects.
#include <algorithm>
#include <map>

#include "hosts/cuda/call.h"

using namespace simtlab::hosts::cuda;
namespace exec = simtlab::exec;
namespace gpu = simtlab::gpu;

namespace {

struct Sampling {
  const int* address_mode;
  int filter_mode, normalized_coordinates;
  bool read_normalized;
};

// False: a format that CUDA has not either (components of different widths, three components).
bool set_format(exec::Texture& t, const ChannelFormat& f) {
  const int bits[4] = {f.x, f.y, f.z, f.w};
  int channels = 0;
  while (channels < 4 && bits[channels] != 0) ++channels;
  for (int i = 0; i < 4; ++i)
    if (bits[i] != (i < channels ? bits[0] : 0)) return false;
  if (channels == 0 || channels == 3 || (bits[0] != 8 && bits[0] != 16 && bits[0] != 32) || f.kind < 0 ||
      f.kind > 2)
    return false;
  t.channels = static_cast<std::uint8_t>(channels);
  t.channel_bits = static_cast<std::uint8_t>(bits[0]);
  t.kind = f.kind == 0   ? exec::ChannelKind::signed_int
           : f.kind == 1 ? exec::ChannelKind::unsigned_int
                         : exec::ChannelKind::floating;
  return true;
}

void set_sampling(exec::Texture& t, const Sampling& s) {
  for (int i = 0; i < 3; ++i) {
    switch (s.address_mode[i]) {
      case 0: t.address_mode[i] = exec::AddressMode::wrap; break;
      case 2: t.address_mode[i] = exec::AddressMode::mirror; break;
      case 3: t.address_mode[i] = exec::AddressMode::border; break;
      default: t.address_mode[i] = exec::AddressMode::clamp; break;
    }
  }
  t.linear_filter = s.filter_mode == 1;
  t.normalized_coordinates = s.normalized_coordinates != 0;
  t.read_normalized_float = s.read_normalized && t.kind != exec::ChannelKind::floating;
}

std::uint64_t texel_bytes(const exec::Texture& t) { return std::uint64_t{t.channels} * t.channel_bits / 8; }

// Texels of linear memory; `bytes` may say more than there is ("all of it").
CudaError set_linear(Runtime& r, exec::Texture& t, const void* pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const exec::Allocation* allocation = r.gpu().memory().find(address);
  if (allocation == nullptr) return error_invalid_device_pointer;
  t.address = address;
  t.width =
      std::min<std::uint64_t>(bytes, allocation->address + allocation->bytes - address) / texel_bytes(t);
  t.height = t.depth = 1;
  t.is_line = true;
  t.pitch_bytes = t.width * texel_bytes(t);
  return success;
}

CudaError set_plane(Runtime& r, exec::Texture& t, const void* pointer, std::size_t width, std::size_t height,
                    std::size_t pitch) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  std::size_t last = 0;
  if (width == 0 || height == 0 || __builtin_mul_overflow(pitch, height - 1, &last) ||
      width > pitch / texel_bytes(t))
    return error_invalid_value;
  if (r.gpu().memory().find(address, last + width * texel_bytes(t)) == nullptr)
    return error_invalid_device_pointer;
  t.address = address;
  t.width = width;
  t.height = height;
  t.depth = 1;
  t.pitch_bytes = pitch;
  return success;
}

CudaError set_array(Runtime& r, exec::Texture& t, const CudaArray* array) {
  if (!r.arrays.contains(const_cast<CudaArray*>(array))) return error_invalid_value;
  if (!set_format(t, array->format)) return error_invalid_channel_descriptor;
  t.address = array->address;
  t.width = array->width;
  t.height = array->rows();
  t.depth = array->slices();
  t.is_line = array->height == 0 && array->depth == 0;
  t.pitch_bytes = array->row_bytes();
  return success;
}

// Finishes a texture reference's binding: sampling from the host's structure, texels as found.
CudaError bind(Runtime& r, const TextureReference* reference, TextureEntry& entry, exec::Texture& t) {
  set_sampling(
      t, {reference->address_mode, reference->filter_mode, reference->normalized, entry.normalized_read});
  gpu::Gpu& g = r.gpu();
  r.images.load(*entry.image, g);
  const simtlab::ptx::Module& module = g.module(*entry.image->module);
  const simtlab::ptx::Variable* variable = module.find_variable(entry.name);
  // A reference that no kernel reads may be missing from the PTX; binding it has no effect then.
  if (variable != nullptr)
    g.loaded(*entry.image->module)
        .bind_texture(static_cast<std::uint32_t>(variable - module.variables.data()), t);
  entry.bound_address = t.address;
  return success;
}

template <typename Fill>
CudaError bind_reference(const TextureReference* reference, const ChannelFormat* format, Fill&& fill) {
  return call([&](Runtime& r) {
    TextureEntry* entry = r.images.find_texture(reference);
    if (entry == nullptr) return error_invalid_texture;
    exec::Texture t;
    if (format != nullptr && !set_format(t, *format)) return error_invalid_channel_descriptor;
    const CudaError code = fill(r, t);
    return code == success ? bind(r, reference, *entry, t) : code;
  });
}

struct ObjectDescription {
  ResourceDesc resource;
  TextureDesc texture;
};
// What cudaGetTextureObject*Desc tells back; under the lock like everything else.
std::map<std::uint64_t, ObjectDescription>& objects() {
  static auto* all = new std::map<std::uint64_t, ObjectDescription>;
  return *all;
}

CudaError describe_object(Runtime& r, const ResourceDesc& d, exec::Texture& t) {
  switch (d.type) {
    case resource_array: return set_array(r, t, d.array);
    case resource_linear:
      if (!set_format(t, d.linear.format)) return error_invalid_channel_descriptor;
      return set_linear(r, t, d.linear.pointer, d.linear.bytes);
    case resource_pitch2d:
      if (!set_format(t, d.pitch2d.format)) return error_invalid_channel_descriptor;
      return set_plane(r, t, d.pitch2d.pointer, d.pitch2d.width, d.pitch2d.height, d.pitch2d.pitch);
    case resource_mipmapped: return r.unsupported("cudaCreateTextureObject", "mipmapped arrays");
    default: return error_invalid_value;
  }
}

}  // namespace

SIMTLAB_CUDA_API ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}

SIMTLAB_CUDA_API CudaError cudaBindTexture(std::size_t* offset, const TextureReference* reference,
                                           const void* pointer, const ChannelFormat* format,
                                           std::size_t bytes) {
  if (format == nullptr) return note(error_invalid_value);
  if (offset != nullptr) *offset = 0;
  return bind_reference(reference, format,
                        [&](Runtime& r, exec::Texture& t) { return set_linear(r, t, pointer, bytes); });
}
SIMTLAB_CUDA_API CudaError cudaBindTexture2D(std::size_t* offset, const TextureReference* reference,
                                             const void* pointer, const ChannelFormat* format,
                                             std::size_t width, std::size_t height, std::size_t pitch) {
  if (format == nullptr) return note(error_invalid_value);
  if (offset != nullptr) *offset = 0;
  return bind_reference(reference, format, [&](Runtime& r, exec::Texture& t) {
    return set_plane(r, t, pointer, width, height, pitch);
  });
}
SIMTLAB_CUDA_API CudaError cudaBindTextureToArray(const TextureReference* reference, const CudaArray* array,
                                                  const ChannelFormat*) {
  return bind_reference(reference, nullptr,
                        [&](Runtime& r, exec::Texture& t) { return set_array(r, t, array); });
}
SIMTLAB_CUDA_API CudaError cudaUnbindTexture(const TextureReference* reference) {
  return call([&](Runtime& r) {
    TextureEntry* entry = r.images.find_texture(reference);
    if (entry == nullptr) return error_invalid_texture;
    entry->bound_address = 0;
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaGetTextureAlignmentOffset(std::size_t* offset,
                                                         const TextureReference* reference) {
  return call([&](Runtime& r) {
    const TextureEntry* entry = r.images.find_texture(reference);
    if (entry == nullptr || offset == nullptr) return error_invalid_texture;
    if (entry->bound_address == 0) return error_invalid_texture_binding;
    *offset = 0;
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaGetTextureReference(const TextureReference** out, const void* symbol) {
  return call([&](Runtime& r) {
    if (out == nullptr || r.images.find_texture(symbol) == nullptr) return error_invalid_texture;
    *out = static_cast<const TextureReference*>(symbol);
    return success;
  });
}

SIMTLAB_CUDA_API CudaError cudaCreateTextureObject(unsigned long long* out, const ResourceDesc* resource,
                                                   const TextureDesc* texture, const void* view) {
  return call([&](Runtime& r) {
    if (out == nullptr || resource == nullptr || texture == nullptr) return error_invalid_value;
    if (view != nullptr) return r.unsupported("cudaCreateTextureObject", "a resource view");
    exec::Texture t;
    const CudaError code = describe_object(r, *resource, t);
    if (code != success) return code;
    set_sampling(t,
                 {texture->address_mode, texture->filter_mode, texture->normalized, texture->read_mode == 1});
    *out = r.gpu().create_texture(t);
    objects()[*out] = {*resource, *texture};
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaDestroyTextureObject(unsigned long long object) {
  return call([&](Runtime& r) {
    objects().erase(object);
    return r.gpu().destroy_texture(object) ? success : error_invalid_value;
  });
}
SIMTLAB_CUDA_API CudaError cudaGetTextureObjectResourceDesc(ResourceDesc* out, unsigned long long object) {
  return call([&](Runtime&) {
    const auto it = objects().find(object);
    if (out == nullptr || it == objects().end()) return error_invalid_value;
    *out = it->second.resource;
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaGetTextureObjectTextureDesc(TextureDesc* out, unsigned long long object) {
  return call([&](Runtime&) {
    const auto it = objects().find(object);
    if (out == nullptr || it == objects().end()) return error_invalid_value;
    *out = it->second.texture;
    return success;
  });
}
