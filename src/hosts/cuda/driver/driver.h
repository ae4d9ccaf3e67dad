// The shell around the functions of the driver API (libcuda.so.1). They are the runtime's functions with
// other names, codes and handles: streams, events, arrays and graphs are the same, and one Runtime has the
// state of both.
#pragma once

#include "hosts/cuda/call.h"
#include "hosts/cuda/modules.h"

#define SIMTLAB_DRIVER_API extern "C" __attribute__((visibility("default")))

namespace simtlab::hosts::cuda {

// CUresult. Numbers from 100 on are those of the runtime.
enum DriverResult : int {
  driver_success = 0,
  driver_invalid_value = 1,
  driver_out_of_memory = 2,
  driver_not_initialized = 3,
  driver_invalid_device = 101,
  driver_invalid_context = 201,
  driver_context_current = 202,
  driver_file_not_found = 301,
  driver_invalid_handle = 400,
  driver_not_found = 500,
  driver_primary_active = 708,
  driver_not_supported = 801,
};

using DevicePointer = std::uint64_t;
using Device = int;

// Codes that only the runtime has are said in the driver's.
DriverResult driver_result(CudaError code);
// Whether the driver has been initialised, and the thread has a context.
DriverResult ready();
DriverResult ready(Device device);

// body: CudaError() that calls the runtime's function.
template <typename Body>
DriverResult forward(Body&& body) {
  const DriverResult state = ready();
  return state == driver_success ? driver_result(body()) : state;
}

// body: DriverResult(Runtime&), under the lock and in a context. After a fault of a kernel every call returns
// that.
template <typename Body>
DriverResult in_context(Body&& body) {
  const DriverResult state = ready();
  if (state != driver_success) return state;
  DriverResult out = driver_success;
  const CudaError code = call([&](Runtime& r) {
    out = body(r);
    return success;
  });
  return code == success ? out : driver_result(code);
}

// body: CudaError(Runtime&, KernelEntry&), for a CUfunction or CUkernel.
template <typename Body>
DriverResult with_function(const void* handle, Body&& body) {
  return in_context([&](Runtime& r) {
    KernelEntry* const entry = r.find_kernel(handle);
    return entry == nullptr ? driver_invalid_handle : driver_result(body(r, *entry));
  });
}

}  // namespace simtlab::hosts::cuda
