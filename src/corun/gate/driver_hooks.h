// The driver's functions that programs ask for by name.
#pragma once

#include <cstdint>

namespace simtlab::corun::gate {

inline constexpr std::uint64_t per_thread_flag =
    2;  // of cuGetProcAddress: the flavour for per-thread default streams

// The answer of cuGetProcAddress, or of the runtime's function for it: ours in the place of a function that
// we stand before. version: of CUDA, that the program asked for; 0: the library's own.
void exchange_driver(const char* name, void** function, int version, std::uint64_t flags, const void* caller);

}  // namespace simtlab::corun::gate
