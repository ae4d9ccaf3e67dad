// Programs: sources, binaries (PTX), builds.
#include <algorithm>

#include "hosts/opencl/api.h"
#include "hosts/opencl/build.h"
#include "hosts/opencl/callbacks.h"
#include "hosts/opencl/info.h"

namespace simtlab::hosts::opencl::api {
namespace {

using Notify = void(CL_CALLBACK*)(cl_program, void*);

void check_devices(const State& state, cl_uint count, const cl_device_id* devices) {
  require((count == 0) == (devices == nullptr), CL_INVALID_VALUE);
  for (cl_uint i = 0; i < count; ++i) require(state.is_device(devices[i]), CL_INVALID_DEVICE);
}

void tell(Notify notify, cl_program program, void* data) {
  if (notify != nullptr) Callbacks::get().post([=] { notify(program, data); });
}

std::string joined(cl_uint count, const char* const* texts, const size_t* lengths) {
  std::string out;
  for (cl_uint i = 0; i < count; ++i) {
    require(texts[i] != nullptr, CL_INVALID_VALUE);
    if (lengths != nullptr && lengths[i] != 0)
      out.append(texts[i], lengths[i]);
    else
      out.append(texts[i]);
  }
  // Some programs count the final NUL as part of the text.
  while (!out.empty() && out.back() == '\0') out.pop_back();
  return out;
}

std::string names(const Program& program) {
  std::string out;
  for (const std::string& name : program.kernel_names) out += (out.empty() ? "" : ";") + name;
  return out;
}

}  // namespace

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count, const char** texts,
                                                 const size_t* lengths, cl_int* code) {
  return create<cl_program>(code, [&](State&) {
    auto program = std::make_shared<Program>();
    program->context = need<Context>(context, CL_INVALID_CONTEXT);
    require(count != 0 && texts != nullptr, CL_INVALID_VALUE);
    program->source = joined(count, texts, lengths);
    program->has_source = true;
    return program;
  });
}

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint count,
                                                 const cl_device_id* devices, const size_t* lengths,
                                                 const unsigned char** binaries, cl_int* status,
                                                 cl_int* code) {
  return create<cl_program>(code, [&](State& state) {
    auto program = std::make_shared<Program>();
    program->context = need<Context>(context, CL_INVALID_CONTEXT);
    require(count == 1 && devices != nullptr && lengths != nullptr && binaries != nullptr, CL_INVALID_VALUE);
    require(state.is_device(devices[0]), CL_INVALID_DEVICE);
    const bool given = lengths[0] != 0 && binaries[0] != nullptr;
    if (status != nullptr) *status = given ? CL_SUCCESS : CL_INVALID_VALUE;
    require(given, CL_INVALID_VALUE);
    program->ptx.assign(reinterpret_cast<const char*>(binaries[0]), lengths[0]);
    while (!program->ptx.empty() && program->ptx.back() == '\0') program->ptx.pop_back();
    const bool is_ptx = program->ptx.find(".version") != std::string::npos;
    if (status != nullptr && !is_ptx) *status = CL_INVALID_BINARY;
    require(is_ptx, CL_INVALID_BINARY);
    program->binary_type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    return program;
  });
}

cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(cl_context context, cl_uint count,
                                                         const cl_device_id* devices, const char* kernels,
                                                         cl_int* code) {
  return create<cl_program>(code, [&](State& state) -> std::shared_ptr<Program> {
    need<Context>(context, CL_INVALID_CONTEXT);
    require(count != 0 && devices != nullptr && kernels != nullptr, CL_INVALID_VALUE);
    check_devices(state, count, devices);
    throw Failure{CL_INVALID_VALUE};  // the device has none
  });
}

cl_int CL_API_CALL clRetainProgram(cl_program program) {
  return retain<Program>(program, CL_INVALID_PROGRAM);
}
cl_int CL_API_CALL clReleaseProgram(cl_program program) {
  return release<Program>(program, CL_INVALID_PROGRAM);
}

cl_int CL_API_CALL clBuildProgram(cl_program handle, cl_uint count, const cl_device_id* devices,
                                  const char* options, Notify notify, void* data) {
  return call([&](State& state) -> cl_int {
    const auto program = need<Program>(handle, CL_INVALID_PROGRAM);
    check_devices(state, count, devices);
    require(notify != nullptr || data == nullptr, CL_INVALID_VALUE);
    require(program->kernels == 0, CL_INVALID_OPERATION);
    const cl_int code = build(state, *program, options == nullptr ? "" : options);
    tell(notify, handle, data);
    return code;
  });
}

cl_int CL_API_CALL clCompileProgram(cl_program handle, cl_uint count, const cl_device_id* devices,
                                    const char* options, cl_uint header_count, const cl_program* headers,
                                    const char** header_names, Notify notify, void* data) {
  return call([&](State& state) -> cl_int {
    const auto program = need<Program>(handle, CL_INVALID_PROGRAM);
    check_devices(state, count, devices);
    require(notify != nullptr || data == nullptr, CL_INVALID_VALUE);
    require((header_count == 0) == (headers == nullptr) && (header_count == 0) == (header_names == nullptr),
            CL_INVALID_VALUE);
    require(program->has_source && program->kernels == 0, CL_INVALID_OPERATION);
    std::vector<Header> included;
    for (cl_uint i = 0; i < header_count; ++i) {
      const auto header = need<Program>(headers[i], CL_INVALID_PROGRAM);
      require(header_names[i] != nullptr && header->has_source, CL_INVALID_VALUE);
      included.push_back({header_names[i], header->source});
    }
    const cl_int code = compile(state, *program, options == nullptr ? "" : options, included);
    tell(notify, handle, data);
    return code;
  });
}

cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint count, const cl_device_id* devices,
                                     const char* options, cl_uint input_count, const cl_program* inputs,
                                     Notify notify, void* data, cl_int* code) {
  cl_int linked = CL_SUCCESS;
  const cl_program out = create<cl_program>(code, [&](State& state) {
    auto program = std::make_shared<Program>();
    program->context = need<Context>(context, CL_INVALID_CONTEXT);
    check_devices(state, count, devices);
    require(input_count != 0 && inputs != nullptr && (notify != nullptr || data == nullptr),
            CL_INVALID_VALUE);
    std::vector<std::shared_ptr<Program>> compiled;
    for (cl_uint i = 0; i < input_count; ++i) {
      compiled.push_back(need<Program>(inputs[i], CL_INVALID_PROGRAM));
      require(compiled.back()->binary_type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT ||
                  compiled.back()->binary_type == CL_PROGRAM_BINARY_TYPE_LIBRARY,
              CL_INVALID_OPERATION);
    }
    linked = link(state, *program, compiled, options == nullptr ? "" : options);
    return program;
  });
  // A program that did not link exists, with its log.
  if (out != nullptr && code != nullptr && linked != CL_SUCCESS) *code = linked;
  if (out != nullptr) tell(notify, out, data);
  return out;
}

// The compiler is a process that has ended.
cl_int CL_API_CALL clUnloadCompiler() { return CL_SUCCESS; }
cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id platform) {
  return call(
      [&](State& state) -> cl_int { return state.is_platform(platform) ? CL_SUCCESS : CL_INVALID_PLATFORM; });
}

cl_int CL_API_CALL clGetProgramInfo(cl_program handle, cl_program_info what, size_t size, void* value,
                                    size_t* size_out) {
  return call([&](State& state) -> cl_int {
    const auto program = need<Program>(handle, CL_INVALID_PROGRAM);
    const Answer answer(size, value, size_out);
    switch (what) {
      case CL_PROGRAM_REFERENCE_COUNT: return answer.number(program->references());
      case CL_PROGRAM_CONTEXT: return answer.one(reinterpret_cast<cl_context>(program->context->handle()));
      case CL_PROGRAM_NUM_DEVICES: return answer.number(1);
      case CL_PROGRAM_DEVICES:
        return answer.one(reinterpret_cast<cl_device_id>(state.device_object()->handle()));
      case CL_PROGRAM_SOURCE: return answer.text(program->source);
      case CL_PROGRAM_BINARY_SIZES: return answer.size(program->ptx.size());
      case CL_PROGRAM_BINARIES: {
        // `value` is a list with one pointer to where the binary goes, or null.
        if (value != nullptr && size < sizeof(unsigned char*)) return CL_INVALID_VALUE;
        if (size_out != nullptr) *size_out = sizeof(unsigned char*);
        unsigned char* to = nullptr;
        if (value != nullptr) std::memcpy(&to, value, sizeof to);
        if (to != nullptr) std::memcpy(to, program->ptx.data(), program->ptx.size());
        return CL_SUCCESS;
      }
      case CL_PROGRAM_NUM_KERNELS:
        require(program->module.has_value(), CL_INVALID_PROGRAM_EXECUTABLE);
        return answer.size(program->kernel_names.size());
      case CL_PROGRAM_KERNEL_NAMES:
        require(program->module.has_value(), CL_INVALID_PROGRAM_EXECUTABLE);
        return answer.text(names(*program));
      default: return CL_INVALID_VALUE;
    }
  });
}

cl_int CL_API_CALL clGetProgramBuildInfo(cl_program handle, cl_device_id device, cl_program_build_info what,
                                         size_t size, void* value, size_t* size_out) {
  return call([&](State& state) -> cl_int {
    const auto program = need<Program>(handle, CL_INVALID_PROGRAM);
    require(state.is_device(device), CL_INVALID_DEVICE);
    const Answer answer(size, value, size_out);
    switch (what) {
      case CL_PROGRAM_BUILD_STATUS: return answer.one(program->status);
      case CL_PROGRAM_BUILD_OPTIONS: return answer.text(program->options);
      case CL_PROGRAM_BUILD_LOG: return answer.text(program->log);
      case CL_PROGRAM_BINARY_TYPE: return answer.one(program->binary_type);
      default: return CL_INVALID_VALUE;
    }
  });
}

}  // namespace simtlab::hosts::opencl::api
