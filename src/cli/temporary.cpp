#include "cli/temporary.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace simtlab::cli {

TemporaryDirectory::TemporaryDirectory() {
  std::error_code ignored;
  std::string name = std::filesystem::temp_directory_path(ignored) / "simtlab-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr)
    throw Error(ExitCode::failure, "file-write",
                fmt::format("cannot make a directory {}: {}", name, std::strerror(errno)),
                "set TMPDIR to a writable directory");
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace simtlab::cli
