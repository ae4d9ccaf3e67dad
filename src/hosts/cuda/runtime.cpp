#include "hosts/cuda/runtime.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "exec/executor.h"
#include "hosts/cuda/call.h"

namespace simtlab::hosts::cuda {
namespace {

CudaError code_of(exec::Fault::Kind kind) {
  switch (kind) {
    case exec::Fault::Kind::illegal_address: return error_illegal_address;
    case exec::Fault::Kind::misaligned_address: return error_misaligned_address;
    case exec::Fault::Kind::illegal_instruction: return error_illegal_instruction;
    case exec::Fault::Kind::trap: return error_launch_failure;
    case exec::Fault::Kind::assertion: return error_assert;
    case exec::Fault::Kind::deadlock: return error_launch_timeout;
    case exec::Fault::Kind::stack_overflow: return error_hardware_stack;
  }
  return error_launch_failure;
}

// Errors that are not faults of a kernel.
CudaError code_of(const Error& error) {
  if (error.id() == "launch-resources") return error_launch_out_of_resources;
  if (error.id() == "launch-cluster") return error_invalid_cluster_size;
  if (error.id().starts_with("launch-")) return error_invalid_configuration;
  if (error.id().starts_with("fatbin") || error.id() == "machine-generation" ||
      error.id() == "no-machine-code")
    return error_no_kernel_image_for_device;
  switch (error.code()) {
    case ExitCode::unsupported: return error_not_supported;
    case ExitCode::bad_input: return error_invalid_ptx;
    case ExitCode::program_failed: return error_launch_failure;
    default: return error_unknown;
  }
}

}  // namespace

// Exported by each of the libraries. They are of one build, whose objects have one layout.
extern "C" {
struct SimtlabCudaState {
  std::size_t bytes;  // of a Runtime, so that a library of another build is not taken for one of ours
  Runtime* runtime;
};
__attribute__((visibility("default"))) SimtlabCudaState simtlab_cuda_state = {sizeof(Runtime), nullptr};
}

Runtime& Runtime::get() {
  static Runtime* runtime = [] {
    Runtime* found = nullptr;
    for (const char* name : {"libcuda.so.1", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"}) {
      void* const library = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
      if (library == nullptr) continue;
      const auto* state = static_cast<const SimtlabCudaState*>(::dlsym(library, "simtlab_cuda_state"));
      if (state != nullptr && state->bytes == sizeof(Runtime) && found == nullptr) found = state->runtime;
      ::dlclose(library);
    }
    // Never destroyed: programs call us from their own exit handlers.
    simtlab_cuda_state.runtime = found != nullptr ? found : new Runtime;
    return simtlab_cuda_state.runtime;
  }();
  return *runtime;
}

void Runtime::settle() {
  if (sticky_ != success) return;
  guarded(*this, [](Runtime& r) {
    r.gpu().synchronize();
    return success;
  });
}

ThreadState& thread_state() {
  static thread_local ThreadState state;
  return state;
}

void Runtime::reset_device() {
  images.forget_modules();
  modules.clear();
  graphs.clear();
  if (started()) {
    gpu().reset();
    for (const auto& [address, kind] : allocations) gpu().release(address);
  }
  allocations.clear();
  for (CudaArray* array : arrays) delete array;
  arrays.clear();
  for (void* pointer : plain_host) std::free(pointer);
  plain_host.clear();
  host_flags.clear();
  registered_host.clear();
  event_flags.clear();
  sticky_ = success;
}

CudaError Runtime::report(const Error& error) {
  const bool shape_only = error.id().starts_with("launch-") && error.code() == ExitCode::bad_input;
  CudaError code = code_of(error);
  if (const auto* fault = dynamic_cast<const exec::Fault*>(&error)) {
    code = code_of(fault->kind());
    sticky_ = code;
  } else if (failed_to_start()) {
    code = error_initialization;
  } else if (error.id() == "corun-device") {
    code = sticky_ = error_mps_rpc_failure;
  } else if (error.id().starts_with("checkpoint-")) {
    code = sticky_ = error_unknown;
  } else if (error.id().starts_with("limit-")) {
    code = sticky_ = error.id() == "limit-memory" ? error_launch_out_of_resources : error_launch_timeout;
  }
  // A program may try a launch that does not fit and go on; that alone is no failure of the run.
  if (shape_only)
    refuse_launch("simtlab: " + error.format());
  else
    tell_and_keep(error);
  return code;
}

CudaError Runtime::report_internal(const char* what) {
  tell_and_keep(Error(ExitCode::failure, "internal", what));
  sticky_ = error_unknown;
  return sticky_;
}

CudaError Runtime::unsupported(const char* function, const std::string& what) {
  const bool runtime = std::string_view(function).starts_with("cuda");
  tell_and_keep(Error(ExitCode::unsupported, "cuda-api",
                      fmt::format("{}{} is not supported by simtlab's CUDA {}; it returned {}", function,
                                  what.empty() ? "" : " with " + what, runtime ? "runtime" : "driver",
                                  runtime ? "cudaErrorNotSupported" : "CUDA_ERROR_NOT_SUPPORTED")));
  return error_not_supported;
}

KernelEntry* Runtime::find_kernel(const void* handle) {
  if (KernelEntry* const registered = images.find_kernel(handle)) return registered;
  if (KernelEntry* const loaded = modules.find_kernel(handle)) return loaded;
  return images.find_entry(handle);
}

std::optional<gpu::StreamId> Runtime::stream(StreamHandle handle) {
  if (handle == 0 || handle == stream_legacy || handle == stream_per_thread) return gpu::StreamId{0};
  if (handle < 0x100 || handle - 0x100 > 0xffffffffu) return std::nullopt;
  const auto id = static_cast<gpu::StreamId>(handle - 0x100);
  if (id == 0 || !gpu().has_stream(id)) return std::nullopt;
  return id;
}

const MemoryKind* Runtime::kind_of(const void* pointer) {
  if (!started()) return nullptr;
  static constexpr MemoryKind variable = MemoryKind::device;  // of a module
  const exec::Allocation* found = gpu().memory().find(reinterpret_cast<std::uint64_t>(pointer));
  if (found == nullptr) return nullptr;
  const auto it = allocations.find(found->address);
  return it == allocations.end() ? &variable : &it->second;
}

}  // namespace simtlab::hosts::cuda
