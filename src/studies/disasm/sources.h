// Machine code of sources: compiled to PTX as `simtlab build` does, then assembled.
#pragma once

#include <string>
#include <vector>

#include "studies/disasm/assembled.h"

namespace simtlab::studies {

// CUDA C++ or OpenCL C, by its name.
bool is_device_source(const std::string& file);

// Compiled for a GPU of the generation. Throws what building throws.
std::vector<AssembledModule> assemble_source(const std::string& file, unsigned generation);

// `simtlab build --machine FILE`: for the -arch among the arguments, which are those of a build of the file
// without its name.
struct BuiltCode {
  std::vector<AssembledModule> modules;
  std::string output;  // -o
};
BuiltCode assemble_build(const std::string& file, const std::vector<std::string>& arguments);

}  // namespace simtlab::studies
