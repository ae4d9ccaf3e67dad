#include "gpu/device_memory.h"

#include <algorithm>
#include <utility>

namespace simtlab::gpu {

std::optional<std::uint64_t> DeviceMemory::allocate(std::uint64_t bytes, std::string what) {
  const std::optional<std::uint64_t> address = global_.allocate(bytes, std::move(what));
  note_peak();
  return address;
}

void DeviceMemory::note_peak() { peak_bytes_ = std::max(peak_bytes_, global_.used()); }

std::uint64_t DeviceMemory::host_room() const {
  return std::max<std::uint64_t>(1, host_limit_ - std::min(host_limit_, global_.used()));
}

}  // namespace simtlab::gpu
