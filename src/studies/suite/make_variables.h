// Makefiles that name NVIDIA's toolkit by an absolute path.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace simtlab::studies {

// The variables that this makefile, or one that it includes, sets to a path of a CUDA toolkit or its nvcc, as
// words for make's command line with `toolkit` in their place: "CUDA_PATH=...", "NVCC=.../bin/nvcc -O3".
std::vector<std::string> toolkit_variables(const std::filesystem::path& makefile,
                                           const std::filesystem::path& toolkit);

}  // namespace simtlab::studies
