#include "optimiser/optimiser.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/own_binary.h"

namespace simtlab::optimiser {
namespace {

namespace fs = std::filesystem;

constexpr const char* library_name = "libsimtlab_optimiser.so";

// Empty: there is none.
fs::path find_library() {
  // Beside our other libraries, as built and as installed.
  for (const char* folder : {".", "../lib", "../lib/simtlab", "simtlab"}) {
    fs::path file = own_folder() / folder / library_name;
    std::error_code code;
    if (fs::exists(file, code)) return file;
  }
  return {};
}

const fs::path& library() {
  static const fs::path file = find_library();
  return file;
}

// Before the library is loaded it is taken for whole: code that it made is good without it.
std::atomic<bool> failed = false;

struct Library {
  ptx::Optimiser optimise = nullptr;
  std::string why;  // it is null
};

Library load_library() {
  if (library().empty()) return {.why = fmt::format("the optimiser of PTX, {}, is not there", library_name)};
  void* const handle = ::dlopen(library().c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const found = handle == nullptr ? nullptr : ::dlsym(handle, "simtlab_optimise");
  if (found != nullptr) return {.optimise = reinterpret_cast<ptx::Optimiser>(found), .why = {}};
  failed = true;
  const char* const text = ::dlerror();
  return {.why = fmt::format("the optimiser of PTX cannot be loaded: {}", text == nullptr ? "?" : text)};
}

const Library& loaded() {
  static const Library once = load_library();
  return once;
}

bool optimise(std::span<ptx::VirtualFunction> functions, std::uint32_t which, const ptx::Module& module,
              std::string& why) {
  if (can_load()) return loaded().optimise(functions, which, module, why);
  why = loaded().why;
  return false;
}

std::string build() { return failed ? std::string() : build_of_file(library()); }

}  // namespace

bool can_load() { return loaded().optimise != nullptr; }

void use(ptx::LoadOptions& options) {
  if (library().empty()) {
    options.not_optimised = loaded().why;
    return;
  }
  options.optimise = &optimise;
  options.optimiser_build = &build;
}

void need(ptx::LoadOptions& options) {
  if (!can_load())
    throw Error(ExitCode::unavailable, "optimiser-missing", loaded().why,
                "take another --lowering, or make it: ./dev build, with LLVM 19 (Debian: llvm-19-dev)");
  use(options);
}

}  // namespace simtlab::optimiser
