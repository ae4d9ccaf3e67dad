#include "gpu/host_speed.h"

#include <sys/resource.h>

#include <cstdint>

namespace simtlab::gpu {

void HostSpeed::set_totals(result::Metrics& total) const {
  total.set("host.wall_time", seconds_since(start_));
  if (launch_seconds_ > 0 && instructions_ > 0)
    total.set("host.rate.warp_instructions", instructions_ / launch_seconds_);
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0)
    total.set("host.peak_memory", static_cast<std::uint64_t>(usage.ru_maxrss) * 1024);
}

}  // namespace simtlab::gpu
