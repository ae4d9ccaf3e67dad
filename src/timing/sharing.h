// How launches that are under way at the same time share the GPU: which SMs each may use, and how many blocks
// of it an SM takes.
#pragma once

#include <cstdint>
#include <span>

#include "timing/launch.h"
#include "timing/share_policy.h"

namespace simtlab::timing {

// Sets where the next blocks of each launch may go; blocks that run stay where they are. A launch with a
// range of SMs of its own keeps it.
void share(SharePolicy policy, std::uint32_t sms, std::span<LaunchContext* const> launches);

}  // namespace simtlab::timing
