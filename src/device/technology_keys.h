// The keys of memory technology files.
#pragma once

#include <vector>

#include "device/key.h"

namespace simtlab::device {

// In the order in which they are printed.
const std::vector<KeyOf<Technology>>& technology_keys();

}  // namespace simtlab::device
