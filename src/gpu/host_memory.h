// How much host memory simulated device memory may take.
#pragma once

#include <cstdint>

namespace simtlab::gpu {

// Three quarters of what the host says is available now (/proc/meminfo and the cgroup's limit); 1 GiB if it
// does not say.
std::uint64_t default_memory_limit();

}  // namespace simtlab::gpu
