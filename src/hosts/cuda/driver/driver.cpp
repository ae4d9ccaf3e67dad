#include "hosts/cuda/driver/driver.h"

namespace simtlab::hosts::cuda {

DriverResult driver_result(CudaError code) {
  switch (code) {
    case error_invalid_configuration:
    case error_invalid_pitch_value:
    case error_invalid_host_pointer:
    case error_invalid_device_pointer:
    case error_invalid_texture:
    case error_invalid_texture_binding:
    case error_invalid_channel_descriptor:
    case error_invalid_memcpy_direction:
    case error_missing_configuration: return driver_invalid_value;
    case error_invalid_symbol: return driver_not_found;
    case error_invalid_device_function: return driver_invalid_handle;
    default: return static_cast<DriverResult>(code);
  }
}

DriverResult ready() {
  Runtime& r = Runtime::get();
  const std::lock_guard lock(r.mutex);
  if (!r.contexts.initialised()) return driver_not_initialized;
  return r.contexts.current() == nullptr ? driver_invalid_context : driver_success;
}

DriverResult ready(Device device) {
  Runtime& r = Runtime::get();
  const std::lock_guard lock(r.mutex);
  if (!r.contexts.initialised()) return driver_not_initialized;
  return device == 0 ? driver_success : driver_invalid_device;
}

}  // namespace simtlab::hosts::cuda
