// The fast host of mixes beside the cycle-level one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "corun/interference.h"
#include "result/metrics.h"
#include "studies/common/command.h"
#include "studies/validate/areas/validation.h"

namespace simtlab::studies {

struct HostComparison {
  std::size_t mixes = 20, size = 4;
  std::uint32_t limit = 2;
  std::uint64_t seed = 1;
  std::vector<std::string> policies;  // empty: all
  std::string applications, model;    // empty: those of the examples; the SMs of the GPU
  RunOptions given;
  ValidationOptions keep;
};

// Runs the same seeded mixes on both, the fast one with the profiles that the other found. The report alone.
AreaReport host_area(const Command& app, const HostComparison& o, const volatile bool* stop);
// With what `keep` asks for. Throws Error.
Outcome compare_hosts(const Command& app, HostComparison o);

}  // namespace simtlab::studies
