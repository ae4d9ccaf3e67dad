// A folder laid out as a CUDA toolkit, in which nvcc, the headers and the libraries are simtlab's: what a
// makefile's CUDA_PATH or CMake's CMAKE_CUDA_COMPILER may name.
#pragma once

#include <filesystem>

namespace simtlab::studies {

struct ToolkitParts {
  std::filesystem::path program;    // the simtlab that bin/nvcc starts
  std::filesystem::path include;    // folder of cuda_runtime.h
  std::filesystem::path libraries;  // folder of libcudart.so.12
};

// Lays it out anew, or over one of an earlier call. Throws Error: "toolkit-folder" (bad_input) if the folder
// holds anything else, "file-write" (failure) if it can't be written.
void lay_out_toolkit(const std::filesystem::path& prefix, const ToolkitParts& parts);

}  // namespace simtlab::studies
