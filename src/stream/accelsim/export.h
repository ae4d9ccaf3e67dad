// Traces of simtlab as Accel-Sim traces: kernelslist.g and a kernel-N.traceg a kernel.
// docs/reference/traces.md says what gets lost.
#pragma once

#include <filesystem>

#include "stream/trace/reader.h"

namespace simtlab::stream::accelsim {

// Into a folder, made if it is not there. Returns how many kernels were written. version: of the machine code
// that it claims to be.
std::uint64_t export_trace(trace::Reader& from, const std::filesystem::path& folder, unsigned version,
                           const volatile bool* stop);

}  // namespace simtlab::stream::accelsim
