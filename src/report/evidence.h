// Why a kernel takes as long as it does, from its result alone: sentences with figures, and which limits its
// evidence points at.
#pragma once

#include <string>
#include <vector>

#include "result/metrics.h"

namespace simtlab::report {

// From the whole to the line: time, occupancy, issue, the stall that dominates, where loads wait, which
// level, which line.
std::vector<std::string> evidence(const result::KernelResult& kernel, const std::string& device);

// A limit whose lifting the evidence suggests.
struct Suspect {
  std::string what_if;  // a name of --what-if
  double weight = 0;    // share of the time that lifting it may save (result/gains.h)
  std::string because;
};
// Most likely first; only those that the evidence points at.
std::vector<Suspect> suspects(const result::KernelResult& kernel);

// Of a kernel that got slower with a limit lifted: what the time went to, and what changed in the caches.
std::string loss_reason(const result::KernelResult& before, const result::KernelResult& after);

}  // namespace simtlab::report
