// Finding data/: never through the working directory, so that a result does not depend on where the tool is
// started.
#include <fmt/format.h>

#include <cstdlib>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/own_binary.h"
#include "device/catalogue.h"

namespace simtlab::device {
namespace {

namespace fs = std::filesystem;

bool is_data_directory(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path / "devices", ignored);
}

fs::path executable_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

}  // namespace

fs::path data_directory() {
  if (const char* chosen = std::getenv("SIMTLAB_DATA"); chosen != nullptr && *chosen != '\0') {
    if (is_data_directory(chosen)) return chosen;
    throw Error(ExitCode::bad_input, "data-directory",
                fmt::format("SIMTLAB_DATA is {}, which has no folder 'devices'", chosen),
                "unset it or let it name the folder that holds devices/");
  }
  std::vector<fs::path> tried;
  for (const fs::path& folder : {own_folder(), executable_folder()}) {
    if (folder.empty()) continue;
    // Installed: bin/ or lib/ or lib/simtlab/ beside share/. Source tree: build/release/bin or
    // build/release/lib.
    for (const char* relative : {"../share/simtlab/data", "../../share/simtlab/data", "../../../data"})
      tried.push_back((folder / relative).lexically_normal());
  }
  tried.emplace_back(SIMTLAB_DATA_DIRECTORY);
  for (const fs::path& path : tried)
    if (is_data_directory(path)) return path;
  std::string places;
  for (const fs::path& path : tried) places += fmt::format("{}{}", places.empty() ? "" : ", ", path.string());
  throw Error(ExitCode::bad_input, "data-directory", fmt::format("no data files; looked in {}", places),
              "set SIMTLAB_DATA to the folder that holds devices/");
}

}  // namespace simtlab::device
