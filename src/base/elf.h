// What an executable file says about its use of CUDA, read from its ELF headers.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab {

struct ElfFacts {
  bool is_elf = false;
  bool is_x86_64 = false;
  bool relocatable = false;  // device code that nvcc would have linked (-rdc=true)
  bool has_fatbin = false;   // sections .nv_fatbin, .nvFatBinSegment or ours
  // The dynamic loader starts it; without one nothing can be loaded before it
  bool has_interpreter = false;
  // has_fatbin, and the functions that register it or launch are another file's
  bool imports_cuda = false;
  // Major version of a CUDA runtime that is linked in with its names; 0: none (base/elf_symbols.h)
  int static_runtime = 0;
  std::vector<std::string> needed;  // DT_NEEDED, in order

  bool needs(std::string_view library) const;  // one whose name begins so
  // Kernels in it, and no shared CUDA library for them: the runtime is linked in.
  bool has_static_cuda() const {
    return has_fatbin && !imports_cuda && !needs("libcudart.so") && !needs("libcuda.so");
  }
};

// Never throws for malformed content: what can't be read is as if absent. Bounded memory.
ElfFacts inspect_elf(const std::filesystem::path& path);

// Throws Error if a program with these facts can't run on a simulated GPU: a CUDA runtime that is linked in
// and cannot be replaced, or libraries that have one inside (cuBLAS, ...).
void check_cuda_linkage(const ElfFacts& facts, const std::string& program);

}  // namespace simtlab
