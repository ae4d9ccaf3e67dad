#include "cli/commands/installation.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>

#include "base/error.h"
#include "cli/commands/commands.h"
#include "compile/toolchain.h"
#include "device/catalogue.h"
#include "exec/executor.h"
#include "studies/common/manifest.h"

namespace simtlab::cli {
namespace {

namespace fs = std::filesystem;
using State = Finding::State;

// look: what was found; throws what is wrong.
Finding look_for(const std::string& what, State otherwise, const std::function<std::string()>& look) {
  try {
    return {State::ok, what, look(), {}};
  } catch (const Error& e) {
    return {otherwise, what, e.diagnostics().front().message, e.diagnostics().front().hint};
  }
}

Finding library(const std::string& what, const fs::path& file, const std::string& purpose) {
  std::error_code ignored;
  if (!file.empty() && fs::exists(file, ignored)) return {State::ok, what, file.string(), {}};
  return {State::optional_missing, what, "not found beside simtlab", purpose};
}

}  // namespace

std::vector<Finding> check_installation() {
  std::vector<Finding> out;
  out.push_back(
      {State::ok, "simtlab", fmt::format("{}, instruction set {}", version(), exec::instruction_set()), {}});
  out.push_back(look_for("data", State::missing, [] { return device::data_directory().string(); }));
  out.push_back(look_for("device files", State::missing,
                         [] { return fmt::format("{}", device::list_devices().size()); }));
  out.push_back(look_for("clang", State::optional_missing, [] {
    const compile::OpenClToolchain t = compile::find_opencl_toolchain();
    return fmt::format("{} ({})", t.clang, t.version);
  }));
  const fs::path libraries = compile::find_runtime_library();
  out.push_back(library("libcudart drop-in", libraries.empty() ? fs::path{} : libraries / "libcudart.so.12",
                        "for `run app.cu` and `run -- ./app`: build all of simtlab (./dev build)"));
  out.push_back(library("OpenCL library", libraries.empty() ? fs::path{} : libraries / "libsimtlab_opencl.so",
                        "for `run -- ./opencl_app`: install the Debian package opencl-c-headers and build "
                        "again (./dev build)"));
  out.push_back(look_for("simtlab-loops (LLVM 19)", State::optional_missing,
                         [] { return compile::find_loop_toolchain().tool.string(); }));
  return out;
}

}  // namespace simtlab::cli
