// Contexts: the primary one of the device, and those that programs create. All of them share the device's
// memory.
#include "hosts/cuda/driver/driver.h"
#include "hosts/cuda/driver/runtime_calls.h"

using namespace simtlab::hosts::cuda;

namespace {

// body: DriverResult(Runtime&), under the lock. Works after a fault, too.
template <typename Body>
DriverResult initialised(Body&& body) {
  DriverResult out = driver_not_initialized;
  const CudaError code = call_always([&](Runtime& r) {
    if (r.contexts.initialised()) out = body(r);
    return success;
  });
  return code == success ? out : driver_result(code);
}

// With the last context everything goes that programs had on the device.
void drop_if_none_is_left(Runtime& r) {
  if (!r.contexts.any() && !r.lost()) r.reset_device();
}

DriverResult create(Context** out, unsigned flags, Device device) {
  return initialised([&](Runtime& r) {
    if (device != 0) return driver_invalid_device;
    if (out == nullptr) return driver_invalid_value;
    *out = r.contexts.create(flags);
    r.contexts.push(*out);
    return driver_success;
  });
}

// For what only asks whether there is a context.
DriverResult nothing_to_do() {
  return in_context([](Runtime&) { return driver_success; });
}

template <typename T>
DriverResult answer(T* out, T value) {
  return in_context([&](Runtime&) {
    if (out == nullptr) return driver_invalid_value;
    *out = value;
    return driver_success;
  });
}

}  // namespace

// ---- the primary context

SIMTLAB_DRIVER_API DriverResult cuDevicePrimaryCtxRetain(Context** out, Device device) {
  return initialised([&](Runtime& r) {
    if (device != 0) return driver_invalid_device;
    if (out == nullptr) return driver_invalid_value;
    ++r.contexts.primary().uses;
    *out = &r.contexts.primary();
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuDevicePrimaryCtxRelease_v2(Device device) {
  return initialised([&](Runtime& r) {
    if (device != 0) return driver_invalid_device;
    if (r.contexts.primary().uses == 0) return driver_invalid_context;
    if (--r.contexts.primary().uses == 0) drop_if_none_is_left(r);
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuDevicePrimaryCtxReset_v2(Device device) {
  return initialised([&](Runtime& r) {
    if (device != 0) return driver_invalid_device;
    r.contexts.reset_primary();
    drop_if_none_is_left(r);
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuDevicePrimaryCtxSetFlags_v2(Device device, unsigned flags) {
  return initialised([&](Runtime& r) {
    if (device != 0) return driver_invalid_device;
    r.contexts.primary().flags = flags;
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuDevicePrimaryCtxGetState(Device device, unsigned* flags, int* active) {
  return initialised([&](Runtime& r) {
    if (device != 0) return driver_invalid_device;
    if (flags == nullptr || active == nullptr) return driver_invalid_value;
    *flags = r.contexts.primary().flags;
    *active = r.contexts.primary_active() ? 1 : 0;
    return driver_success;
  });
}
SIMTLAB_CUDA_ALIAS(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2);
SIMTLAB_CUDA_ALIAS(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2);
SIMTLAB_CUDA_ALIAS(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2);

// ---- created contexts

SIMTLAB_DRIVER_API DriverResult cuCtxCreate_v2(Context** out, unsigned flags, Device device) {
  return create(out, flags, device);
}
SIMTLAB_CUDA_ALIAS(cuCtxCreate, cuCtxCreate_v2);
// affinity: shares of the SMs, which only some devices support; this one does not.
SIMTLAB_DRIVER_API DriverResult cuCtxCreate_v3(Context** out, void* affinity, int count, unsigned flags,
                                               Device device) {
  return affinity != nullptr && count != 0 ? driver_not_supported : create(out, flags, device);
}
SIMTLAB_DRIVER_API DriverResult cuCtxCreate_v4(Context** out, const void* parameters, unsigned flags,
                                               Device device) {
  return parameters != nullptr ? driver_not_supported : create(out, flags, device);
}
SIMTLAB_DRIVER_API DriverResult cuCtxDestroy_v2(Context* context) {
  return initialised([&](Runtime& r) {
    const bool current = context != nullptr && r.contexts.current() == context;
    if (!r.contexts.destroy(context)) return driver_invalid_context;
    if (current) r.contexts.pop();
    drop_if_none_is_left(r);
    return driver_success;
  });
}
SIMTLAB_CUDA_ALIAS(cuCtxDestroy, cuCtxDestroy_v2);
SIMTLAB_DRIVER_API DriverResult cuCtxDetach(Context* context) { return cuCtxDestroy_v2(context); }
SIMTLAB_DRIVER_API DriverResult cuCtxAttach(Context** out, unsigned) {
  return in_context([&](Runtime& r) {
    if (out == nullptr) return driver_invalid_value;
    *out = r.contexts.current();
    return driver_success;
  });
}

// ---- the current context

SIMTLAB_DRIVER_API DriverResult cuCtxPushCurrent_v2(Context* context) {
  return initialised([&](Runtime& r) {
    if (!r.contexts.known(context)) return driver_invalid_context;
    r.contexts.push(context);
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuCtxPopCurrent_v2(Context** out) {
  return initialised([&](Runtime& r) {
    Context* const popped = r.contexts.pop();
    if (popped == nullptr) return driver_invalid_context;
    if (out != nullptr) *out = popped;
    return driver_success;
  });
}
SIMTLAB_CUDA_ALIAS(cuCtxPushCurrent, cuCtxPushCurrent_v2);
SIMTLAB_CUDA_ALIAS(cuCtxPopCurrent, cuCtxPopCurrent_v2);
SIMTLAB_DRIVER_API DriverResult cuCtxSetCurrent(Context* context) {
  return initialised([&](Runtime& r) {
    if (context != nullptr && !r.contexts.known(context)) return driver_invalid_context;
    r.contexts.set_current(context);
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuCtxGetCurrent(Context** out) {
  return initialised([&](Runtime& r) {
    if (out == nullptr) return driver_invalid_value;
    *out = r.contexts.current();
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuCtxGetDevice(Device* out) { return answer(out, 0); }
SIMTLAB_DRIVER_API DriverResult cuCtxGetDevice_v2(Device* out, Context* context) {
  return initialised([&](Runtime& r) {
    if (out == nullptr) return driver_invalid_value;
    if (context != nullptr && !r.contexts.known(context)) return driver_invalid_context;
    if (context == nullptr && r.contexts.current() == nullptr) return driver_invalid_context;
    *out = 0;
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuCtxGetFlags(unsigned* out) {
  return in_context([&](Runtime& r) {
    if (out == nullptr) return driver_invalid_value;
    *out = r.contexts.current()->flags;
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuCtxSetFlags(unsigned flags) {
  return in_context([&](Runtime& r) {
    r.contexts.current()->flags = flags;
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuCtxGetId(Context* context, unsigned long long* out) {
  return in_context([&](Runtime& r) {
    if (context == nullptr) context = r.contexts.current();
    if (out == nullptr) return driver_invalid_value;
    if (!r.contexts.known(context)) return driver_invalid_context;
    *out = context->number;
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuCtxGetApiVersion(Context*, unsigned* out) { return answer(out, 3020u); }
SIMTLAB_DRIVER_API DriverResult cuCtxSynchronize() {
  return forward([] { return cudaDeviceSynchronize(); });
}
// All contexts are of one device.
SIMTLAB_DRIVER_API DriverResult cuCtxSynchronize_v2(Context*) { return cuCtxSynchronize(); }
SIMTLAB_DRIVER_API DriverResult cuCtxGetLimit(std::size_t* out, int limit) {
  return forward([&] { return cudaDeviceGetLimit(out, limit); });
}
SIMTLAB_DRIVER_API DriverResult cuCtxSetLimit(int limit, std::size_t value) {
  return forward([&] { return cudaDeviceSetLimit(limit, value); });
}
SIMTLAB_DRIVER_API DriverResult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return forward([&] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}
// Hints; the device file decides.
SIMTLAB_DRIVER_API DriverResult cuCtxGetCacheConfig(int* out) { return answer(out, 0); }
SIMTLAB_DRIVER_API DriverResult cuCtxSetCacheConfig(int) { return nothing_to_do(); }
SIMTLAB_DRIVER_API DriverResult cuCtxGetSharedMemConfig(int* out) { return answer(out, 1); }
SIMTLAB_DRIVER_API DriverResult cuCtxSetSharedMemConfig(int) { return nothing_to_do(); }
SIMTLAB_DRIVER_API DriverResult cuProfilerStart() {
  return forward([] { return cudaProfilerStart(); });
}
SIMTLAB_DRIVER_API DriverResult cuProfilerStop() {
  return forward([] { return cudaProfilerStop(); });
}
