// Files and folders for a while. Whoever makes one holds a lock on it for as long as the process lives, so
// that one that a killed process left behind is known and cleared: the first that a later process makes in
// the same folder clears what lies there. Nothing of a live process, of another user or without the lock is
// touched.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "base/descriptor.h"

namespace simtlab {

// A file beside `target`, which it replaces when it is published. Without that the destructor removes it.
class TemporaryFile {
 public:
  // Throws Error(failure, "file-write").
  TemporaryFile(std::filesystem::path target, mode_t mode);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int descriptor() const { return file_.get(); }
  bool published() const { return name_.empty(); }
  // Gives it the name of the target; writing may go on. Returns 0 or errno, also that of a write that was put
  // off.
  int publish();

 private:
  std::filesystem::path target_;
  std::string name_;  // empty: it is published
  Descriptor file_;
};

// A folder of our own (0700) in `parent`, removed with everything in it. Throws std::system_error.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Descriptor lock_;
};

// What those that are no more left in `folder`. Both classes do this once a folder and process.
void clear_leftovers(const std::filesystem::path& folder);

}  // namespace simtlab
