#include "compile/toolchain.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/own_binary.h"
#include "base/private_folder.h"
#include "compile/build_cache.h"
#include "compile/process.h"

namespace simtlab::compile {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Folders above this code that may hold share/, lib/ and libexec/: it lies in bin/ or lib/, or in a folder of
// lib/.
std::vector<fs::path> prefixes() {
  const fs::path self = own_folder();
  if (self.empty()) return {};
  return {self.parent_path(), self.parent_path().parent_path()};
}

// A folder below the data folder, known by a file in it.
fs::path find_data(const char* folder, const char* file) {
  std::vector<fs::path> candidates;
  if (const std::string data = environment("SIMTLAB_DATA"); !data.empty()) candidates.emplace_back(data);
  for (const fs::path& prefix : prefixes()) candidates.emplace_back(prefix / "share/simtlab/data");
  candidates.emplace_back(SIMTLAB_SOURCE_DATA);
  std::error_code ec;
  for (const fs::path& c : candidates)
    if (fs::exists(c / folder / file, ec)) return c / folder;
  throw Error(ExitCode::failure, "headers-missing",
              fmt::format("simtlab's {} headers are not where they were installed", folder),
              fmt::format("set SIMTLAB_DATA to the folder that holds {}/{}", folder, file));
}

std::string find_clang() {
  const std::string chosen = environment("SIMTLAB_CLANG");
  if (!chosen.empty()) {
    const std::string found = find_program(chosen);
    if (found.empty())
      throw Error(ExitCode::unavailable, "clang-missing",
                  "SIMTLAB_CLANG names " + chosen + ", which is not a program",
                  "unset it or let it name clang 19");
    return found;
  }
  for (const char* name : {"clang-19", "/usr/lib/llvm-19/bin/clang"})
    if (const std::string found = find_program(name); !found.empty()) return found;
  throw Error(ExitCode::unavailable, "clang-missing",
              "compiling CUDA and OpenCL needs clang 19, which is not installed",
              "install the Debian package clang-19 (and g++ for its C++ library), or set SIMTLAB_CLANG");
}

std::string version_of(const std::string& clang) {
  const std::string text = run_process({clang, "--version"}, Capture::output).output;
  return text.substr(0, text.find('\n'));
}

// The bitcode that the build of simtlab made, else one made now and kept in the cache.
fs::path find_devmath(const std::string& clang, const std::string& version, const fs::path& cuda,
                      const fs::path& cache, bool flush_denormals) {
  const std::string stem = flush_denormals ? "devmath-ftz" : "devmath";
  std::error_code ec;
  for (const fs::path& prefix : prefixes())
    if (const fs::path built = prefix / "share/simtlab/cuda" / (stem + ".bc"); fs::exists(built, ec))
      return built;
  std::vector<fs::path> sources;
  std::string key = version;
  for (const auto& entry : fs::directory_iterator(cuda / "devmath", ec))
    if (entry.path().extension() == ".cu" || entry.path().extension() == ".h")
      sources.push_back(entry.path());
  std::sort(sources.begin(), sources.end());
  for (const fs::path& s : sources) key.append("\n").append(hash_file(s));
  const fs::path made = cache_folder(cache) / fmt::format("{}-{}.bc", stem, hash_bytes(key));
  if (is_own_file(made)) return made;
  // Several builds may find it missing at once: each makes its own, and the last rename wins.
  const ScratchFolder scratch(cache);
  const fs::path temporary = scratch / "devmath.bc";
  std::vector<std::string> command = cuda_compiler(clang);
  for (const char* word :
       {"--cuda-device-only", "--cuda-gpu-arch=sm_30", "-O2", "-ffp-contract=off", "-w", "-emit-llvm"})
    command.emplace_back(word);
  command.insert(command.end(), {"-c", (cuda / "devmath/devmath.cu").string(), "-o", temporary.string()});
  if (flush_denormals) command.emplace_back("-fgpu-flush-denormals-to-zero");
  const ProcessResult r = run_process(command);
  if (r.status != 0)
    throw Error(ExitCode::failure, "devmath", "the device maths library did not compile with " + version,
                "simtlab needs clang 19; SIMTLAB_CLANG chooses one");
  fs::rename(temporary, made, ec);
  if (ec) cannot_write(made, ec.value());
  return made;
}

}  // namespace

fs::path cuda_headers() { return find_data("cuda", "include/cuda_runtime.h") / "include"; }

fs::path find_runtime_library() {
  std::vector<fs::path> candidates;
  if (const std::string folder = environment("SIMTLAB_LIBRARY_DIR"); !folder.empty())
    candidates.emplace_back(folder);
  for (const fs::path& prefix : prefixes()) {
    candidates.push_back(prefix / "lib");
    candidates.push_back(prefix / "lib/simtlab");
  }
  std::error_code ec;
  for (const fs::path& c : candidates)
    if (fs::exists(c / "libcudart.so.12", ec)) return c;
  return {};
}

fs::path find_tool() {
  std::error_code ec;
  for (const fs::path& prefix : prefixes())
    if (fs::exists(prefix / "bin/simtlab", ec)) return prefix / "bin/simtlab";
  return {};
}

std::vector<std::string> cuda_compiler(const std::string& clang) {
  return {clang,        "-x",         "cuda",    "--cuda-path=/nonexistent",
          "-nocudainc", "-nocudalib", "-Xclang", "-target-sdk-version=11.8"};
}

Toolchain find_toolchain(const fs::path& cache, bool flush_denormals) {
  Toolchain t;
  t.clang = find_clang();
  t.version = version_of(t.clang);
  const fs::path cuda = find_data("cuda", "include/cuda_runtime.h");
  t.include = cuda / "include";
  t.devmath = find_devmath(t.clang, t.version, cuda, cache, flush_denormals);
  t.library = find_runtime_library();
  return t;
}

LoopToolchain find_loop_toolchain() {
  LoopToolchain t;
  t.clang = find_clang();
  t.version = version_of(t.clang);
  std::vector<fs::path> candidates;
  if (const std::string chosen = environment("SIMTLAB_LOOPS"); !chosen.empty())
    candidates.emplace_back(chosen);
  for (const fs::path& prefix : prefixes()) {
    candidates.push_back(prefix / "bin/simtlab-loops");
    candidates.push_back(prefix / "libexec/simtlab/simtlab-loops");
  }
  std::error_code ec;
  for (const fs::path& c : candidates)
    if (fs::exists(c, ec)) t.tool = c;
  if (t.tool.empty())
    throw Error(
        ExitCode::unavailable, "loops-missing",
        "sequential C programs need simtlab-loops, which is not beside simtlab: it was built without LLVM 19",
        "install the Debian package llvm-19-dev and build again (./dev build)");
  t.run_time = find_data("loops", "run_time.c") / "run_time.c";
  return t;
}

OpenClToolchain find_opencl_toolchain() {
  OpenClToolchain t;
  t.clang = find_clang();
  t.version = version_of(t.clang);
  t.prelude = find_data("opencl", "prelude.h") / "prelude.h";
  return t;
}

}  // namespace simtlab::compile
