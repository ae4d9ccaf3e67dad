#include "base/own_binary.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <system_error>

namespace simtlab {

namespace fs = std::filesystem;

namespace {

fs::path file_of(const void* address) {
  std::error_code code;
  Dl_info info{};
  // Of the executable itself the name is argv[0], which may be a bare name found through $PATH.
  if (::dladdr(address, &info) != 0 && info.dli_fname != nullptr && fs::path(info.dli_fname).is_absolute())
    if (fs::path file = fs::canonical(info.dli_fname, code); !code) return file;
  fs::path executable = fs::read_symlink("/proc/self/exe", code);
  return code ? fs::path{} : executable;
}

}  // namespace

fs::path own_folder() { return file_of(reinterpret_cast<const void*>(&own_folder)).parent_path(); }

std::string build_of(const void* address) { return build_of_file(file_of(address)); }

std::string build_of_file(const fs::path& file) {
  struct stat status {};
  if (file.empty() || ::stat(file.c_str(), &status) != 0) return {};
  return fmt::format("{} {} {}.{:09}", file.string(), status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

}  // namespace simtlab
