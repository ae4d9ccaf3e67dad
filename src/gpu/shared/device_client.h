// The shared simulated GPU as a program sees it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "gpu/shared_device.h"

namespace simtlab::gpu::shared {

// Throws Error(unavailable, "corun-device"): no daemon with a device in that directory, or it has another one
// than `device`.
std::shared_ptr<gpu::SharedDevice> connect_device(const std::filesystem::path& directory,
                                                  const std::string& device);

}  // namespace simtlab::gpu::shared
