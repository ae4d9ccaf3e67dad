// An application that launches one kernel again and again.
#pragma once

#include <cstdint>
#include <string>

#include "corun/host.h"

namespace simtlab::corun {

inline Workload app(const std::string& name, const Profile& profile, std::uint64_t iterations = 1,
                    double gap_ns = 0) {
  Workload w;
  w.name = name;
  w.sequence = {{"k", profile}};
  w.iterations = iterations;
  w.gap_ns = gap_ns;
  return w;
}

}  // namespace simtlab::corun
