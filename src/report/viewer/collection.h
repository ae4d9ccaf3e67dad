// The results that are looked at: files and folders, read again when they change. Of each result only the
// headline is kept: there may be thousands, and some are large.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "result/metrics.h"

namespace simtlab::report::viewer {

enum class Kind : std::uint8_t { result, study, live, unreadable };

struct Entry {
  std::string id;  // of its path: stays the same while the server runs, and in the next one
  std::filesystem::path path;
  Kind kind = Kind::unreadable;
  std::string error;  // why it is unreadable
  // Of a result; the others have the path only, and of live files what their first and last line say.
  std::string command, mode, device, started, kernel;
  std::size_t kernels = 0;  // names
  bool complete = true;     // neither interrupted nor failed; of live files: ended
  std::string note;         // what became of it
  result::Metrics total;
};

class Collection {
 public:
  static constexpr std::size_t most_files = 10000;

  // Throws Error(bad_input, "file-missing") for a name that is neither a file nor a folder.
  explicit Collection(std::vector<std::filesystem::path> names);

  // Looks for what is new, has changed, is gone. Folders are not entered: their .json, .live and .db files
  // count, and those among them that are no files of ours are left out.
  void refresh();
  const std::vector<const Entry*>& entries() const { return entries_; }  // by path; until the next refresh
  const Entry* find(std::string_view id) const;                          // null: none
  std::uint64_t version() const { return version_; }                     // another one after each change
  std::size_t foreign() const { return foreign_; }                       // files in folders that are not ours
  bool cut() const { return cut_; }                                      // there are more than most_files

 private:
  struct Stamp {
    std::filesystem::file_time_type time;
    std::uintmax_t bytes = 0;
    bool operator==(const Stamp&) const = default;
  };
  struct Known {
    Stamp stamp;
    Entry entry;
    bool named = false;  // by the user: an unreadable one is shown
  };
  std::vector<std::pair<std::filesystem::path, bool>> files();

  std::vector<std::filesystem::path> names_;
  std::map<std::filesystem::path, Known> known_;
  std::vector<const Entry*> entries_;
  std::uint64_t version_ = 0;
  std::size_t foreign_ = 0;
  bool cut_ = false;
};

}  // namespace simtlab::report::viewer
