// Between the command line and compile::build.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "studies/common/options.h"
#include "studies/common/output.h"

namespace simtlab::studies {

// Builds with nvcc-like `arguments`; -v among them shows the commands. `output` empty: the -o among the
// arguments, else a.out. architecture: where the arguments name none. Returns the executable.
std::filesystem::path build_sources(std::vector<std::string> arguments, const std::filesystem::path& output,
                                    const OutputOptions& shown = {}, const std::string& architecture = {});

// Is this a source that `run` compiles first?
bool is_source(const std::string& argument);

}  // namespace simtlab::studies
