// The rule for make that -MD and -M ask for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compile/nvcc_options.h"

namespace simtlab::compile {

// `target: source header ...`, one file a line, as gcc and nvcc write it. The source comes first.
// own_headers: the folder of simtlab's headers, which count as the system's.
std::string dependency_rule(const DependencyWish& wish, const std::string& target, const std::string& source,
                            const std::vector<std::filesystem::path>& read,
                            const std::filesystem::path& own_headers);

}  // namespace simtlab::compile
