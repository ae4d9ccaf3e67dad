// Registration (called by the program's constructors) and kernel launches.
#include <cstring>
#include <span>

#include "hosts/cuda/call.h"
#include "hosts/cuda/launch.h"

using namespace simtlab::hosts::cuda;

SIMTLAB_CUDA_API void** __cudaRegisterFatBinary(void* wrapper) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  return reinterpret_cast<void**>(runtime.images.add(wrapper, runtime.program()));
}

SIMTLAB_CUDA_API void __cudaRegisterFatBinaryEnd(void**) {}

SIMTLAB_CUDA_API void __cudaUnregisterFatBinary(void** handle) {
  // The process is ending, or a library is unloaded: what was measured stays, the bytes must not be read
  // again.
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  runtime.images.retire(reinterpret_cast<Image*>(handle));
}

SIMTLAB_CUDA_API void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int,
                                             void*, void*, void*, void*, int*) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  runtime.images.add_kernel(reinterpret_cast<Image*>(handle), host, name);
}

SIMTLAB_CUDA_API void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, std::size_t,
                                        int, int) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  runtime.images.add_variable(reinterpret_cast<Image*>(handle), host, name);
}

SIMTLAB_CUDA_API void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int,
                                               std::size_t, int, int) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  runtime.images.add_managed(reinterpret_cast<Image*>(handle), host, name);
}

SIMTLAB_CUDA_API void __cudaRegisterTexture(void** handle, const TextureReference* host, const void**,
                                            const char* name, int, int normalized_read, int) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  runtime.images.add_texture(reinterpret_cast<Image*>(handle), host, name, normalized_read != 0);
}

SIMTLAB_CUDA_API void __cudaRegisterSurface(void**, const void*, const void**, const char*, int, int) {
  // Kernels that use surfaces are refused when their module is loaded; an unused reference harms nobody.
}

// Managed variables must have their addresses before the host touches them.
SIMTLAB_CUDA_API char __cudaInitModule(void** handle) {
  auto* image = reinterpret_cast<Image*>(handle);
  const CudaError code = call([&](Runtime& runtime) {
    if (!image->managed.empty()) runtime.images.load(*image, runtime.gpu());
    return success;
  });
  return code == success ? 1 : 0;
}

// ---- launches

SIMTLAB_CUDA_API unsigned __cudaPushCallConfiguration(Dim3Arg grid, Dim3Arg block, std::size_t shared,
                                                      StreamHandle stream) {
  thread_state().pushed.push_back({grid, block, shared, stream});
  return 0;
}

SIMTLAB_CUDA_API CudaError __cudaPopCallConfiguration(Dim3Arg* grid, Dim3Arg* block, std::size_t* shared,
                                                      StreamHandle* stream) {
  auto& pushed = thread_state().pushed;
  if (pushed.empty()) return note(error_missing_configuration);
  *grid = pushed.back().grid;
  *block = pushed.back().block;
  *shared = pushed.back().shared;
  *stream = pushed.back().stream;
  pushed.pop_back();
  return success;
}

SIMTLAB_CUDA_API CudaError cudaLaunchKernel(const void* host, Dim3Arg grid, Dim3Arg block, void** arguments,
                                            std::size_t shared, StreamHandle stream) {
  return call(
      [&](Runtime& runtime) { return launch(runtime, host, grid, block, arguments, shared, stream); });
}

// Programs of nvcc 13 and later ask for a handle once and launch by it; our handle is the host address
// itself.
SIMTLAB_CUDA_API CudaError __cudaGetKernel(const void** kernel, const void* host) {
  if (kernel == nullptr) return note(error_invalid_value);
  *kernel = host;
  return success;
}

SIMTLAB_CUDA_API CudaError cudaGetKernel(const void** kernel, const void* host) {
  return call([&](Runtime& runtime) {
    if (kernel == nullptr) return error_invalid_value;
    if (runtime.find_kernel(host) == nullptr) return error_invalid_device_function;
    *kernel = host;
    return success;
  });
}

SIMTLAB_CUDA_API CudaError __cudaLaunchKernel(const void* kernel, Dim3Arg grid, Dim3Arg block,
                                              void** arguments, std::size_t shared, StreamHandle stream) {
  return call(
      [&](Runtime& runtime) { return launch(runtime, kernel, grid, block, arguments, shared, stream); });
}

SIMTLAB_CUDA_API CudaError cudaLaunchKernelExC(const LaunchConfig* config, const void* host,
                                               void** arguments) {
  return call([&](Runtime& runtime) {
    if (config == nullptr) return error_invalid_value;
    std::optional<Dim3Arg> cluster;
    const CudaError allowed =
        read_attributes(runtime, config->attributes, config->attribute_count, "cudaLaunchKernelExC", cluster);
    if (allowed != success) return allowed;
    return launch(runtime, host, config->grid, config->block, arguments, config->shared_bytes, config->stream,
                  cluster);
  });
}

SIMTLAB_CUDA_API CudaError cudaLaunchCooperativeKernel(const void*, Dim3Arg, Dim3Arg, void**, std::size_t,
                                                       StreamHandle) {
  return call([&](Runtime& runtime) {
    return runtime.unsupported("cudaLaunchCooperativeKernel", "grid-wide synchronisation");
  });
}

SIMTLAB_CUDA_ALIAS(cudaLaunchKernel_ptsz, cudaLaunchKernel);
SIMTLAB_CUDA_ALIAS(__cudaLaunchKernel_ptsz, __cudaLaunchKernel);
SIMTLAB_CUDA_ALIAS(cudaLaunchKernelExC_ptsz, cudaLaunchKernelExC);
SIMTLAB_CUDA_ALIAS(cudaLaunchCooperativeKernel_ptsz, cudaLaunchCooperativeKernel);
