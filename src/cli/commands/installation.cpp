#include "cli/commands/installation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "base/error.h"
#include "cli/commands/commands.h"
#include "compile/toolchain.h"
#include "device/catalogue.h"
#include "device/known_plugins.h"
#include "exec/executor.h"
#include "memory/dram/plugin.h"
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

std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> out;
  if (const char* folder = std::getenv("SIMTLAB_PLUGINS"); folder != nullptr && *folder != '\0')
    out.emplace_back(folder);
  std::error_code ignored;
  const fs::path tool = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path prefix = tool.parent_path().parent_path();
  out.push_back(prefix / "plugins");
  out.push_back(prefix / "lib/simtlab/plugins");
  return out;
}

const device::KnownPlugin* known(const std::string& name) {
  for (const device::KnownPlugin& p : device::known_plugins())
    if (p.name == name) return &p;
  return nullptr;
}

// "DRAMsim3, DRAMSim2".
void add_name(std::string& names, const std::string& name) { names += (names.empty() ? "" : ", ") + name; }

Finding plugin_finding() {
  std::string there, missing;
  for (const FoundPlugin& p : find_plugins())
    add_name(p.file.empty() || !p.problem.empty() ? missing : there, p.simulator);
  if (there.empty())
    return {State::optional_missing, "memory plug-ins", "none of " + missing,
            "for --dram plugin:FILE: simtlab list plugins says how to get, build and name each"};
  return {State::ok, "memory plug-ins", there + (missing.empty() ? "" : "; not here: " + missing),
          missing.empty() ? "" : "simtlab list plugins says how to get, build and name each"};
}

}  // namespace

std::vector<FoundPlugin> find_plugins() {
  std::vector<FoundPlugin> out;
  std::error_code ignored;
  for (const fs::path& folder : plugin_folders()) {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
      if (entry.path().extension() == ".so") files.push_back(entry.path());
    std::ranges::sort(files);
    for (const fs::path& file : files) {
      const std::string name = file.stem().string();
      if (std::ranges::find(out, name, &FoundPlugin::name) != out.end()) continue;
      const device::KnownPlugin* const simulator = known(name);
      out.push_back({name, simulator == nullptr ? name : std::string(simulator->simulator), file.string(),
                     memory::dram::problem_of_plugin(file.string())});
    }
  }
  for (const device::KnownPlugin& p : device::known_plugins())
    if (std::ranges::find(out, p.name, &FoundPlugin::name) == out.end())
      out.push_back({std::string(p.name), std::string(p.simulator), "", ""});
  return out;
}

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
  out.push_back(plugin_finding());
  return out;
}

}  // namespace simtlab::cli
