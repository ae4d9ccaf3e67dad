#include "base/cache_folder.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace simtlab {

namespace fs = std::filesystem;

fs::path default_cache() {
  const auto environment = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string c = environment("SIMTLAB_CACHE"); !c.empty()) return c;
  if (const std::string x = environment("XDG_CACHE_HOME"); !x.empty()) return fs::path(x) / "simtlab";
  if (const std::string h = environment("HOME"); !h.empty()) return fs::path(h) / ".cache/simtlab";
  return fs::temp_directory_path() / ("simtlab-" + std::to_string(getuid()));
}

}  // namespace simtlab
