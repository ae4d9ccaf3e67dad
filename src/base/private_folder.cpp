#include "base/private_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <optional>
#include <system_error>
#include <vector>

#include "base/shown.h"

namespace simtlab {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> name_of_user(uid_t user) {
  std::vector<char> room(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, room.data(), room.size(), &found) != 0 || found == nullptr)
    return std::nullopt;
  return found->pw_name;
}

// A group that has the user's name and no other member.
bool is_group_of_one(gid_t group, uid_t user) {
  std::vector<char> room(65536);
  struct group entry {};
  struct group* found = nullptr;
  if (::getgrgid_r(group, &entry, room.data(), room.size(), &found) != 0 || found == nullptr) return false;
  const std::optional<std::string> name = name_of_user(user);
  if (!name || *name != found->gr_name) return false;
  for (char** member = found->gr_mem; *member != nullptr; ++member)
    if (*name != *member) return false;
  return true;
}

std::string reason(int error) { return std::generic_category().message(error); }

PrivateFolder fault(FolderFault what, std::string why, int error = 0) {
  return {{}, what, std::move(why), error};
}

PrivateFolder cannot_open(int at, const fs::path& part, int error) {
  struct stat info {};
  if (::fstatat(at, part.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode))
    return fault(FolderFault::link, fmt::format("'{}' is a symbolic link", shown(part.string())), error);
  return fault(FolderFault::missing, reason(error), error);
}

}  // namespace

bool others_may_write(const struct stat& status) {
  if ((status.st_mode & S_IWOTH) != 0) return true;
  return (status.st_mode & S_IWGRP) != 0 && !is_group_of_one(status.st_gid, status.st_uid);
}

PrivateFolder open_private_folder(const fs::path& path, const FolderRule& rule) {
  Descriptor at(::open(path.is_absolute() ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::vector<fs::path> parts;
  for (const fs::path& part : path.relative_path())
    if (!part.empty()) parts.push_back(part);  // empty: a slash at the end
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    const bool make = rule.make == FolderRule::Make::all || (last && rule.make == FolderRule::Make::last);
    const int follow = last || !rule.links_on_the_way ? O_NOFOLLOW : 0;
    const auto open = [&] {
      return ::openat(at.get(), parts[i].c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC | follow);
    };
    int next = open();
    if (next < 0 && errno == ENOENT && make) {
      if (::mkdirat(at.get(), parts[i].c_str(), 0700) != 0 && errno != EEXIST)
        return fault(FolderFault::cannot_make, "cannot be made: " + reason(errno), errno);
      next = open();
    }
    if (next < 0) return cannot_open(at.get(), parts[i], errno);
    at = Descriptor(next);
  }
  struct stat info {};
  if (::fstat(at.get(), &info) != 0) return fault(FolderFault::missing, reason(errno), errno);
  if (info.st_uid != ::geteuid())
    return fault(FolderFault::foreign, fmt::format("belongs to user {}", info.st_uid));
  if (rule.closed ? (info.st_mode & 077) != 0 : others_may_write(info))
    return fault(FolderFault::open, fmt::format("is open to others (mode {:o})", info.st_mode & 07777));
  return {std::move(at), FolderFault::none, {}, 0};
}

bool is_own_file(const fs::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid();
}

}  // namespace simtlab
