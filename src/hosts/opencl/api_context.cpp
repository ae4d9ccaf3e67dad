// Contexts and command queues.
#include "hosts/opencl/api.h"
#include "hosts/opencl/commands.h"
#include "hosts/opencl/info.h"

namespace simtlab::hosts::opencl::api {
namespace {

using Notify = void(CL_CALLBACK*)(const char*, const void*, size_t, void*);
constexpr cl_command_queue_properties known_properties =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;

std::vector<cl_context_properties> checked(const State& state, const cl_context_properties* properties) {
  std::vector<cl_context_properties> out;
  if (properties == nullptr) return out;
  for (const cl_context_properties* p = properties; *p != 0; p += 2) {
    if (p[0] == CL_CONTEXT_PLATFORM)
      require(state.is_platform(reinterpret_cast<cl_platform_id>(p[1])), CL_INVALID_PLATFORM);
    else
      require(p[0] == CL_CONTEXT_INTEROP_USER_SYNC, CL_INVALID_PROPERTY);
    for (std::size_t i = 0; i + 1 < out.size(); i += 2) require(out[i] != p[0], CL_INVALID_PROPERTY);
    out.insert(out.end(), {p[0], p[1]});
  }
  out.push_back(0);
  return out;
}

std::shared_ptr<Context> make_context(State& state, const cl_context_properties* properties) {
  auto context = std::make_shared<Context>();
  context->properties = checked(state, properties);
  state.require_device();
  static_cast<void>(state.gpu());
  return context;
}

std::shared_ptr<Queue> make_queue(State& state, cl_context context_handle, cl_device_id device,
                                  cl_command_queue_properties properties) {
  auto context = need<Context>(context_handle, CL_INVALID_CONTEXT);
  require(state.is_device(device), CL_INVALID_DEVICE);
  require((properties & ~known_properties) == 0, CL_INVALID_VALUE);
  state.require_device();
  return std::make_shared<Queue>(std::move(context), properties);
}

}  // namespace

cl_context CL_API_CALL clCreateContext(const cl_context_properties* properties, cl_uint count,
                                       const cl_device_id* devices, Notify notify, void* data, cl_int* code) {
  return create<cl_context>(code, [&](State& state) {
    require(count != 0 && devices != nullptr && (notify != nullptr || data == nullptr), CL_INVALID_VALUE);
    for (cl_uint i = 0; i < count; ++i) require(state.is_device(devices[i]), CL_INVALID_DEVICE);
    return make_context(state, properties);
  });
}

cl_context CL_API_CALL clCreateContextFromType(const cl_context_properties* properties, cl_device_type type,
                                               Notify notify, void* data, cl_int* code) {
  return create<cl_context>(code, [&](State& state) {
    require(notify != nullptr || data == nullptr, CL_INVALID_VALUE);
    constexpr cl_device_type known = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                     CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
    require(type == CL_DEVICE_TYPE_ALL || (type != 0 && (type & ~known) == 0), CL_INVALID_DEVICE_TYPE);
    require((type & (CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_GPU)) != 0, CL_DEVICE_NOT_FOUND);
    return make_context(state, properties);
  });
}

cl_int CL_API_CALL clRetainContext(cl_context context) {
  return retain<Context>(context, CL_INVALID_CONTEXT);
}
cl_int CL_API_CALL clReleaseContext(cl_context context) {
  return release<Context>(context, CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL clGetContextInfo(cl_context handle, cl_context_info what, size_t size, void* value,
                                    size_t* size_out) {
  return call([&](State& state) -> cl_int {
    const auto context = need<Context>(handle, CL_INVALID_CONTEXT);
    const Answer answer(size, value, size_out);
    switch (what) {
      case CL_CONTEXT_REFERENCE_COUNT: return answer.number(context->references());
      case CL_CONTEXT_NUM_DEVICES: return answer.number(1);
      case CL_CONTEXT_DEVICES:
        return answer.one(reinterpret_cast<cl_device_id>(state.device_object()->handle()));
      case CL_CONTEXT_PROPERTIES: return answer.list(context->properties);
      default: return CL_INVALID_VALUE;
    }
  });
}

cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device,
                                                  cl_command_queue_properties properties, cl_int* code) {
  return create<cl_command_queue>(
      code, [&](State& state) { return make_queue(state, context, device, properties); });
}

// Of OpenCL 2.0; programs that are built against newer headers use it with any device.
cl_command_queue CL_API_CALL clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                                const cl_queue_properties* list,
                                                                cl_int* code) {
  return create<cl_command_queue>(code, [&](State& state) {
    cl_command_queue_properties properties = 0;
    for (const cl_queue_properties* p = list; p != nullptr && *p != 0; p += 2) {
      require(p[0] == CL_QUEUE_PROPERTIES, CL_INVALID_VALUE);
      properties = p[1];
    }
    require((properties & ~known_properties) == 0, CL_INVALID_QUEUE_PROPERTIES);
    return make_queue(state, context, device, properties);
  });
}

cl_int CL_API_CALL clSetCommandQueueProperty(cl_command_queue handle, cl_command_queue_properties properties,
                                             cl_bool enable, cl_command_queue_properties* old) {
  return call([&](State& state) -> cl_int {
    const auto queue = need<Queue>(handle, CL_INVALID_COMMAND_QUEUE);
    require((properties & ~known_properties) == 0, CL_INVALID_VALUE);
    if (old != nullptr) *old = queue->properties;
    finish(state, queue);
    queue->properties = enable != CL_FALSE ? queue->properties | properties : queue->properties & ~properties;
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue queue) {
  return retain<Queue>(queue, CL_INVALID_COMMAND_QUEUE);
}
cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue queue) {
  return release<Queue>(queue, CL_INVALID_COMMAND_QUEUE);
}

cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue handle, cl_command_queue_info what, size_t size,
                                         void* value, size_t* size_out) {
  return call([&](State& state) -> cl_int {
    const auto queue = need<Queue>(handle, CL_INVALID_COMMAND_QUEUE);
    const Answer answer(size, value, size_out);
    switch (what) {
      case CL_QUEUE_CONTEXT: return answer.one(reinterpret_cast<cl_context>(queue->context->handle()));
      case CL_QUEUE_DEVICE:
        return answer.one(reinterpret_cast<cl_device_id>(state.device_object()->handle()));
      case CL_QUEUE_REFERENCE_COUNT: return answer.number(queue->references());
      case CL_QUEUE_PROPERTIES: return answer.bits(queue->properties);
      default: return CL_INVALID_VALUE;
    }
  });
}

cl_int CL_API_CALL clFlush(cl_command_queue queue) {
  return call([&](State& state) -> cl_int {
    need<Queue>(queue, CL_INVALID_COMMAND_QUEUE);
    state.require_device();
    pump(state);
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clFinish(cl_command_queue handle) {
  return call([&](State& state) -> cl_int {
    finish(state, need<Queue>(handle, CL_INVALID_COMMAND_QUEUE));
    return CL_SUCCESS;
  });
}

}  // namespace simtlab::hosts::opencl::api
