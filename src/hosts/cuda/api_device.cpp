// Devices: there is one, number 0.
#include <cstring>

#include "hosts/cuda/call.h"
#include "hosts/cuda/properties.h"

using namespace simtlab::hosts::cuda;

namespace {

constexpr char bus_id[] = "0000:01:00.0";

template <typename T>
CudaError answer(T* out, T value) {
  return call([&](Runtime& r) {
    r.gpu();
    if (out == nullptr) return error_invalid_value;
    *out = value;
    return success;
  });
}

CudaError properties(void* out, int device, int layout) {
  return call([&](Runtime& r) {
    if (out == nullptr) return error_invalid_value;
    if (device != 0) return error_invalid_device;
    fill_properties(r.device(), layout, out);
    return success;
  });
}

// A hint. It fails as every call does after a fault.
CudaError nothing_to_do() {
  return call([](Runtime&) { return success; });
}

}  // namespace

SIMTLAB_CUDA_API CudaError cudaGetDeviceCount(int* out) { return answer(out, 1); }
SIMTLAB_CUDA_API CudaError cudaGetDevice(int* out) { return answer(out, 0); }
SIMTLAB_CUDA_API CudaError cudaSetDevice(int device) {
  return call([&](Runtime& r) {
    if (device != 0) return error_invalid_device;
    r.gpu();
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
SIMTLAB_CUDA_API CudaError cudaSetValidDevices(int*, int) { return nothing_to_do(); }
SIMTLAB_CUDA_API CudaError cudaChooseDevice(int* out, const void*) { return answer(out, 0); }
SIMTLAB_CUDA_API CudaError cudaSetDeviceFlags(unsigned flags) {
  return call([&](Runtime& r) {
    r.device_flags = flags;
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaGetDeviceFlags(unsigned* out) {
  return answer(out, Runtime::get().device_flags);
}

// The structure's layout follows the header a program was built with: the library's version says which.
SIMTLAB_CUDA_API CudaError cudaGetDeviceProperties(void* out, int device) {
  return properties(out, device, library_major >= 13 ? 13 : 11);
}
SIMTLAB_CUDA_API CudaError cudaGetDeviceProperties_v2(void* out, int device) {
  return properties(out, device, 12);
}

SIMTLAB_CUDA_API CudaError cudaDeviceGetAttribute(int* out, int attribute, int device) {
  return call([&](Runtime& r) {
    if (out == nullptr) return error_invalid_value;
    if (device != 0) return error_invalid_device;
    return device_attribute(r.device(), attribute, *out) ? success : error_invalid_value;
  });
}

SIMTLAB_CUDA_API CudaError cudaDeviceSynchronize() {
  return call([](Runtime& r) {
    r.gpu().synchronize();
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaDeviceReset() {
  return call_always([](Runtime& r) {
    if (r.lost()) return r.sticky();
    r.reset_device();
    return success;
  });
}
SIMTLAB_CUDA_ALIAS(cudaThreadSynchronize, cudaDeviceSynchronize);
SIMTLAB_CUDA_ALIAS(cudaThreadExit, cudaDeviceReset);

// Limits: kept and told back. The stack is that of machine code that recurses; the printf buffer of the
// simulated device has no fixed size.
SIMTLAB_CUDA_API CudaError cudaDeviceSetLimit(int limit, std::size_t value) {
  return call([&](Runtime& r) {
    constexpr int stack_size = 0, malloc_heap_size = 2;
    if (limit < 0 || limit > 6) return error_unsupported_limit;
    if (limit == stack_size && !r.gpu().set_stack_bytes(value)) return error_invalid_value;
    if (limit == malloc_heap_size && !r.gpu().set_heap_bytes(value)) return error_invalid_value;
    r.limits[limit] = value;
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaDeviceGetLimit(std::size_t* out, int limit) {
  return call([&](Runtime& r) {
    if (out == nullptr) return error_invalid_value;
    const std::size_t defaults[] = {r.gpu().stack_bytes(), 1 << 20, 8 << 20, 2, 2048, 128, 0};
    if (limit < 0 || limit > 6) return error_unsupported_limit;
    const auto it = r.limits.find(limit);
    *out = it == r.limits.end() ? defaults[limit] : it->second;
    return success;
  });
}
SIMTLAB_CUDA_ALIAS(cudaThreadSetLimit, cudaDeviceSetLimit);
SIMTLAB_CUDA_ALIAS(cudaThreadGetLimit, cudaDeviceGetLimit);

// Preferences between L1 and shared memory are hints; the device file decides (D-RUNTIME-5).
SIMTLAB_CUDA_API CudaError cudaDeviceSetCacheConfig(int) { return nothing_to_do(); }
SIMTLAB_CUDA_API CudaError cudaDeviceGetCacheConfig(int* out) { return answer(out, 0); }
SIMTLAB_CUDA_API CudaError cudaDeviceSetSharedMemConfig(int) { return nothing_to_do(); }
SIMTLAB_CUDA_API CudaError cudaDeviceGetSharedMemConfig(int* out) { return answer(out, 1); }
SIMTLAB_CUDA_ALIAS(cudaThreadSetCacheConfig, cudaDeviceSetCacheConfig);
SIMTLAB_CUDA_ALIAS(cudaThreadGetCacheConfig, cudaDeviceGetCacheConfig);

SIMTLAB_CUDA_API CudaError cudaDeviceGetPCIBusId(char* out, int length, int device) {
  return call([&](Runtime&) {
    if (out == nullptr || length < static_cast<int>(sizeof bus_id)) return error_invalid_value;
    if (device != 0) return error_invalid_device;
    std::memcpy(out, bus_id, sizeof bus_id);
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaDeviceGetByPCIBusId(int* out, const char* id) {
  if (id == nullptr || std::strcmp(id, bus_id) != 0) return note(error_invalid_device);
  return answer(out, 0);
}

SIMTLAB_CUDA_API CudaError cudaDeviceCanAccessPeer(int* out, int, int) { return answer(out, 0); }
SIMTLAB_CUDA_API CudaError cudaDeviceEnablePeerAccess(int, unsigned) { return note(error_invalid_device); }
SIMTLAB_CUDA_API CudaError cudaDeviceDisablePeerAccess(int) { return note(error_invalid_device); }

// The driver's way to ask the same; programs of before the runtime had its own use it.
extern "C" CudaError cudaMemGetInfo(std::size_t* free, std::size_t* total);
SIMTLAB_CUDA_API int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return cudaMemGetInfo(free, total);
}
SIMTLAB_CUDA_ALIAS(cuMemGetInfo, cuMemGetInfo_v2);
