#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/temporary.h"
#include "base/units.h"

namespace simtlab {
namespace {

namespace fs = std::filesystem;

std::string reason(int code) { return std::generic_category().message(code); }

[[noreturn]] void cannot_read(const fs::path& path, std::string_view what, int code) {
  if (code == ENOENT || code == ENOTDIR)
    throw Error(ExitCode::bad_input, "file-missing", fmt::format("no such {}: {}", what, path.string()),
                "check the path; relative paths start at the working directory");
  if (code == EACCES || code == EPERM)
    throw Error(ExitCode::bad_input, "file-permission",
                fmt::format("no permission to read {} {}", what, path.string()),
                fmt::format("allow it with: chmod u+r {}", path.string()));
  if (code == EISDIR)
    throw Error(ExitCode::bad_input, "file-directory",
                fmt::format("{} is a directory, not a {}", path.string(), what), "name a file in it");
  throw Error(ExitCode::bad_input, "file-read",
              fmt::format("cannot read {} {}: {}", what, path.string(), reason(code)));
}

[[noreturn]] void too_large(const fs::path& path, std::string_view what, std::uint64_t max_bytes) {
  throw Error(ExitCode::bad_input, "file-too-large",
              fmt::format("{} {} is larger than {}", what, path.string(),
                          format_quantity(static_cast<double>(max_bytes), Unit::bytes)),
              fmt::format("a {} is never that large; is it the right file?", what));
}

// The pipe of `<(command)` or of standard input has no name: its writer is there, or was.
bool is_named_pipe(int fd, const struct stat& status) {
  constexpr decltype(statfs::f_type) pipe_file_system = 0x50495045;
  struct statfs file_system {};
  return S_ISFIFO(status.st_mode) && ::fstatfs(fd, &file_system) == 0 &&
         file_system.f_type != pipe_file_system;
}

// Until somebody has opened the named pipe for writing; returns the bytes that were read into `to` meanwhile.
// `fd` does not block.
std::size_t await_writer(int fd, char* to, std::size_t room, const fs::path& path, std::string_view what) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds patience{10};
  const Clock::time_point begin = Clock::now();
  for (;;) {
    // A writer that is silent makes EAGAIN, none an empty read; poll() tells when one came and went.
    const ssize_t n = ::read(fd, to, room);
    if (n > 0) return static_cast<std::size_t>(n);
    if (n < 0 && errno == EAGAIN) return 0;
    if (n < 0 && errno != EINTR) cannot_read(path, what, errno);
    pollfd state{fd, POLLIN, 0};
    if (::poll(&state, 1, 50) > 0 && (state.revents & POLLIN) == 0) return 0;
    if (Clock::now() - begin > patience)
      throw Error(ExitCode::bad_input, "file-read",
                  fmt::format("nobody writes into the pipe {} ({})", path.string(), what),
                  fmt::format("waited {} s; start the writer first", patience.count()));
  }
}

// 0 or errno.
int write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

void write_in_place(const fs::path& path, std::string_view content) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) cannot_write(path, errno);
  if (const int code = write_all(file.get(), content); code != 0) cannot_write(path, code);
  if (!file.close()) cannot_write(path, errno);
}

}  // namespace

void make_folder(const fs::path& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) cannot_write(folder, code.value());
}

void cannot_write(const fs::path& path, int code) {
  std::string hint;
  if (code == ENOENT)
    hint = fmt::format("create the directory first: mkdir -p {}", path.parent_path().string());
  if (code == EACCES || code == EPERM || code == EROFS) hint = "choose a place you may write to";
  if (code == EISDIR) hint = "name a file in it";
  throw Error(ExitCode::failure, "file-write",
              fmt::format("cannot write {}: {}", path.string(), reason(code)), std::move(hint));
}

std::string read_file(const fs::path& path, std::uint64_t max_bytes, std::string_view what) {
  std::string content;
  std::error_code ignored;
  if (const std::uint64_t size = fs::is_regular_file(path, ignored) ? fs::file_size(path, ignored) : 0;
      !ignored && size <= max_bytes)
    content.reserve(static_cast<std::size_t>(size));
  read_pieces(path, max_bytes, what, [&](std::string_view piece) { content += piece; });
  return content;
}

FileReader::FileReader(fs::path path, std::string_view what, const volatile bool* stop)
    // Not blocking: the open of a named pipe would wait for a writer for ever.
    : path_(std::move(path)),
      what_(what),
      fd_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)),
      stop_(stop) {
  if (fd_ < 0) cannot_read(path_, what_, errno);
  struct stat status {};
  const int code = ::fstat(fd_, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
  if (code != 0) {
    ::close(fd_);
    cannot_read(path_, what_, code);
  }
  if (S_ISREG(status.st_mode)) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    stop_ = nullptr;
  }
  awaits_writer_ = is_named_pipe(fd_, status);
  if (!awaits_writer_) ::fcntl(fd_, F_SETFL, O_RDONLY);
}

FileReader::~FileReader() { ::close(fd_); }

std::size_t FileReader::read(char* to, std::size_t room) {
  if (awaits_writer_) {
    awaits_writer_ = false;
    const std::size_t n = await_writer(fd_, to, room, path_, what_);
    if (::fcntl(fd_, F_SETFL, O_RDONLY) != 0) cannot_read(path_, what_, errno);
    if (n > 0) return n;
  }
  for (;;) {
    if (stop_ != nullptr) await_bytes();
    const ssize_t n = ::read(fd_, to, room);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) cannot_read(path_, what_, errno);
  }
}

// A signal between a look at the flag and read() would be missed; poll() ends by itself.
void FileReader::await_bytes() {
  pollfd state{fd_, POLLIN, 0};
  for (;;) {
    if (*stop_)
      throw Error(ExitCode::interrupted, "interrupted",
                  fmt::format("waiting for {} {}", what_, path_.string()));
    if (::poll(&state, 1, 100) > 0) return;
  }
}

void read_pieces(const fs::path& path, std::uint64_t max_bytes, std::string_view what,
                 const std::function<void(std::string_view)>& take) {
  FileReader file(path, what);
  if (file.size() > max_bytes) too_large(path, what, max_bytes);
  std::vector<char> piece(std::size_t{256} * 1024);
  std::uint64_t total = 0;
  while (const std::size_t n = file.read(piece.data(), piece.size())) {
    total += n;
    if (total > max_bytes) too_large(path, what, max_bytes);
    take({piece.data(), n});
  }
}

namespace {

// Where a file of this name would be written.
struct Target {
  fs::path path;  // without links
  mode_t mode = 0666;
  bool exists = false;
  bool in_place = false;  // what is there is no regular file
};

// Throws if nothing can be written there.
Target target_of(const fs::path& path) {
  Target out{path};
  struct stat status {};
  out.exists = ::stat(path.c_str(), &status) == 0;
  if (!out.exists) return out;
  if (S_ISDIR(status.st_mode)) cannot_write(path, EISDIR);
  out.in_place = !S_ISREG(status.st_mode);
  if (out.in_place) return out;
  out.mode = status.st_mode & 07777;
  std::error_code ignored;
  if (fs::path real = fs::canonical(path, ignored); !real.empty()) out.path = std::move(real);
  return out;
}

}  // namespace

void write_file_atomically(const fs::path& path, std::string_view content) {
  const Target target = target_of(path);
  if (target.in_place) return write_in_place(path, content);
  TemporaryFile file(target.path, target.mode);
  int code = write_all(file.descriptor(), content);
  if (code == 0 && target.exists && ::fchmod(file.descriptor(), target.mode) != 0)
    code = errno;  // the umask does not apply to what was there
  if (code == 0) code = file.publish();
  if (code != 0) cannot_write(path, code);
}

void check_writable(const fs::path& path) {
  const Target target = target_of(path);
  if (!target.in_place) {
    const TemporaryFile tried(target.path, target.mode);
  } else if (::access(path.c_str(), W_OK) != 0) {
    cannot_write(path, errno);  // opening a pipe would wait for its reader
  }
}

void check_writable_folder(const fs::path& folder) {
  std::error_code ignored;
  fs::path there = fs::absolute(folder, ignored);
  while (!fs::exists(fs::status(there, ignored)) && there.has_relative_path()) there = there.parent_path();
  if (!fs::is_directory(there, ignored)) cannot_write(folder, ENOTDIR);
  const std::string name = fmt::format("{}/simtlab.{}.tmp", there.string(), ::getpid());
  // Root may do what /proc does not
  const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 && errno != EEXIST) cannot_write(folder, errno);
  if (fd < 0) return;
  ::close(fd);
  ::unlink(name.c_str());
}

FileWriter::FileWriter(fs::path path) : path_(std::move(path)) {
  const Target target = target_of(path_);
  if (!target.in_place) {
    temporary_ = std::make_unique<TemporaryFile>(target.path, target.mode);
    return;
  }
  in_place_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!in_place_) cannot_write(path_, errno);
}

FileWriter::~FileWriter() = default;

void FileWriter::write(std::string_view text) {
  constexpr std::size_t enough = std::size_t{256} * 1024;
  buffer_ += text;
  if (buffer_.size() >= enough) flush();
}

void FileWriter::flush() {
  const int to = temporary_ ? temporary_->descriptor() : in_place_.get();
  if (const int code = write_all(to, buffer_); code != 0) cannot_write(path_, code);
  buffer_.clear();
}

void FileWriter::close() {
  flush();
  if (!temporary_) {
    if (!in_place_.close()) cannot_write(path_, errno);
    return;
  }
  if (const int code = temporary_->publish(); code != 0) cannot_write(path_, code);
  temporary_.reset();
}

}  // namespace simtlab
