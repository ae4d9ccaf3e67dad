// Real time, for limits and waits.
#pragma once

#include <chrono>
#include <cstdint>

namespace simtlab::corun::live {

inline std::uint64_t clock_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

}  // namespace simtlab::corun::live
