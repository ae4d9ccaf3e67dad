// What an executable file says about its use of CUDA, read from its ELF headers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace simtlab::cli {

struct ElfFacts {
  bool is_elf = false;
  bool is_x86_64 = false;
  bool has_fatbin = false;          // sections .nv_fatbin, .nvFatBinSegment or ours
  std::vector<std::string> needed;  // DT_NEEDED, in order
};

// Never throws for malformed content: what can't be read is as if absent. Bounded memory.
ElfFacts inspect_elf(const std::filesystem::path& path);

// Throws Error if a program with these facts can't run on a simulated GPU: CUDA runtime linked statically, or
// libraries that simtlab does not replace (libcuda, cuBLAS, ...).
void check_cuda_linkage(const ElfFacts& facts, const std::string& program);

}  // namespace simtlab::cli
