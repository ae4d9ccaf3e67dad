// Launching kernels.
#include "gpu/launch_values.h"
#include "hosts/opencl/api.h"
#include "hosts/opencl/build.h"
#include "hosts/opencl/commands.h"
#include "hosts/opencl/launch.h"

namespace simtlab::hosts::opencl::api {
namespace {

cl_int launch(State& state, const Submission& s, const std::shared_ptr<Kernel>& kernel, cl_uint dimensions,
              const size_t* offset, const size_t* global, const size_t* local) {
  gpu::Kernel code = kernel->kernel;
  const Range range = make_range(state.device(), kernel->function(), dimensions, offset, global, local);
  if (range.has_offset) {
    const gpu::ModuleId module = offset_module(state, *kernel->program);
    const auto found = state.gpu().find_kernel(module, kernel->name);
    require(found.has_value(), CL_INVALID_GLOBAL_OFFSET);
    code = *found;
  }
  const ptx::Function& function = state.gpu().module(code.module).functions[code.function];
  Arguments arguments = gather_arguments(state.device(), *kernel, function);
  for (const auto& buffer : arguments.buffers)
    require(buffer->context == s.queue->context, CL_INVALID_CONTEXT);
  return enqueue(state, s,
                 [&state, queue = s.queue.get(), kernel, code, range, arguments = std::move(arguments)] {
                   gpu::set_launch_values(state.gpu(), code.module, {range.offset, range.dimensions});
                   state.gpu().launch(code, range.groups, range.local, arguments.local_bytes, arguments.block,
                                      queue->stream);
                 });
}

}  // namespace

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue_handle, cl_kernel kernel_handle,
                                          cl_uint dimensions, const size_t* offset, const size_t* global,
                                          const size_t* local, cl_uint count, const cl_event* list,
                                          cl_event* event) {
  return call([&](State& state) -> cl_int {
    const auto queue = need<Queue>(queue_handle, CL_INVALID_COMMAND_QUEUE);
    const auto kernel = need<Kernel>(kernel_handle, CL_INVALID_KERNEL);
    require(kernel->program->context == queue->context, CL_INVALID_CONTEXT);
    for (const Kernel::Argument& a : kernel->arguments) require(a.set, CL_INVALID_KERNEL_ARGS);
    const Submission s{queue, CL_COMMAND_NDRANGE_KERNEL, wait_list(*queue->context, count, list), event};
    return launch(state, s, kernel, dimensions, offset, global, local);
  });
}

cl_int CL_API_CALL clEnqueueTask(cl_command_queue queue_handle, cl_kernel kernel_handle, cl_uint count,
                                 const cl_event* list, cl_event* event) {
  return call([&](State& state) -> cl_int {
    const auto queue = need<Queue>(queue_handle, CL_INVALID_COMMAND_QUEUE);
    const auto kernel = need<Kernel>(kernel_handle, CL_INVALID_KERNEL);
    require(kernel->program->context == queue->context, CL_INVALID_CONTEXT);
    for (const Kernel::Argument& a : kernel->arguments) require(a.set, CL_INVALID_KERNEL_ARGS);
    const Submission s{queue, CL_COMMAND_TASK, wait_list(*queue->context, count, list), event};
    constexpr size_t one = 1;
    return launch(state, s, kernel, 1, nullptr, &one, &one);
  });
}

}  // namespace simtlab::hosts::opencl::api
