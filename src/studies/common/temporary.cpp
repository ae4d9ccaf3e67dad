#include "studies/common/temporary.h"

#include <fmt/format.h>

#include <system_error>

#include "base/error.h"

namespace simtlab::studies {
namespace {

std::filesystem::path parent() {
  std::error_code ignored;
  return std::filesystem::temp_directory_path(ignored);
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() try : folder_(parent()) {
} catch (const std::system_error& e) {
  throw Error(ExitCode::failure, "file-write", fmt::format("cannot make a temporary directory: {}", e.what()),
              "set TMPDIR to a writable directory");
}

}  // namespace simtlab::studies
