// Where the pieces of a CUDA build are: clang 19, our headers, the device maths bitcode, our libcudart.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace simtlab::compile {

struct Toolchain {
  std::string clang;              // full path
  std::string version;            // first line of `clang --version`; part of every cache key
  std::filesystem::path include;  // cuda_runtime.h and its family
  std::filesystem::path devmath;  // bitcode of the device maths
  std::filesystem::path library;  // folder of libcudart.so.12; empty if not built
};

// Searches $SIMTLAB_CLANG, clang-19 in PATH and /usr/lib/llvm-19/bin. Throws Error(unavailable) that names
// the package clang-19 if there is none. Builds the device maths bitcode into `cache` if the installation has
// none. `flush_denormals` chooses the variant for -ftz=true: bitcode of the other kind does not link.
Toolchain find_toolchain(const std::filesystem::path& cache, bool flush_denormals);

// The folder of cuda_runtime.h and its family. Throws Error(failure, "headers-missing").
std::filesystem::path cuda_headers();

// The folder of the drop-in libcudart.so.12; empty if it was not built.
std::filesystem::path find_runtime_library();
// The command line tool of this installation, for a library that is none; empty if there is none.
std::filesystem::path find_tool();

// What compiling OpenCL C needs besides libclc.
struct OpenClToolchain {
  std::string clang;
  std::string version;
  std::filesystem::path prelude;  // data/opencl/prelude.h
};
OpenClToolchain find_opencl_toolchain();

// What a sequential C program needs: clang, the executable that uses LLVM (beside simtlab), and the run time
// of measured programs. Throws Error(unavailable): "clang-missing", "loops-missing".
struct LoopToolchain {
  std::string clang;
  std::string version;
  std::filesystem::path tool;      // simtlab-loops
  std::filesystem::path run_time;  // data/loops/run_time.c
};
LoopToolchain find_loop_toolchain();

// The beginning of every command that compiles CUDA without NVIDIA's toolkit.
std::vector<std::string> cuda_compiler(const std::string& clang);

}  // namespace simtlab::compile
