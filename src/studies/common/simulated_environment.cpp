#include "studies/common/simulated_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/own_binary.h"
#include "base/shown.h"
#include "device/catalogue.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;

// A list with ours before what is there.
EnvironmentVariable put_before(const char* name, const fs::path& ours) {
  const char* const old = std::getenv(name);
  const bool keep = old != nullptr && *old != '\0';
  return {name, fmt::format("{}{}{}", ours.string(), keep ? ":" : "", keep ? old : "")};
}

}  // namespace

fs::path runtime_directory() {
  std::error_code ignored;
  const auto holds_runtime = [&](const fs::path& folder) {
    return std::ranges::any_of(
        std::initializer_list<const char*>{"libcudart.so.12", "libcudart.so.11.0", "libcudart.so"},
        [&](const char* name) { return fs::exists(folder / name, ignored); });
  };
  if (const char* chosen = std::getenv("SIMTLAB_LIBRARY_DIR"); chosen != nullptr && *chosen != '\0') {
    if (holds_runtime(chosen)) return fs::absolute(chosen, ignored);
    throw Error(ExitCode::bad_input, "runtime-missing",
                fmt::format("SIMTLAB_LIBRARY_DIR={} holds no libcudart.so", shown(chosen)),
                "unset it, or let it name the folder of simtlab's libraries");
  }
  const fs::path here = own_folder();
  // Build tree: bin/ beside lib/; installed: lib/simtlab. This code lies in bin/ or in lib/.
  for (const char* relative : {"../lib/simtlab", "../lib", "../../lib/simtlab"})
    if (const fs::path folder = (here / relative).lexically_normal(); holds_runtime(folder)) return folder;
  throw Error(ExitCode::failure, "runtime-missing",
              fmt::format("libcudart.so of simtlab is not beside {}", here.string()),
              "install or build simtlab completely (./dev build)");
}

std::vector<EnvironmentVariable> simulated_environment() {
  const fs::path libraries = runtime_directory();
  return {
      put_before("LD_LIBRARY_PATH", libraries),
      // It puts our runtime in the place of one that is linked in (hosts/static_runtime). The loader
      // initialises libraries from the last one to the first: those that stand before CUDA's functions, too
      // (corun/gate), are ready when ours asks for these.
      put_before("LD_PRELOAD", libraries / "libsimtlab_static_runtime.so"),
      // OpenCL's loader then sees the simulated device and no other.
      {"OCL_ICD_VENDORS", (libraries / "opencl-vendors").string()},
      {"OCL_ICD_FILENAMES", std::nullopt},
      {"OPENCL_VENDOR_PATH", std::nullopt},
      {"SIMTLAB_DATA", device::data_directory().string()},
  };
}

}  // namespace simtlab::studies
