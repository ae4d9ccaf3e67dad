#include "base/temporary.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <mutex>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/files.h"

namespace simtlab {
namespace {

namespace fs = std::filesystem;

// Names that nobody gives a file of his own.
constexpr std::string_view file_ending = ".simtlab-tmp", folder_beginning = "simtlab-tmp-",
                           lock_name = ".simtlab-lock";
constexpr int most_attempts = 1000;

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

bool lock(int file) { return ::flock(file, LOCK_EX | LOCK_NB) == 0; }

bool is_own(int file, mode_t kind) {
  struct stat status {};
  return ::fstat(file, &status) == 0 && status.st_uid == ::geteuid() && (status.st_mode & S_IFMT) == kind;
}

// Between the making of a file and its lock somebody who clears may have taken it for a leftover.
bool still_has_name(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 && status.st_nlink > 0;
}

bool names_the_same(int folder, const char* name, int file) {
  struct stat named {
  }, opened{};
  return ::fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(file, &opened) == 0 &&
         named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

void clear_file(int folder, const char* name) {
  const Descriptor file(::openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file || !is_own(file.get(), S_IFREG) || !lock(file.get()) || !names_the_same(folder, name, file.get()))
    return;
  ::unlinkat(folder, name, 0);
}

void clear_folder(int parent, const fs::path& path) {
  const Descriptor folder(
      ::openat(parent, path.filename().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder || !is_own(folder.get(), S_IFDIR)) return;
  const Descriptor held(::openat(folder.get(), lock_name.data(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!held || !is_own(held.get(), S_IFREG) || !lock(held.get()) || !still_has_name(held.get())) return;
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

void clear_once(const fs::path& folder) {
  static std::mutex mutex;
  // Never destroyed: results of programs are written when statics are
  static auto& cleared = *new std::set<std::string>;
  const std::scoped_lock guard(mutex);
  if (cleared.insert(folder.string()).second) clear_leftovers(folder);
}

}  // namespace

void clear_leftovers(const fs::path& folder) {
  DIR* const open = ::opendir(folder.empty() ? "." : folder.c_str());
  if (open == nullptr) return;
  std::vector<std::string> files, folders;
  while (const dirent* entry = ::readdir(open)) {
    const std::string_view name = entry->d_name;
    if (name.ends_with(file_ending)) files.emplace_back(name);
    if (name.starts_with(folder_beginning)) folders.emplace_back(name);
  }
  for (const std::string& name : files) clear_file(::dirfd(open), name.c_str());
  for (const std::string& name : folders) clear_folder(::dirfd(open), folder / name);
  ::closedir(open);
}

TemporaryFile::TemporaryFile(fs::path target, mode_t mode) : target_(std::move(target)) {
  clear_once(target_.parent_path());
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    std::string name = fmt::format("{}.{}.{}{}", target_.string(), ::getpid(), attempt, file_ending);
    Descriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (!file && errno != EEXIST) cannot_write(target_, errno);
    if (!file) continue;
    // A file system without locks: then nobody clears it either.
    if (!lock(file.get()) && errno == EWOULDBLOCK) continue;
    if (!still_has_name(file.get())) continue;
    name_ = std::move(name);
    file_ = std::move(file);
    return;
  }
  cannot_write(target_, EEXIST);
}

TemporaryFile::~TemporaryFile() {
  if (!name_.empty()) ::unlink(name_.c_str());
}

int TemporaryFile::publish() {
  // Closing a copy tells of writes that were put off. The lock is held until the file has its name: a
  // leftover would be cleared.
  Descriptor copy(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy || !copy.close()) return errno;
  if (::rename(name_.c_str(), target_.c_str()) != 0) return errno;
  name_.clear();
  return 0;
}

TemporaryFolder::TemporaryFolder(const fs::path& parent) {
  clear_once(parent);
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    std::string name = (parent / (std::string(folder_beginning) + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) fail(errno, name);
    const std::string held = name + "/" + std::string(lock_name);
    Descriptor file(::open(held.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    const int error = errno;
    if (!file) {
      ::rmdir(name.c_str());
      fail(error, held);
    }
    if (!lock(file.get()) && errno == EWOULDBLOCK) continue;  // as above
    if (!still_has_name(file.get())) continue;
    path_ = std::move(name);
    lock_ = std::move(file);
    return;
  }
  fail(EEXIST, parent.string());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace simtlab
