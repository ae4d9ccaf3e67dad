// The device as cudaDeviceProp and cudaDeviceGetAttribute tell it. One list of values; three layouts of the
// structure.
#pragma once

#include "device/device.h"

namespace simtlab::hosts::cuda {

// layout: 11, 12 or 13, the CUDA version whose cudaDeviceProp `out` is. Writes the whole structure.
void fill_properties(const device::Device& device, int layout, void* out);
// False: no such attribute.
bool device_attribute(const device::Device& device, int attribute, int& value);

}  // namespace simtlab::hosts::cuda
