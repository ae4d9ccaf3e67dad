// Buffers and sub-buffers.
#include "hosts/opencl/api.h"
#include "hosts/opencl/info.h"
#include "hosts/opencl/limits.h"
#include "hosts/opencl/state.h"

namespace simtlab::hosts::opencl::api {
namespace {

constexpr cl_mem_flags access_flags = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
constexpr cl_mem_flags host_access_flags =
    CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
constexpr cl_mem_flags pointer_flags = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

bool at_most_one(cl_mem_flags flags) { return (flags & (flags - 1)) == 0; }

void check_flags(cl_mem_flags flags) {
  require((flags & ~(access_flags | host_access_flags | pointer_flags)) == 0, CL_INVALID_VALUE);
  require(at_most_one(flags & access_flags) && at_most_one(flags & host_access_flags), CL_INVALID_VALUE);
  require((flags & CL_MEM_USE_HOST_PTR) == 0 || (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)) == 0,
          CL_INVALID_VALUE);
}

std::shared_ptr<Buffer> make_buffer(State& state, cl_context context, cl_mem_flags flags, std::size_t size,
                                    void* host) {
  auto buffer = std::make_shared<Buffer>();
  buffer->context = need<Context>(context, CL_INVALID_CONTEXT);
  check_flags(flags);
  require(size != 0 && size <= most_buffer_bytes(state.device()), CL_INVALID_BUFFER_SIZE);
  require((host != nullptr) == ((flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0),
          CL_INVALID_HOST_PTR);
  state.require_device();
  const auto address = state.gpu().allocate(size, "cl_mem");
  require(address.has_value(), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  buffer->address = *address;
  buffer->flags = (flags & access_flags) == 0 ? flags | CL_MEM_READ_WRITE : flags;
  buffer->size = size;
  if ((flags & CL_MEM_USE_HOST_PTR) != 0) buffer->host_pointer = host;
  if (host != nullptr)
    require(state.gpu().copy(reinterpret_cast<void*>(*address), host, size,
                             gpu::Gpu::CopyKind::host_to_device, 0, false),
            CL_OUT_OF_RESOURCES);
  return buffer;
}

// What a sub-buffer takes over from its parent where it says nothing.
cl_mem_flags inherited(cl_mem_flags flags, cl_mem_flags parent) {
  require((flags & ~(access_flags | host_access_flags)) == 0, CL_INVALID_VALUE);
  require(at_most_one(flags & access_flags) && at_most_one(flags & host_access_flags), CL_INVALID_VALUE);
  const auto excludes = [&](cl_mem_flags of_parent, cl_mem_flags mine) {
    return (parent & of_parent) != 0 && (flags & mine) != 0;
  };
  require(!excludes(CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY) &&
              !excludes(CL_MEM_READ_ONLY, CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY),
          CL_INVALID_VALUE);
  require(!excludes(CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY) &&
              !excludes(CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY) &&
              !excludes(CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY),
          CL_INVALID_VALUE);
  cl_mem_flags out = flags | (parent & pointer_flags);
  if ((out & access_flags) == 0) out |= parent & access_flags;
  if ((out & host_access_flags) == 0) out |= parent & host_access_flags;
  return out;
}

}  // namespace

cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host,
                                  cl_int* code) {
  return create<cl_mem>(code, [&](State& state) { return make_buffer(state, context, flags, size, host); });
}

cl_mem CL_API_CALL clCreateBufferWithProperties(cl_context context, const cl_mem_properties* properties,
                                                cl_mem_flags flags, size_t size, void* host, cl_int* code) {
  return create<cl_mem>(code, [&](State& state) {
    require(properties == nullptr || *properties == 0, CL_INVALID_PROPERTY);
    return make_buffer(state, context, flags, size, host);
  });
}

cl_mem CL_API_CALL clCreateSubBuffer(cl_mem handle, cl_mem_flags flags, cl_buffer_create_type type,
                                     const void* info, cl_int* code) {
  return create<cl_mem>(code, [&](State&) {
    const auto parent = need<Buffer>(handle, CL_INVALID_MEM_OBJECT);
    require(parent->parent == nullptr, CL_INVALID_MEM_OBJECT);
    require(type == CL_BUFFER_CREATE_TYPE_REGION && info != nullptr, CL_INVALID_VALUE);
    cl_buffer_region region;
    std::memcpy(&region, info, sizeof region);
    require(region.size != 0, CL_INVALID_BUFFER_SIZE);
    require(region.origin <= parent->size && region.size <= parent->size - region.origin, CL_INVALID_VALUE);
    require(region.origin % base_alignment == 0, CL_MISALIGNED_SUB_BUFFER_OFFSET);
    auto buffer = std::make_shared<Buffer>();
    buffer->flags = inherited(flags, parent->flags);
    buffer->context = parent->context;
    buffer->size = region.size;
    buffer->origin = region.origin;
    buffer->address = parent->address + region.origin;
    if (parent->host_pointer != nullptr)
      buffer->host_pointer = static_cast<std::byte*>(parent->host_pointer) + region.origin;
    buffer->parent = parent;
    return buffer;
  });
}

cl_int CL_API_CALL clRetainMemObject(cl_mem memory) { return retain<Buffer>(memory, CL_INVALID_MEM_OBJECT); }
cl_int CL_API_CALL clReleaseMemObject(cl_mem memory) {
  return release<Buffer>(memory, CL_INVALID_MEM_OBJECT);
}

cl_int CL_API_CALL clGetMemObjectInfo(cl_mem handle, cl_mem_info what, size_t size, void* value,
                                      size_t* size_out) {
  return call([&](State&) -> cl_int {
    const auto buffer = need<Buffer>(handle, CL_INVALID_MEM_OBJECT);
    const Answer answer(size, value, size_out);
    switch (what) {
      case CL_MEM_TYPE: return answer.one<cl_mem_object_type>(CL_MEM_OBJECT_BUFFER);
      case CL_MEM_FLAGS: return answer.bits(buffer->flags);
      case CL_MEM_SIZE: return answer.size(buffer->size);
      case CL_MEM_HOST_PTR: return answer.one(buffer->host_pointer);
      case CL_MEM_MAP_COUNT: return answer.number(static_cast<cl_uint>(buffer->mappings.size()));
      case CL_MEM_REFERENCE_COUNT: return answer.number(buffer->references());
      case CL_MEM_CONTEXT: return answer.one(reinterpret_cast<cl_context>(buffer->context->handle()));
      case CL_MEM_ASSOCIATED_MEMOBJECT:
        return answer.one(buffer->parent ? reinterpret_cast<cl_mem>(buffer->parent->handle()) : nullptr);
      case CL_MEM_OFFSET: return answer.size(buffer->origin);
      default: return CL_INVALID_VALUE;
    }
  });
}

cl_int CL_API_CALL clSetMemObjectDestructorCallback(cl_mem memory, Buffer::Destructor function, void* data) {
  return call([&](State&) -> cl_int {
    const auto buffer = need<Buffer>(memory, CL_INVALID_MEM_OBJECT);
    require(function != nullptr, CL_INVALID_VALUE);
    buffer->destructors.emplace_back(function, data);
    return CL_SUCCESS;
  });
}

// There are none.
cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags, cl_mem_object_type type,
                                              cl_uint entries, cl_image_format* formats, cl_uint* count) {
  return call([&](State&) -> cl_int {
    need<Context>(context, CL_INVALID_CONTEXT);
    require(type >= CL_MEM_OBJECT_IMAGE2D && type <= CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_INVALID_VALUE);
    require(formats == nullptr || entries != 0, CL_INVALID_VALUE);
    if (count != nullptr) *count = 0;
    return CL_SUCCESS;
  });
}

}  // namespace simtlab::hosts::opencl::api
