#include "studies/toolkit/toolkit.h"

#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "compile/nvcc_driver.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;

// What a toolkit of ours is known by.
constexpr const char* marker = "simtlab-toolkit.txt";
constexpr const char* marker_text =
    "A CUDA toolkit of simtlab's: bin/nvcc is simtlab. Written by `simtlab toolkit`, which may write it "
    "anew.\n";

// No file of the user's is replaced: the folder is ours, or empty, or not there.
void check_ours(const fs::path& prefix) {
  std::error_code ignored;
  const fs::file_status there = fs::status(prefix, ignored);
  if (!fs::exists(there)) return;
  const char* what = nullptr;
  if (!fs::is_directory(there))
    what = "is no folder";
  else if (!fs::is_empty(prefix, ignored) &&
           !fs::is_regular_file(fs::symlink_status(prefix / marker, ignored)))
    what = "holds other files";
  if (what == nullptr) return;
  throw Error(ExitCode::bad_input, "toolkit-folder", fmt::format("{} {}", shown(prefix.string()), what),
              "name a folder that is empty or not there");
}

void link(const fs::path& name, const fs::path& target) {
  std::error_code code;
  fs::remove(name, code);
  fs::create_symlink(target, name, code);
  if (code) cannot_write(name, code.value());
}

// What stands for the static runtime library names the shared one: programs need simtlab's, which is chosen
// when they start. Linkers take such a text for a library.
void write_libraries(const fs::path& lib, const fs::path& from) {
  std::error_code ignored;
  for (const char* name : {"libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"})
    if (fs::exists(from / name, ignored)) link(lib / name, from / name);
  link(lib / "libcudart.so", "libcudart.so.12");
  write_file_atomically(lib / "libcudart_static.a", fmt::format("/* GNU ld script */\nINPUT ( \"{}\" )\n",
                                                                (lib / "libcudart.so.12").string()));
  write_file_atomically(lib / "libcudadevrt.a", "!<arch>\n");  // an archive without members
}

}  // namespace

void lay_out_toolkit(const fs::path& prefix, const ToolkitParts& parts) {
  check_ours(prefix);
  const fs::path top = fs::absolute(prefix).lexically_normal();
  make_folder(top);
  write_file_atomically(top / marker, marker_text);
  for (const char* folder : {"bin", "lib64", "nvvm/libdevice"}) make_folder(top / folder);
  link(top / "bin/nvcc", parts.program);
  link(top / "include", parts.include);
  link(top / "lib", "lib64");
  write_libraries(top / "lib64", parts.libraries);
  write_file_atomically(
      top / "version.json",
      fmt::format("{{\n  \"cuda\": {{\"name\": \"CUDA SDK\", \"version\": \"{}.{}.0\"}}\n}}\n",
                  compile::cuda_major, compile::cuda_minor));
}

}  // namespace simtlab::studies
