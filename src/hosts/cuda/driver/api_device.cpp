// Initialisation, versions, and the one device, number 0.
#include <algorithm>
#include <cstring>

#include "hosts/cuda/driver/driver.h"
#include "hosts/cuda/driver/runtime_calls.h"
#include "hosts/cuda/properties.h"

using namespace simtlab::hosts::cuda;

namespace {

constexpr int driver_version = 13000;
constexpr int last_attribute = 200;  // CUDA 13 has fewer

template <typename Body>
DriverResult of_device(Device device, Body&& body) {
  const DriverResult state = ready(device);
  if (state != driver_success) return state;
  DriverResult out = driver_success;
  const CudaError code = call_always([&](Runtime& r) {
    out = body(r);
    return success;
  });
  return code == success ? out : driver_result(code);
}

}  // namespace

SIMTLAB_DRIVER_API DriverResult cuInit(unsigned flags) {
  if (flags != 0) return driver_invalid_value;
  const CudaError code = call_always([](Runtime& r) {
    r.gpu();  // a bad configuration is said here
    r.contexts.initialise();
    return success;
  });
  return driver_result(code);
}
SIMTLAB_DRIVER_API DriverResult cuDriverGetVersion(int* out) {
  if (out == nullptr) return driver_invalid_value;
  *out = driver_version;
  return driver_success;
}

SIMTLAB_DRIVER_API DriverResult cuDeviceGet(Device* out, int number) {
  return of_device(number, [&](Runtime&) {
    if (out == nullptr) return driver_invalid_value;
    *out = 0;
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuDeviceGetCount(int* out) {
  return of_device(0, [&](Runtime&) {
    if (out == nullptr) return driver_invalid_value;
    *out = 1;
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuDeviceGetName(char* out, int length, Device device) {
  return of_device(device, [&](Runtime& r) {
    if (out == nullptr || length <= 0) return driver_invalid_value;
    const std::string& name = r.device().product.empty() ? r.device().name : r.device().product;
    const std::size_t bytes = std::min(name.size(), static_cast<std::size_t>(length) - 1);
    std::memcpy(out, name.data(), bytes);
    out[bytes] = '\0';
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuDeviceGetUuid_v2(char* out, Device device) {
  return of_device(device, [&](Runtime&) {
    constexpr char uuid[16] = {'s', 'i', 'm', 't', 'l', 'a', 'b'};
    if (out == nullptr) return driver_invalid_value;
    std::memcpy(out, uuid, sizeof uuid);
    return driver_success;
  });
}
SIMTLAB_CUDA_ALIAS(cuDeviceGetUuid, cuDeviceGetUuid_v2);
SIMTLAB_DRIVER_API DriverResult cuDeviceTotalMem_v2(std::size_t* out, Device device) {
  return of_device(device, [&](Runtime& r) {
    if (out == nullptr) return driver_invalid_value;
    *out = r.gpu().memory().capacity();
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuDeviceGetAttribute(int* out, int attribute, Device device) {
  return of_device(device, [&](Runtime& r) {
    if (out == nullptr || attribute < 1 || attribute > last_attribute) return driver_invalid_value;
    // What properties.cpp does not know are features that the simulated device does not have.
    if (!device_attribute(r.device(), attribute, *out)) *out = 0;
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuDeviceComputeCapability(int* major, int* minor, Device device) {
  return of_device(device, [&](Runtime& r) {
    if (major == nullptr || minor == nullptr) return driver_invalid_value;
    *major = r.device().cc_major;
    *minor = r.device().cc_minor;
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuDeviceGetByPCIBusId(Device* out, const char* id) {
  const DriverResult state = ready(0);
  return state == driver_success ? driver_result(cudaDeviceGetByPCIBusId(out, id)) : state;
}
SIMTLAB_DRIVER_API DriverResult cuDeviceGetPCIBusId(char* out, int length, Device device) {
  const DriverResult state = ready(device);
  return state == driver_success ? driver_result(cudaDeviceGetPCIBusId(out, length, device)) : state;
}
SIMTLAB_DRIVER_API DriverResult cuDeviceCanAccessPeer(int* out, Device device, Device) {
  return of_device(device, [&](Runtime&) {
    if (out == nullptr) return driver_invalid_value;
    *out = 0;
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuDeviceGetExecAffinitySupport(int* out, int, Device device) {
  return cuDeviceCanAccessPeer(out, device, device);
}
