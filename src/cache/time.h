// The time of a study: SM cycles with four binary places. It decides what comes first; it predicts nothing.
#pragma once

#include <cstdint>

namespace simtlab::cache {

using Time = std::uint64_t;
inline constexpr unsigned time_bits = 4;
inline Time to_time(double cycles) { return static_cast<Time>(cycles * (1u << time_bits) + 0.5); }

}  // namespace simtlab::cache
