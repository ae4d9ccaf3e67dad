// Mapped buffers: memory of the host that is filled when a region is mapped and written back when it is
// unmapped.
#include <algorithm>

#include "hosts/opencl/api.h"
#include "hosts/opencl/commands.h"

namespace simtlab::hosts::opencl::api {
namespace {

using Kind = gpu::Gpu::CopyKind;

Buffer::Mapping map_region(const Buffer& buffer, std::size_t offset, std::size_t size, cl_map_flags flags) {
  Buffer::Mapping m;
  m.offset = offset;
  m.size = size;
  m.flags = flags;
  if (buffer.host_pointer != nullptr) {
    m.pointer = static_cast<std::byte*>(buffer.host_pointer) + offset;
  } else {
    // Aligned as any type of OpenCL wants it.
    constexpr std::size_t alignment = 128;
    m.memory = std::make_shared<std::vector<std::byte>>(size + alignment);
    const auto address = reinterpret_cast<std::uintptr_t>(m.memory->data());
    m.pointer = m.memory->data() + (alignment - address % alignment) % alignment;
  }
  return m;
}

}  // namespace

void* CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue_handle, cl_mem memory, cl_bool blocking,
                                     cl_map_flags flags, size_t offset, size_t size, cl_uint count,
                                     const cl_event* list, cl_event* event, cl_int* code_out) {
  void* pointer = nullptr;
  const cl_int code = call([&](State& state) -> cl_int {
    const auto queue = need<Queue>(queue_handle, CL_INVALID_COMMAND_QUEUE);
    const auto buffer = need<Buffer>(memory, CL_INVALID_MEM_OBJECT);
    require(buffer->context == queue->context, CL_INVALID_CONTEXT);
    constexpr cl_map_flags known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
    require((flags & ~known) == 0, CL_INVALID_VALUE);
    require((flags & CL_MAP_WRITE_INVALIDATE_REGION) == 0 || (flags & (CL_MAP_READ | CL_MAP_WRITE)) == 0,
            CL_INVALID_VALUE);
    require(size != 0 && offset <= buffer->size && size <= buffer->size - offset, CL_INVALID_VALUE);
    require((buffer->flags & CL_MEM_HOST_NO_ACCESS) == 0, CL_INVALID_OPERATION);
    require((flags & CL_MAP_READ) == 0 || (buffer->flags & CL_MEM_HOST_WRITE_ONLY) == 0,
            CL_INVALID_OPERATION);
    require((flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) == 0 ||
                (buffer->flags & CL_MEM_HOST_READ_ONLY) == 0,
            CL_INVALID_OPERATION);
    const Buffer::Mapping mapping = map_region(*buffer, offset, size, flags);
    const Submission s{queue, CL_COMMAND_MAP_BUFFER, wait_list(*queue->context, count, list), event,
                       blocking != CL_FALSE};
    const cl_int result = enqueue(state, s, [&state, queue = queue.get(), buffer, mapping] {
      if ((mapping.flags & CL_MAP_WRITE_INVALIDATE_REGION) != 0) return;
      require(state.gpu().copy(mapping.pointer, reinterpret_cast<void*>(buffer->address + mapping.offset),
                               mapping.size, Kind::device_to_host, queue->stream, true),
              CL_OUT_OF_RESOURCES);
    });
    if (result != CL_SUCCESS) return result;
    buffer->mappings.push_back(mapping);
    pointer = mapping.pointer;
    return CL_SUCCESS;
  });
  if (code_out != nullptr) *code_out = code;
  return pointer;
}

cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue_handle, cl_mem memory, void* pointer,
                                           cl_uint count, const cl_event* list, cl_event* event) {
  return call([&](State& state) -> cl_int {
    const auto queue = need<Queue>(queue_handle, CL_INVALID_COMMAND_QUEUE);
    const auto buffer = need<Buffer>(memory, CL_INVALID_MEM_OBJECT);
    require(buffer->context == queue->context, CL_INVALID_CONTEXT);
    const auto found =
        std::ranges::find(buffer->mappings, static_cast<std::byte*>(pointer), &Buffer::Mapping::pointer);
    require(found != buffer->mappings.end(), CL_INVALID_VALUE);
    const Buffer::Mapping mapping = *found;
    const Submission s{queue, CL_COMMAND_UNMAP_MEM_OBJECT, wait_list(*queue->context, count, list), event};
    const cl_int code = enqueue(state, s, [&state, queue = queue.get(), buffer, mapping] {
      if ((mapping.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) == 0) return;
      require(state.gpu().copy(reinterpret_cast<void*>(buffer->address + mapping.offset), mapping.pointer,
                               mapping.size, Kind::host_to_device, queue->stream, true),
              CL_OUT_OF_RESOURCES);
    });
    if (code == CL_SUCCESS)
      std::erase_if(buffer->mappings, [&, done = false](const Buffer::Mapping& m) mutable {
        return !done && m.pointer == mapping.pointer && (done = true);
      });
    return code;
  });
}

}  // namespace simtlab::hosts::opencl::api
