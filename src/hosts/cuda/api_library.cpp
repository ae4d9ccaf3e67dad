// What the runtime has of the driver API: libraries of kernels that are loaded at run time, handles of
// kernels, and the driver's functions by name.
#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "hosts/cuda/call.h"

using namespace simtlab::hosts::cuda;
namespace gpu = simtlab::gpu;

namespace {

// body: CudaError(Runtime&, LoadedModule&).
template <typename Body>
CudaError with_library(const void* handle, Body&& body) {
  return call([&](Runtime& r) {
    LoadedModule* const library = r.modules.find(handle);
    return library == nullptr ? error_invalid_resource_handle : body(r, *library);
  });
}

// A function of our libcuda.so.1, which lies beside this library.
void* driver_function(const char* name) {
  static void* const driver = [] {
    Dl_info self{};
    if (::dladdr(reinterpret_cast<const void*>(&driver_function), &self) == 0)
      return static_cast<void*>(nullptr);
    const std::filesystem::path beside = std::filesystem::path(self.dli_fname).parent_path() / "libcuda.so.1";
    return ::dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
  }();
  return driver == nullptr ? nullptr : ::dlsym(driver, name);
}

CudaError entry_point(const char* name, void** out, int version, unsigned long long flags, int* status) {
  if (name == nullptr || out == nullptr) return note(error_invalid_value);
  using Find = int(const char*, void**, int, std::uint64_t, int*);
  auto* const find = reinterpret_cast<Find*>(driver_function("cuGetProcAddress_v2"));
  if (find == nullptr)
    return call(
        [](Runtime& r) { return r.unsupported("cudaGetDriverEntryPoint", "no libcuda.so.1 beside it"); });
  int how = 0;
  find(name, out, version, flags, &how);
  if (status != nullptr) *status = how;
  return *out != nullptr || status != nullptr ? success : note(error_symbol_not_found);
}

}  // namespace

SIMTLAB_CUDA_API CudaError cudaLibraryLoadData(LoadedModule** out, const void* code, const int*, void**,
                                               unsigned, const int*, void**, unsigned) {
  return call([&](Runtime& r) {
    if (out == nullptr || code == nullptr) return error_invalid_value;
    *out = r.modules.load(code, r.program(), r.gpu());
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaLibraryLoadFromFile(LoadedModule** out, const char* path, const int*, void**,
                                                   unsigned, const int*, void**, unsigned) {
  return call([&](Runtime& r) {
    if (out == nullptr || path == nullptr) return error_invalid_value;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return error_file_not_found;
    *out = r.modules.load_file(path, r.gpu());
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaLibraryUnload(const void* library) {
  return call([&](Runtime& r) {
    return r.modules.unload(library, r.gpu()) ? success : error_invalid_resource_handle;
  });
}
// Kernels are launched by their handles like by the host addresses of others.
SIMTLAB_CUDA_API CudaError cudaLibraryGetKernel(KernelEntry** out, const void* library, const char* name) {
  return with_library(library, [&](Runtime& r, LoadedModule& m) {
    if (out == nullptr || name == nullptr) return error_invalid_value;
    *out = r.modules.kernel(m, name, r.gpu());
    return *out == nullptr ? error_symbol_not_found : success;
  });
}
SIMTLAB_CUDA_API CudaError cudaLibraryGetKernelCount(unsigned* out, const void* library) {
  return with_library(library, [&](Runtime& r, LoadedModule& m) {
    if (out == nullptr) return error_invalid_value;
    *out = static_cast<unsigned>(Modules::kernel_names(m, r.gpu()).size());
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaLibraryEnumerateKernels(KernelEntry** out, unsigned room,
                                                       const void* library) {
  return with_library(library, [&](Runtime& r, LoadedModule& m) {
    if (out == nullptr) return error_invalid_value;
    const std::vector<KernelEntry*> all = r.modules.kernels(m, r.gpu());
    std::copy_n(all.begin(), std::min<std::size_t>(room, all.size()), out);
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaLibraryGetGlobal(void** address, std::size_t* bytes, const void* library,
                                                const char* name) {
  return with_library(library, [&](Runtime& r, LoadedModule& m) {
    if (name == nullptr) return error_invalid_value;
    const std::optional<gpu::Symbol> found = r.gpu().find_symbol(*m.image.module, name);
    if (!found) return error_symbol_not_found;
    if (address != nullptr) *address = reinterpret_cast<void*>(found->address);
    if (bytes != nullptr) *bytes = found->bytes;
    return success;
  });
}

// A kernel of the program as the driver API knows it.
SIMTLAB_CUDA_API CudaError cudaGetFuncBySymbol(KernelEntry** out, const void* host) {
  return call([&](Runtime& r) {
    if (out == nullptr) return error_invalid_value;
    *out = r.find_kernel(host);
    return *out == nullptr ? error_invalid_device_function : success;
  });
}

SIMTLAB_CUDA_API CudaError cudaGetDriverEntryPoint(const char* name, void** out, unsigned long long flags,
                                                   int* status) {
  constexpr int version_of_major = 1000, minor_versions = 990;
  return entry_point(name, out, library_major * version_of_major + minor_versions, flags, status);
}
SIMTLAB_CUDA_API CudaError cudaGetDriverEntryPointByVersion(const char* name, void** out, unsigned version,
                                                            unsigned long long flags, int* status) {
  return entry_point(name, out, static_cast<int>(version), flags, status);
}
SIMTLAB_CUDA_ALIAS(cudaGetDriverEntryPoint_ptsz, cudaGetDriverEntryPoint);
SIMTLAB_CUDA_ALIAS(cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPointByVersion);
