// The keys of memory controller files.
#pragma once

#include <vector>

#include "device/key.h"

namespace simtlab::device {

// In the order in which they are printed.
const std::vector<KeyOf<MemoryController>>& memory_controller_keys();

}  // namespace simtlab::device
