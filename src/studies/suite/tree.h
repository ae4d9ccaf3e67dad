// The user's folder as a list of files, and the copies that are worked in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace simtlab::studies {

struct TreeFile {
  std::filesystem::path path;  // relative to the root
  std::uintmax_t size = 0;
  bool link = false;  // a symbolic link: `target` is what stands in it
  std::filesystem::path target;
};

struct Tree {
  std::filesystem::path root;                  // absolute, without links
  std::vector<TreeFile> files;                 // sorted by path
  std::vector<std::filesystem::path> folders;  // sorted, parents first; without the root
  std::vector<std::string> notes;              // what could not be read or is no file
};

// Walks the folder without following links, so that their loops do no harm; folders of version control are
// left out. Throws Error(bad_input, "suite-folder") if there is no such folder or too much in it.
Tree list_tree(const std::filesystem::path& root);

// Whether `path` is `folder` or lies below it; both relative, the root is the empty path.
bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder);

// Copies the whole tree to `to`, which is made anew. Links within the tree stay links within the copy; a link
// to a file elsewhere becomes a copy of the file, and one to a folder elsewhere is left out (a build that
// empties it would empty the user's folder). Throws Error(failure, "file-write").
void copy_tree(const Tree& tree, const std::filesystem::path& to);

// Makes `to` a view of the tree for one project: `folder` of it is a copy with all that is below it (`deep`),
// or with its files. What stands beside it, and beside the folders that it lies in, is a copy as well, or, if
// it is large, a link into `base`, a copy by copy_tree().
void copy_project(const std::filesystem::path& base, const std::filesystem::path& folder, bool deep,
                  const std::filesystem::path& to);

}  // namespace simtlab::studies
