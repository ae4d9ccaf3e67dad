// Folders and files of the user's own. What simtlab executes or believes without looking at it (compiled
// programs, the socket of a daemon) lies in a folder that nobody else can have put anything into.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/descriptor.h"

namespace simtlab {

// Whether somebody else than the owner may write: everybody, or a group that has other members. A group of
// the owner alone, as many systems give each user one with a umask of 002, is no somebody.
bool others_may_write(const struct stat& status);

// What keeps a folder from being private.
enum class FolderFault : std::uint8_t { none, missing, cannot_make, link, foreign, open };

struct PrivateFolder {
  Descriptor descriptor;  // of the folder, if there is no fault; for openat() and the like (O_PATH)
  FolderFault fault = FolderFault::none;
  std::string why;  // the fault in words: "belongs to user 1000"
  int error = 0;    // errno, if the system refused
};

struct FolderRule {
  // Folders that are not there, with mode 0700
  enum class Make : std::uint8_t { nothing, last, all } make = Make::all;
  bool closed = false;           // others must not read it either
  bool links_on_the_way = true;  // whether a folder above may be a symbolic link; the last one never is
};

// Opens the folder component by component: nobody can exchange one that has been looked at.
PrivateFolder open_private_folder(const std::filesystem::path& path, const FolderRule& rule);

// Whether the file is a plain one that belongs to the user. No link is followed.
bool is_own_file(const std::filesystem::path& path);

}  // namespace simtlab
