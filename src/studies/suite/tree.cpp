#include "studies/suite/tree.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_entries = 500'000;
constexpr unsigned most_levels = 100;
constexpr std::size_t most_notes = 20;

class Walk {
 public:
  explicit Walk(Tree& tree) : tree_(tree) {}
  void folder(const fs::path& relative, unsigned level) {
    std::error_code code;
    fs::directory_iterator at(tree_.root / relative, code);
    if (code) return note(relative, code.message());
    std::vector<fs::directory_entry> entries;
    for (; at != fs::directory_iterator(); at.increment(code)) {
      if (code) break;
      entries.push_back(*at);
    }
    std::ranges::sort(entries, {}, [](const fs::directory_entry& e) { return e.path().filename().native(); });
    for (const fs::directory_entry& e : entries) entry(e, relative / e.path().filename(), level);
  }

 private:
  void entry(const fs::directory_entry& e, const fs::path& path, unsigned level) {
    static const std::set<std::string> version_control = {".git", ".svn", ".hg", ".bzr"};
    if (++entries_ > most_entries)
      throw Error(ExitCode::bad_input, "suite-folder",
                  fmt::format("{} holds more than {} files", shown(tree_.root.string()), most_entries),
                  "name a folder further down");
    std::error_code code;
    const fs::file_status status = e.symlink_status(code);
    if (fs::is_symlink(status)) {
      tree_.files.push_back({path, 0, true, fs::read_symlink(e.path(), code)});
    } else if (fs::is_directory(status)) {
      if (version_control.contains(path.filename().string())) return;
      if (level == most_levels) return note(path, "too many folders within each other");
      tree_.folders.push_back(path);
      folder(path, level + 1);
    } else if (!fs::is_regular_file(status)) {
      note(path, "neither a file nor a folder");
    } else if (::access(e.path().c_str(), R_OK) != 0) {
      note(path, "no permission to read it");
    } else {
      tree_.files.push_back({path, e.file_size(code), false, {}});
    }
  }
  void note(const fs::path& path, const std::string& why) {
    if (tree_.notes.size() == most_notes) tree_.notes.emplace_back("more was left out");
    if (tree_.notes.size() > most_notes) return;
    tree_.notes.push_back(fmt::format("left out: {}: {}", shown(path.empty() ? "." : path.string()), why));
  }

  Tree& tree_;
  std::size_t entries_ = 0;
};

void check(const fs::path& path, const std::error_code& code) {
  if (code) cannot_write(path, code.value());
}

// In which a build may write.
void make_own_folder(const fs::path& path) {
  make_folder(path);
  std::error_code code;
  // A folder without permission to write would stop us, not only a build.
  fs::permissions(path, fs::perms::owner_all, fs::perm_options::add, code);
}

void copy_over(const fs::path& from, const fs::path& to) {
  std::error_code code;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, code);
  check(to, code);
  fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write, fs::perm_options::add, code);
  // make compares times: generated files of the tree stay newer than what they were made from.
  const fs::file_time_type time = fs::last_write_time(from, code);
  if (!code) fs::last_write_time(to, time, code);
}

void copy_link(const Tree& tree, const TreeFile& file, const fs::path& to) {
  std::error_code code;
  const fs::path meant = fs::weakly_canonical(tree.root / file.path, code);
  if (code) return;  // a loop, or nothing
  const fs::path within = meant.lexically_relative(tree.root);
  if (!within.empty() && *within.begin() != "..") {
    const fs::path from = file.path.parent_path();
    fs::create_symlink(within.lexically_relative(from.empty() ? "." : from), to, code);
    check(to, code);
  } else if (fs::is_regular_file(meant, code) && ::access(meant.c_str(), R_OK) == 0) {
    copy_over(meant, to);
  }
}

void link_to(const fs::path& target, const fs::path& to) {
  std::error_code code;
  fs::create_symlink(target, to, code);
  check(to, code);
}

void copy_deep(const fs::path& from, const fs::path& to) {
  make_own_folder(to);
  std::error_code code;
  for (const fs::directory_entry& e : fs::directory_iterator(from, code)) {
    const fs::path name = to / e.path().filename();
    if (e.is_symlink(code))
      link_to(fs::read_symlink(e.path(), code), name);
    else if (e.is_directory(code))
      copy_deep(e.path(), name);
    else
      copy_over(e.path(), name);
  }
}

// What a folder holds, as far as it is worth knowing.
struct Extent {
  std::uintmax_t bytes = 0;
  std::size_t entries = 0;
};
constexpr Extent most_copied{std::uintmax_t{32} << 20, 5000};  // for each project anew
Extent extent_of(const fs::path& folder) {
  Extent out;
  std::error_code code;
  for (fs::recursive_directory_iterator at(folder, code), end; at != end && !code; at.increment(code)) {
    ++out.entries;
    if (at->is_regular_file(code) && !at->is_symlink(code)) out.bytes += at->file_size(code);
    if (out.bytes > most_copied.bytes || out.entries > most_copied.entries) break;
  }
  return out;
}

// What stands beside the project: a build of it may change that, which other projects must not feel, so that
// it is a copy unless it is large.
void copy_beside(const fs::directory_entry& e, const fs::path& to) {
  std::error_code code;
  if (e.is_symlink(code)) return link_to(fs::read_symlink(e.path(), code), to);
  const bool folder = e.is_directory(code);
  const Extent extent = folder ? extent_of(e.path()) : Extent{e.file_size(code), 1};
  if (extent.bytes > most_copied.bytes || extent.entries > most_copied.entries)
    link_to(e.path(), to);
  else if (folder)
    copy_deep(e.path(), to);
  else
    copy_over(e.path(), to);
}

void copy_all_beside(const fs::path& from, const fs::path& without, const fs::path& to) {
  std::error_code code;
  for (const fs::directory_entry& e : fs::directory_iterator(from, code))
    if (e.path().filename() != without) copy_beside(e, to / e.path().filename());
}

}  // namespace

Tree list_tree(const fs::path& root) {
  std::error_code code;
  Tree tree;
  tree.root = fs::canonical(root, code);
  if (code || !fs::is_directory(tree.root, code))
    throw Error(ExitCode::bad_input, "suite-folder",
                fmt::format("{} is no folder that can be read", shown(root.string())),
                "name the folder that holds the programs");
  if (::access(tree.root.c_str(), R_OK | X_OK) != 0)
    throw Error(ExitCode::bad_input, "suite-folder", fmt::format("{} cannot be read", shown(root.string())),
                "chmod u+rx it");
  Walk(tree).folder({}, 0);
  const auto by_path = [](const auto& a, const auto& b) { return a < b; };
  std::ranges::sort(tree.files, by_path, [](const TreeFile& f) { return f.path; });
  std::ranges::sort(tree.folders);
  return tree;
}

bool is_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

void copy_tree(const Tree& tree, const fs::path& to) {
  std::error_code code;
  fs::remove_all(to, code);
  make_own_folder(to);
  for (const fs::path& folder : tree.folders) make_own_folder(to / folder);
  for (const TreeFile& file : tree.files) {
    if (file.link)
      copy_link(tree, file, to / file.path);
    else
      copy_over(tree.root / file.path, to / file.path);
  }
}

void copy_project(const fs::path& base, const fs::path& folder, bool deep, const fs::path& to) {
  std::error_code code;
  fs::remove_all(to, code);
  make_own_folder(to);
  fs::path at;
  for (const fs::path& part : folder) {
    copy_all_beside(base / at, part, to / at);
    at /= part;
    make_own_folder(to / at);
  }
  if (deep)
    copy_deep(base / folder, to / folder);
  else
    copy_all_beside(base / folder, {}, to / folder);
}

}  // namespace simtlab::studies
