// What build systems ask of nvcc besides compiling: its version, and with -v where its toolkit lies and how a
// program is linked by hand. CMake reads both (CMakeDetermineCUDACompiler).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab::compile {

// The CUDA version whose interface simtlab's headers and libcudart have.
inline constexpr int cuda_major = 12, cuda_minor = 0;

// Of --version. simtlab: its own version.
std::string nvcc_version_text(std::string_view simtlab);

// Macros that nvcc defines and clang does not, as options.
std::vector<std::string> nvcc_macros();

// The folder of a CUDA toolkit laid out by `simtlab toolkit`, of the path by which its bin/nvcc was started;
// empty: that is no such path.
std::filesystem::path toolkit_of(const std::filesystem::path& nvcc);

// Lines of `nvcc -v`: "#$ TOP=...", "#$ LIBRARIES=...", the command that links.
std::string nvcc_verbose_text(const std::filesystem::path& toolkit,
                              const std::vector<std::string>& arguments);

}  // namespace simtlab::compile
