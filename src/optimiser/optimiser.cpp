#include "optimiser/optimiser.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string>

#include "base/error.h"

namespace simtlab::optimiser {
namespace {

namespace fs = std::filesystem;

constexpr const char* library_name = "libsimtlab_optimiser.so";

// The folder of the program or library that this code is in.
fs::path own_folder() {
  Dl_info self{};
  std::error_code code;
  if (::dladdr(reinterpret_cast<const void*>(&own_folder), &self) != 0 && self.dli_fname != nullptr) {
    const fs::path file = fs::canonical(self.dli_fname, code);
    if (!code && file.filename() != "simtlab") return file.parent_path();
  }
  return fs::read_symlink("/proc/self/exe", code).parent_path();
}

// Null: there is none, and `why` says why.
ptx::Optimiser find(std::string& why) {
  const fs::path own = own_folder();
  why = fmt::format("the optimiser of PTX, {}, is not there", library_name);
  // Beside our other libraries, as built and as installed.
  for (const char* folder : {".", "../lib", "../lib/simtlab", "simtlab"}) {
    const fs::path file = own / folder / library_name;
    std::error_code code;
    if (!fs::exists(file, code)) continue;
    void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const found = library == nullptr ? nullptr : ::dlsym(library, "simtlab_optimise");
    if (found != nullptr) return reinterpret_cast<ptx::Optimiser>(found);
    if (const char* text = ::dlerror()) why = fmt::format("the optimiser of PTX cannot be loaded: {}", text);
  }
  return nullptr;
}

}  // namespace

ptx::Optimiser load(std::string& why) {
  struct Found {
    std::string why;
    ptx::Optimiser optimiser = find(why);
  };
  static const Found found;
  why = found.optimiser == nullptr ? found.why : std::string();
  return found.optimiser;
}

ptx::Optimiser load() {
  std::string why;
  if (const ptx::Optimiser optimiser = load(why)) return optimiser;
  throw Error(ExitCode::unavailable, "optimiser-missing", why,
              "take another --lowering, or make it: ./dev build, with LLVM 19 (Debian: llvm-19-dev)");
}

}  // namespace simtlab::optimiser
