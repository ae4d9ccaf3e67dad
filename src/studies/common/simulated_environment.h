// The environment in which a program finds simtlab's CUDA and OpenCL in the place of the machine's.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace simtlab::studies {

// The directory of our libcudart.so. Throws Error(failure) if this installation has none.
std::filesystem::path runtime_directory();

struct EnvironmentVariable {
  std::string name;
  std::optional<std::string> value;  // none: the variable is taken out
};

// How the environment of a program on the simulated GPU differs from that of this process. It holds for every
// program that the first one starts, too: a shell starts a program whose CUDA runtime is linked in, and is
// none itself. Throws as runtime_directory.
std::vector<EnvironmentVariable> simulated_environment();

}  // namespace simtlab::studies
