#include "studies/toolkit/parts.h"

#include <filesystem>

#include "base/error.h"
#include "compile/toolchain.h"

namespace simtlab::studies {

ToolkitParts toolkit_parts() {
  std::error_code code;
  ToolkitParts parts;
  parts.program = std::filesystem::read_symlink("/proc/self/exe", code);
  parts.include = compile::cuda_headers();
  parts.libraries = compile::find_runtime_library();
  if (code || parts.libraries.empty())
    throw Error(ExitCode::failure, "runtime-missing", "simtlab's libcudart.so.12 is not beside the program",
                "install or build simtlab completely (./dev build)");
  return parts;
}

}  // namespace simtlab::studies
