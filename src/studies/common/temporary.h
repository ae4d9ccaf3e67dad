#pragma once

#include <filesystem>

#include "base/temporary.h"

namespace simtlab::studies {

// A directory of our own under $TMPDIR, removed with everything in it. Throws Error(failure) if it can't be
// made.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace simtlab::studies
