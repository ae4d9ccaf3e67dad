#pragma once

#include <filesystem>

namespace simtlab::cli {

// A directory of our own under $TMPDIR, removed with everything in it. Throws Error(failure) if it can't be
// made.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace simtlab::cli
