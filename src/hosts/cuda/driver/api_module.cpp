// Modules and libraries, and what is in them. A library is a module here, and a kernel of one a function.
#include <algorithm>
#include <filesystem>

#include "hosts/cuda/driver/driver.h"
#include "hosts/cuda/driver/jit_options.h"

using namespace simtlab::hosts::cuda;
namespace gpu = simtlab::gpu;

namespace {

DriverResult load(LoadedModule** out, const void* image, const JitOptions& options) {
  std::string said;
  if (out == nullptr || image == nullptr) return driver_invalid_value;
  const DriverResult code = in_context([&](Runtime& r) {
    try {
      *out = r.modules.load(image, r.program(), r.gpu());
    } catch (const simtlab::Error& error) {
      said = error.format();
      throw;
    }
    return driver_success;
  });
  write_logs(options, said);
  return code;
}

DriverResult load_file(LoadedModule** out, const char* path) {
  return in_context([&](Runtime& r) {
    if (out == nullptr || path == nullptr) return driver_invalid_value;
    // Programs look for a file in several places: that it is not in one of them is no failure of the run.
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return driver_file_not_found;
    *out = r.modules.load_file(path, r.gpu());
    return driver_success;
  });
}

// body: DriverResult(Runtime&, LoadedModule&).
template <typename Body>
DriverResult with_module(const void* handle, Body&& body) {
  return in_context([&](Runtime& r) {
    LoadedModule* const module = r.modules.find(handle);
    return module == nullptr ? driver_invalid_handle : body(r, *module);
  });
}

DriverResult find_kernel(KernelEntry** out, const void* module, const char* name) {
  return with_module(module, [&](Runtime& r, LoadedModule& m) {
    if (out == nullptr || name == nullptr) return driver_invalid_value;
    *out = r.modules.kernel(m, name, r.gpu());
    return *out == nullptr ? driver_not_found : driver_success;
  });
}

DriverResult count_kernels(unsigned* out, const void* module) {
  return with_module(module, [&](Runtime& r, LoadedModule& m) {
    if (out == nullptr) return driver_invalid_value;
    *out = static_cast<unsigned>(Modules::kernel_names(m, r.gpu()).size());
    return driver_success;
  });
}

DriverResult list_kernels(KernelEntry** out, unsigned room, const void* module) {
  return with_module(module, [&](Runtime& r, LoadedModule& m) {
    if (out == nullptr) return driver_invalid_value;
    const std::vector<KernelEntry*> all = r.modules.kernels(m, r.gpu());
    std::copy_n(all.begin(), std::min<std::size_t>(room, all.size()), out);
    return driver_success;
  });
}

DriverResult find_global(DevicePointer* address, std::size_t* bytes, const void* module, const char* name) {
  return with_module(module, [&](Runtime& r, LoadedModule& m) {
    if (name == nullptr) return driver_invalid_value;
    const std::optional<gpu::Symbol> found = r.gpu().find_symbol(*m.image.module, name);
    if (!found) return driver_not_found;
    if (address != nullptr) *address = found->address;
    if (bytes != nullptr) *bytes = found->bytes;
    return driver_success;
  });
}

DriverResult unload(const void* handle) {
  return in_context(
      [&](Runtime& r) { return r.modules.unload(handle, r.gpu()) ? driver_success : driver_invalid_handle; });
}

}  // namespace

// ---- modules

SIMTLAB_DRIVER_API DriverResult cuModuleLoad(LoadedModule** out, const char* path) {
  return load_file(out, path);
}
SIMTLAB_DRIVER_API DriverResult cuModuleLoadData(LoadedModule** out, const void* image) {
  return load(out, image, {});
}
SIMTLAB_DRIVER_API DriverResult cuModuleLoadDataEx(LoadedModule** out, const void* image, unsigned count,
                                                   const int* names, void** values) {
  return load(out, image, {count, names, values});
}
SIMTLAB_DRIVER_API DriverResult cuModuleLoadFatBinary(LoadedModule** out, const void* image) {
  return load(out, image, {});
}
SIMTLAB_DRIVER_API DriverResult cuModuleUnload(const void* module) { return unload(module); }
SIMTLAB_DRIVER_API DriverResult cuModuleGetLoadingMode(int* out) {
  constexpr int eager = 1;
  if (out == nullptr) return driver_invalid_value;
  *out = eager;
  return driver_success;
}
SIMTLAB_DRIVER_API DriverResult cuModuleGetFunction(KernelEntry** out, const void* module, const char* name) {
  return find_kernel(out, module, name);
}
SIMTLAB_DRIVER_API DriverResult cuModuleGetFunctionCount(unsigned* out, const void* module) {
  return count_kernels(out, module);
}
SIMTLAB_DRIVER_API DriverResult cuModuleEnumerateFunctions(KernelEntry** out, unsigned room,
                                                           const void* module) {
  return list_kernels(out, room, module);
}
SIMTLAB_DRIVER_API DriverResult cuModuleGetGlobal_v2(DevicePointer* address, std::size_t* bytes,
                                                     const void* module, const char* name) {
  return find_global(address, bytes, module, name);
}

// ---- libraries

SIMTLAB_DRIVER_API DriverResult cuLibraryLoadData(LoadedModule** out, const void* code, const int* names,
                                                  void** values, unsigned count, const int*, void**,
                                                  unsigned) {
  return load(out, code, {count, names, values});
}
SIMTLAB_DRIVER_API DriverResult cuLibraryLoadFromFile(LoadedModule** out, const char* path, const int*,
                                                      void**, unsigned, const int*, void**, unsigned) {
  return load_file(out, path);
}
SIMTLAB_DRIVER_API DriverResult cuLibraryUnload(const void* library) { return unload(library); }
SIMTLAB_DRIVER_API DriverResult cuLibraryGetKernel(KernelEntry** out, const void* library, const char* name) {
  return find_kernel(out, library, name);
}
SIMTLAB_DRIVER_API DriverResult cuLibraryGetKernelCount(unsigned* out, const void* library) {
  return count_kernels(out, library);
}
SIMTLAB_DRIVER_API DriverResult cuLibraryEnumerateKernels(KernelEntry** out, unsigned room,
                                                          const void* library) {
  return list_kernels(out, room, library);
}
SIMTLAB_DRIVER_API DriverResult cuLibraryGetModule(LoadedModule** out, const void* library) {
  return with_module(library, [&](Runtime&, LoadedModule& m) {
    if (out == nullptr) return driver_invalid_value;
    *out = &m;
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuLibraryGetGlobal(DevicePointer* address, std::size_t* bytes,
                                                   const void* library, const char* name) {
  return find_global(address, bytes, library, name);
}
SIMTLAB_DRIVER_API DriverResult cuKernelGetFunction(KernelEntry** out, KernelEntry* kernel) {
  return with_function(kernel, [&](Runtime&, KernelEntry& entry) {
    if (out == nullptr) return error_invalid_value;
    *out = &entry;
    return success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuKernelGetLibrary(LoadedModule** out, KernelEntry* kernel) {
  return with_function(kernel, [&](Runtime& r, KernelEntry& entry) {
    if (out == nullptr) return error_invalid_value;
    *out = r.modules.owner(entry);
    return *out == nullptr ? error_invalid_resource_handle : success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuFuncGetModule(LoadedModule** out, KernelEntry* function) {
  return cuKernelGetLibrary(out, function);
}
