#include "compile/nvcc_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "compile/process.h"

namespace simtlab::compile {
namespace {

// The architecture that is compiled for where nobody names one (build.cpp).
constexpr int default_architecture = 70;

std::string output_of(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "-o" && i + 1 < arguments.size()) return arguments[i + 1];
    if (arguments[i].starts_with("-o=")) return arguments[i].substr(3);
  }
  return "a.out";
}

}  // namespace

std::string nvcc_version_text(std::string_view simtlab) {
  // CMake and older makefiles look for the second line's words and for "release" and "V" with a version.
  return fmt::format(
      "simtlab {0}, in place of\n"
      "nvcc: NVIDIA (R) Cuda compiler driver\n"
      "Cuda compilation tools, release {1}.{2}, V{1}.{2}.0\n",
      simtlab, cuda_major, cuda_minor);
}

std::vector<std::string> nvcc_macros() {
  return {"-D__NVCC__=1", fmt::format("-D__CUDACC_VER_MAJOR__={}", cuda_major),
          fmt::format("-D__CUDACC_VER_MINOR__={}", cuda_minor), "-D__CUDACC_VER_BUILD__=0"};
}

std::filesystem::path toolkit_of(const std::filesystem::path& nvcc) {
  std::error_code ignored;
  const std::filesystem::path path = std::filesystem::absolute(nvcc, ignored).lexically_normal();
  const std::filesystem::path top = path.parent_path().parent_path();
  if (path.filename() != "nvcc" || !std::filesystem::exists(top / "include/cuda_runtime.h", ignored))
    return {};
  return top;
}

std::string nvcc_verbose_text(const std::filesystem::path& toolkit,
                              const std::vector<std::string>& arguments) {
  const char* const path = std::getenv("PATH");
  std::string linker = find_program("g++");
  if (linker.empty()) linker = find_program("clang++-19");
  if (linker.empty()) linker = "g++";
  const std::string top = toolkit.string();
  const std::string libraries = fmt::format("\"-L{}/lib64\"", top);
  std::string out = fmt::format("#$ TOP={}\n#$ PATH={}\n#$ INCLUDES=\"-I{}/include\"\n#$ LIBRARIES= {}\n",
                                top, path == nullptr ? "" : path, top, libraries);
  // A command, no setting: CMake takes settings away and knows the next line by the end of the one before it.
  out += fmt::format("#$ ptx -arch compute_{}\n", default_architecture);
  out += fmt::format("#$ \"{}\" -o \"{}\" {} -lcudadevrt -lcudart_static -lrt -lpthread -ldl\n", linker,
                     output_of(arguments), libraries);
  return out;
}

}  // namespace simtlab::compile
