// Cache of compiler outputs, keyed by content: flags, compiler, and every file the compiler read.
//
// An entry is a manifest (the files read, with their hashes, and the name of the product) and the product,
// named by its own content. Both are put in place by rename, so that readers and writers in several processes
// never see half of one; a manifest whose files have changed is simply replaced.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/temporary.h"

namespace simtlab::compile {

class BuildCache {
 public:
  explicit BuildCache(std::filesystem::path folder);

  // The product stored under the key if it is the user's own and every file it depended on is unchanged.
  std::optional<std::filesystem::path> find(const std::string& key) const;
  // The files that the compiler read for what is stored under the key.
  std::vector<std::filesystem::path> read_for(const std::string& key) const;
  // Moves `product` into the cache and returns its new place. `read` lists the files that the compiler read.
  std::filesystem::path store(const std::string& key, const std::filesystem::path& product,
                              const std::vector<std::filesystem::path>& read) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

// The cache folder, made if it is not there. Programs in it are run, so it must be the user's own: throws
// Error "cache-folder" if it belongs to somebody else, is a link, can be written by others (exit code 7) or
// can't be used at all.
std::filesystem::path cache_folder(std::filesystem::path folder);

// The error of a compilation (`what`) for which the cache's folder has no room.
Error no_room(const std::filesystem::path& cache, const std::string& what);
// Does `work`, whose files are in the cache: a full disk is the cache's.
template <class Work>
auto with_room(const std::filesystem::path& cache, const std::string& what, Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    const std::string text = error.format();
    if (error.id() == "file-write" && text.find("No space left") != text.npos &&
        text.find(cache.string()) != text.npos)
      throw no_room(cache, what);
    throw;
  }
}

// A folder of its own inside `parent`, removed with everything in it at the end.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::filesystem::path& parent);
  std::filesystem::path operator/(const std::string& name) const { return folder_.path() / name; }

 private:
  TemporaryFolder folder_;
};

// The prerequisites in a make dependency file as clang writes it (`\ ` and `$$` escapes, continuation lines).
std::vector<std::filesystem::path> read_dependencies(const std::string& text);

}  // namespace simtlab::compile
