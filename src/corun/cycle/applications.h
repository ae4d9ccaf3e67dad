// Which applications the cycle-level host has: a TOML file (docs/concepts/corun.md) that says of each what is
// run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace simtlab::corun::cycle {

// One application: a CUDA source or a program with arguments; a kernel (.ptx, .cubin, .cl) with its launch; a
// recorded trace.
struct Described {
  std::string name;
  std::filesystem::path file;
  std::vector<std::string> arguments;  // of a program
  std::filesystem::path launch;        // launch file of a kernel; may be empty
  std::optional<std::string> kernel, grid, global, block;
  std::vector<std::string> args;  // of a kernel, as --arg
  std::uint64_t iterations = 1;
  double gap_ns = 0;  // of the host, after each kernel

  // FILE.simt, or FILE.simt.1, ...: of further processes of a program that was recorded.
  bool is_trace() const { return file.extension() == ".simt" || file.stem().extension() == ".simt"; }
  bool is_kernel() const {
    return file.extension() == ".ptx" || file.extension() == ".cubin" || file.extension() == ".cl";
  }
};

// Files are taken relative to the one that names them. Throws Error(bad_input, "corun-applications").
std::vector<Described> load_applications(const std::filesystem::path& path);

std::vector<std::string> names_of(const std::vector<Described>& applications);
// Throws Error(bad_input) "corun-applications" if the file that they are from has none of that name.
const Described& named(const std::vector<Described>& applications, const std::string& name,
                       const std::filesystem::path& file);

}  // namespace simtlab::corun::cycle
