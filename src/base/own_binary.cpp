#include "base/own_binary.h"

#include <dlfcn.h>

#include <system_error>

namespace simtlab {

namespace fs = std::filesystem;

fs::path own_folder() {
  std::error_code code;
  Dl_info info{};
  // Of the executable itself the name is argv[0], which may be a bare name found through $PATH.
  if (::dladdr(reinterpret_cast<const void*>(&own_folder), &info) != 0 && info.dli_fname != nullptr &&
      fs::path(info.dli_fname).is_absolute())
    if (const fs::path file = fs::canonical(info.dli_fname, code); !code) return file.parent_path();
  const fs::path executable = fs::read_symlink("/proc/self/exe", code);
  return code ? fs::path{} : executable.parent_path();
}

}  // namespace simtlab
