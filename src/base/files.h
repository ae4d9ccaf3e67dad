// Reading and writing whole files with bounded memory and messages a user can act on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace simtlab {

// The whole file as bytes. `what` names it in messages ("device file"). Reads pipes and devices too, never
// more than max_bytes; a named pipe that nobody opens for writing within 10 s is an error. Throws
// Error(bad_input): "file-missing", "file-directory", "file-permission", "file-too-large", "file-read".
std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes,
                      std::string_view what = "file");

// The same piece by piece, for what need not be in memory as a whole. `take` may throw.
void read_pieces(const std::filesystem::path& path, std::uint64_t max_bytes, std::string_view what,
                 const std::function<void(std::string_view)>& take);

// The same for one who takes at his own pace. Throws as read_file, without a limit of the size. While it
// waits for a pipe it looks at `stop` and throws Error(interrupted, "interrupted") once that is set.
class FileReader {
 public:
  explicit FileReader(std::filesystem::path path, std::string_view what = "file",
                      const volatile bool* stop = nullptr);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  // The next bytes, at most `room` (not 0); 0 at the end.
  std::size_t read(char* to, std::size_t room);
  // Of a regular file; 0 of all others.
  std::uint64_t size() const { return size_; }

 private:
  std::filesystem::path path_;
  std::string what_;
  int fd_;
  std::uint64_t size_ = 0;
  bool awaits_writer_ = false;
  const volatile bool* stop_;  // null: nobody stops it, or nothing is waited for

  void await_bytes();
};

// Throws Error(failure, "file-write") for this errno, with what to do about it.
[[noreturn]] void cannot_write(const std::filesystem::path& path, int error);

// Replaces the file in one step (temporary file in the same directory, then rename): readers see the old or
// the new content, never half. Follows symbolic links and keeps the permissions of a file that exists; writes
// straight into what is not a regular file (/dev/stdout, a pipe). Throws Error(failure, "file-write").
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// Whether that will work, as far as one can know before: throws what it would throw. Leaves nothing behind.
void check_writable(const std::filesystem::path& path);
// The same for a folder that files are written into and that is made if it is not there.
void check_writable_folder(const std::filesystem::path& folder);
// Makes it with those above it, where they are not there. Throws Error(failure, "file-write").
void make_folder(const std::filesystem::path& folder);

class TemporaryFile;

// A file that is written piece by piece: too large for memory. Like write_file_atomically, a regular file
// gets its name when close() is called and not before; without close() nothing is left behind.
class FileWriter {
 public:
  explicit FileWriter(std::filesystem::path path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  // Throws Error(failure, "file-write").
  void write(std::string_view text);
  void close();

 private:
  void flush();

  std::filesystem::path path_;
  std::unique_ptr<TemporaryFile> temporary_;  // null: written in place
  Descriptor in_place_;
  std::string buffer_;
};

}  // namespace simtlab
