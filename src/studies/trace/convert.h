// simtlab trace convert, and Accel-Sim traces on their way into a simulation.
#pragma once

#include <filesystem>
#include <string>

#include "studies/common/command.h"
#include "studies/common/studies.h"

namespace simtlab::studies {

void add_trace_convert(Command& trace);

// Whether a file is an Accel-Sim trace: kernelslist.g, *.traceg, *.traceg.xz.
bool is_accelsim(const std::string& file);
// Whether a file is a text of single accesses: *.trace.
bool is_access_text(const std::string& file);
void import_access_text(const std::string& file, const std::filesystem::path& to, const volatile bool* stop);
// As a trace of ours; says on stderr which opcodes no table knows. cubin: a file with the kernels' machine
// code; empty: there is none.
void import_accelsim(const std::string& file, const std::filesystem::path& to, const std::string& cubin,
                     const volatile bool* stop);

}  // namespace simtlab::studies
