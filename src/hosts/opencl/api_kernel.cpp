// Kernels and their arguments.
#include <fmt/format.h>

#include "compile/opencl_metadata.h"
#include "hosts/opencl/api.h"
#include "hosts/opencl/info.h"
#include "hosts/opencl/launch.h"

namespace simtlab::hosts::opencl::api {
namespace {

std::shared_ptr<Kernel> make_kernel(State& state, const std::shared_ptr<Program>& program,
                                    const std::string& name) {
  const auto found = state.gpu().find_kernel(*program->module, name);
  require(found.has_value(), CL_INVALID_KERNEL_NAME);
  auto kernel = std::make_shared<Kernel>();
  kernel->kernel = *found;
  kernel->name = name;
  kernel->program = program;
  ++program->kernels;
  kernel->arguments.resize(kernel->function().params.size());
  return kernel;
}

Kernel::Argument pointer_argument(size_t size, const void* value) {
  Kernel::Argument out;
  require(size == sizeof(cl_mem), CL_INVALID_ARG_SIZE);
  cl_mem memory = nullptr;
  if (value != nullptr) std::memcpy(&memory, value, sizeof memory);
  out.null_pointer = memory == nullptr;
  if (memory != nullptr) out.buffer = need<Buffer>(memory, CL_INVALID_MEM_OBJECT);
  return out;
}

Kernel::Argument argument(const ptx::Param& parameter, size_t size, const void* value) {
  Kernel::Argument out;
  if (parameter.is_pointer && parameter.pointee == ptx::Space::shared) {
    require(value == nullptr, CL_INVALID_ARG_VALUE);
    require(size != 0, CL_INVALID_ARG_SIZE);
    out.local_bytes = size;
  } else if (parameter.is_pointer) {
    out = pointer_argument(size, value);
  } else {
    require(value != nullptr, CL_INVALID_ARG_VALUE);
    require(size == parameter.bytes, CL_INVALID_ARG_SIZE);
    out.value.assign(static_cast<const std::byte*>(value), static_cast<const std::byte*>(value) + size);
  }
  out.set = true;
  return out;
}

std::string attributes(const ptx::Function& f) {
  if (f.req_ntid[0] == 0) return {};
  return fmt::format("reqd_work_group_size({},{},{})", f.req_ntid[0], std::max(1u, f.req_ntid[1]),
                     std::max(1u, f.req_ntid[2]));
}

}  // namespace

cl_kernel CL_API_CALL clCreateKernel(cl_program handle, const char* name, cl_int* code) {
  return create<cl_kernel>(code, [&](State& state) {
    const auto program = need<Program>(handle, CL_INVALID_PROGRAM);
    require(program->module.has_value(), CL_INVALID_PROGRAM_EXECUTABLE);
    require(name != nullptr, CL_INVALID_VALUE);
    return make_kernel(state, program, name);
  });
}

cl_int CL_API_CALL clCreateKernelsInProgram(cl_program handle, cl_uint entries, cl_kernel* kernels,
                                            cl_uint* count) {
  return call([&](State& state) -> cl_int {
    const auto program = need<Program>(handle, CL_INVALID_PROGRAM);
    require(program->module.has_value(), CL_INVALID_PROGRAM_EXECUTABLE);
    const std::size_t n = program->kernel_names.size();
    require(kernels == nullptr || entries >= n, CL_INVALID_VALUE);
    if (count != nullptr) *count = static_cast<cl_uint>(n);
    for (std::size_t i = 0; kernels != nullptr && i < n; ++i) {
      const auto kernel = make_kernel(state, program, program->kernel_names[i]);
      kernel->hand_out();
      kernels[i] = reinterpret_cast<cl_kernel>(kernel->handle());
    }
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clRetainKernel(cl_kernel kernel) { return retain<Kernel>(kernel, CL_INVALID_KERNEL); }
cl_int CL_API_CALL clReleaseKernel(cl_kernel kernel) { return release<Kernel>(kernel, CL_INVALID_KERNEL); }

cl_int CL_API_CALL clSetKernelArg(cl_kernel handle, cl_uint index, size_t size, const void* value) {
  return call([&](State&) -> cl_int {
    const auto kernel = need<Kernel>(handle, CL_INVALID_KERNEL);
    require(index < kernel->arguments.size(), CL_INVALID_ARG_INDEX);
    kernel->arguments[index] = argument(kernel->function().params[index], size, value);
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clGetKernelInfo(cl_kernel handle, cl_kernel_info what, size_t size, void* value,
                                   size_t* size_out) {
  return call([&](State&) -> cl_int {
    const auto kernel = need<Kernel>(handle, CL_INVALID_KERNEL);
    const Answer answer(size, value, size_out);
    switch (what) {
      case CL_KERNEL_FUNCTION_NAME: return answer.text(kernel->name);
      case CL_KERNEL_NUM_ARGS: return answer.number(static_cast<cl_uint>(kernel->arguments.size()));
      case CL_KERNEL_REFERENCE_COUNT: return answer.number(kernel->references());
      case CL_KERNEL_CONTEXT:
        return answer.one(reinterpret_cast<cl_context>(kernel->program->context->handle()));
      case CL_KERNEL_PROGRAM: return answer.one(reinterpret_cast<cl_program>(kernel->program->handle()));
      case CL_KERNEL_ATTRIBUTES: return answer.text(attributes(kernel->function()));
      default: return CL_INVALID_VALUE;
    }
  });
}

// PTX keeps the address space of an argument; names are there if the program was built with
// -cl-kernel-arg-info.
cl_int CL_API_CALL clGetKernelArgInfo(cl_kernel handle, cl_uint index, cl_kernel_arg_info what, size_t size,
                                      void* value, size_t* size_out) {
  return call([&](State&) -> cl_int {
    const auto kernel = need<Kernel>(handle, CL_INVALID_KERNEL);
    require(index < kernel->arguments.size(), CL_INVALID_ARG_INDEX);
    const ptx::Param& p = kernel->function().params[index];
    const Answer answer(size, value, size_out);
    switch (what) {
      case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
        return answer.one<cl_kernel_arg_address_qualifier>(
            !p.is_pointer                       ? CL_KERNEL_ARG_ADDRESS_PRIVATE
            : p.pointee == ptx::Space::shared   ? CL_KERNEL_ARG_ADDRESS_LOCAL
            : p.pointee == ptx::Space::constant ? CL_KERNEL_ARG_ADDRESS_CONSTANT
                                                : CL_KERNEL_ARG_ADDRESS_GLOBAL);
      case CL_KERNEL_ARG_ACCESS_QUALIFIER:
        return answer.one<cl_kernel_arg_access_qualifier>(CL_KERNEL_ARG_ACCESS_NONE);
      case CL_KERNEL_ARG_TYPE_NAME:
      case CL_KERNEL_ARG_TYPE_QUALIFIER:
      case CL_KERNEL_ARG_NAME: break;
      default: return CL_INVALID_VALUE;
    }
    const auto facts = compile::argument_facts(kernel->program->ptx, kernel->name);
    require(index < facts.size(), CL_KERNEL_ARG_INFO_NOT_AVAILABLE);
    if (what == CL_KERNEL_ARG_TYPE_NAME) return answer.text(facts[index].type);
    if (what == CL_KERNEL_ARG_NAME) return answer.text(facts[index].name);
    const auto has = [&](const char* word) {
      return facts[index].qualifiers.find(word) != std::string::npos;
    };
    return answer.one<cl_kernel_arg_type_qualifier>((has("const") ? CL_KERNEL_ARG_TYPE_CONST : 0) |
                                                    (has("restrict") ? CL_KERNEL_ARG_TYPE_RESTRICT : 0) |
                                                    (has("volatile") ? CL_KERNEL_ARG_TYPE_VOLATILE : 0));
  });
}

cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel handle, cl_device_id device,
                                            cl_kernel_work_group_info what, size_t size, void* value,
                                            size_t* size_out) {
  return call([&](State& state) -> cl_int {
    const auto kernel = need<Kernel>(handle, CL_INVALID_KERNEL);
    require(device == nullptr || state.is_device(device), CL_INVALID_DEVICE);
    const ptx::Function& f = kernel->function();
    const Answer answer(size, value, size_out);
    switch (what) {
      case CL_KERNEL_WORK_GROUP_SIZE: return answer.size(most_work_items(state.device(), f));
      case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
        return answer.list(std::vector<std::size_t>{f.req_ntid[0], f.req_ntid[1], f.req_ntid[2]});
      case CL_KERNEL_LOCAL_MEM_SIZE: {
        cl_ulong bytes = f.shared_bytes;
        for (const Kernel::Argument& a : kernel->arguments) bytes += a.local_bytes;
        return answer.bits(bytes);
      }
      case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE: return answer.size(32);
      case CL_KERNEL_PRIVATE_MEM_SIZE: return answer.bits(f.total_frame_bytes);
      default: return CL_INVALID_VALUE;
    }
  });
}

}  // namespace simtlab::hosts::opencl::api
