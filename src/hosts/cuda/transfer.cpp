#include "hosts/cuda/transfer.h"

#include <cstring>

namespace simtlab::hosts::cuda {
namespace {

using CopyKind = gpu::Gpu::CopyKind;

bool on_device(Runtime& runtime, const void* pointer) {
  const MemoryKind* kind = runtime.kind_of(pointer);
  return kind != nullptr && *kind != MemoryKind::host;
}

// As far as it is known: of page-locked memory that the device does not see, the first byte alone.
bool is_page_locked(Runtime& runtime, void* pointer) {
  if (runtime.kind_of(pointer) != nullptr || runtime.plain_host.contains(pointer)) return true;
  auto registered = runtime.registered_host.upper_bound(pointer);
  if (registered == runtime.registered_host.begin()) return false;
  --registered;
  return static_cast<const std::byte*>(pointer) <
         static_cast<const std::byte*>(registered->first) + registered->second;
}

int resolve(Runtime& runtime, const void* dst, const void* src, int kind) {
  if (kind != by_address) return kind;
  const bool to = on_device(runtime, dst), from = on_device(runtime, src);
  return to ? (from ? device_to_device : host_to_device) : (from ? device_to_host : host_to_host);
}

void copy_on_host(void* dst, const void* src, const gpu::Gpu::Box& box) {
  auto* to = static_cast<std::byte*>(dst);
  const auto* from = static_cast<const std::byte*>(src);
  for (std::uint64_t z = 0; z < box.depth; ++z)
    for (std::uint64_t y = 0; y < box.height; ++y)
      std::memmove(to + z * box.dst_slice + y * box.dst_pitch, from + z * box.src_slice + y * box.src_pitch,
                   box.width);
}

}  // namespace

CudaError copy_box(Runtime& runtime, void* dst, const void* src, const gpu::Gpu::Box& box, int kind,
                   StreamHandle stream_handle, bool async) {
  gpu::Gpu& gpu = runtime.gpu();
  const std::optional<gpu::StreamId> stream = runtime.stream(stream_handle);
  if (!stream) return error_invalid_resource_handle;
  if (box.width == 0 || box.height == 0 || box.depth == 0) return success;
  if (dst == nullptr || src == nullptr) return error_invalid_value;
  if (runtime.graphs.capture_of(*stream) != nullptr) {
    if (!async) return error_stream_capture_unsupported;
    runtime.graphs.add(*stream, NodeType::copy)->submit = [=](Runtime& r, StreamHandle to, bool) {
      return copy_box(r, dst, src, box, kind, to, true);
    };
    return success;
  }
  bool done = false;
  switch (resolve(runtime, dst, src, kind)) {
    case host_to_host:
      gpu.synchronize(*stream);
      copy_on_host(dst, src, box);
      return success;
    case host_to_device: done = gpu.copy_box(dst, src, box, CopyKind::host_to_device, *stream, async); break;
    case device_to_host:
      done = gpu.copy_box(dst, src, box, CopyKind::device_to_host, *stream, async);
      // The call returns when all has been copied.
      if (async && !is_page_locked(runtime, dst)) gpu.host_knows_end(*stream);
      break;
    // The host does not wait for copies within the device.
    case device_to_device:
      done = gpu.copy_box(dst, src, box, CopyKind::device_to_device, *stream, true);
      break;
    default: return error_invalid_memcpy_direction;
  }
  return done ? success : error_invalid_value;
}

CudaError copy_linear(Runtime& runtime, void* dst, const void* src, std::size_t bytes, int kind,
                      StreamHandle stream, bool async) {
  gpu::Gpu::Box box;
  box.width = bytes;
  return copy_box(runtime, dst, src, box, kind, stream, async);
}

CudaError fill_box(Runtime& runtime, void* dst, int value, const gpu::Gpu::Box& box,
                   StreamHandle stream_handle, bool) {
  gpu::Gpu& gpu = runtime.gpu();
  const std::optional<gpu::StreamId> stream = runtime.stream(stream_handle);
  if (!stream) return error_invalid_resource_handle;
  if (runtime.graphs.capture_of(*stream) != nullptr) {
    runtime.graphs.add(*stream, NodeType::fill)->submit = [=](Runtime& r, StreamHandle to, bool) {
      return fill_box(r, dst, value, box, to, true);
    };
    return success;
  }
  // cudaMemset returns before the device is done, in its synchronous form too.
  const bool done = gpu.fill_box(reinterpret_cast<std::uint64_t>(dst), static_cast<std::byte>(value & 0xff),
                                 box, *stream, true);
  return done ? success : error_invalid_value;
}

CudaError symbol_of(Runtime& runtime, const void* host, gpu::Symbol& symbol) {
  const VariableEntry* entry = runtime.images.find_variable(host);
  if (entry == nullptr) entry = runtime.images.find_variable_named(host);
  if (entry == nullptr) return error_invalid_symbol;
  gpu::Gpu& gpu = runtime.gpu();
  runtime.images.load(*entry->image, gpu);
  const std::optional<gpu::Symbol> found = gpu.find_symbol(*entry->image->module, entry->name);
  if (!found) return error_invalid_symbol;
  symbol = *found;
  return success;
}

}  // namespace simtlab::hosts::cuda
