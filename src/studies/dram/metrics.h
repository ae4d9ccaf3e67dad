// What a memory was measured to do, as metrics.
#pragma once

#include <cstdint>

#include "memory/traffic/driver.h"
#include "result/metrics.h"
#include "studies/dram/memory.h"

namespace simtlab::studies {

// line: bytes of a request. The memory is as the run left it.
result::Metrics metrics_of(const memory::traffic::Measured& measured, DrivenMemory& memory,
                           std::uint64_t line);

}  // namespace simtlab::studies
