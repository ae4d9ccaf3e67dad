// How much kernels move when a value of a device file moves: data/devices/elasticity.csv, which
// tools/elasticity.py writes. It says which of the values without a source matter.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/source_kind.h"

namespace simtlab::device {

struct Elasticity {
  std::string device, key;  // "h100", "latency.sfu"
  double change = 0;        // largest relative change of a kernel's cycles: 0.031 is 3.1 %
  std::string kernel;       // whose change that is; empty: none moves
};

// Of every device, in the order of the file; none if the data directory has no such file. Throws
// Error(bad_input, "device-file") with the line.
std::vector<Elasticity> load_elasticities();
std::vector<Elasticity> parse_elasticities(std::string_view text, const std::string& file);

}  // namespace simtlab::device
