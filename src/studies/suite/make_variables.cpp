#include "studies/suite/make_variables.h"

#include <algorithm>
#include <deque>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/files.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_text = std::uint64_t{4} << 20;
constexpr std::size_t most_files = 32;  // that include each other

// The path in our toolkit that stands for one of NVIDIA's; empty: it is none.
std::string in_toolkit(const std::string& path, const fs::path& toolkit) {
  static const std::regex cuda(
      R"((/[^/\s]+)*/cuda(-?[0-9][0-9.]*|-?toolkit)?(/(bin/nvcc|bin|include|lib64|lib))?/?)");
  std::smatch match;
  if (!std::regex_match(path, match, cuda)) return {};
  const std::string part = match[4].str();
  return part.empty() ? toolkit.string() : (toolkit / part).string();
}

class Reader {
 public:
  explicit Reader(const fs::path& toolkit) : toolkit_(toolkit) {}

  std::vector<std::string> read(const fs::path& makefile) {
    std::deque<fs::path> files = {makefile};
    for (std::size_t read = 0; !files.empty() && read < most_files; ++read) {
      const fs::path file = files.front();
      files.pop_front();
      if (!seen_.insert(file.lexically_normal()).second) continue;
      try {
        std::istringstream text(read_file(file, most_text, "makefile"));
        // make resolves names of included files in the folder that it runs in.
        for (std::string line; std::getline(text, line);) take(line, makefile.parent_path(), files);
      } catch (const Error&) {  // make will have its say
      }
    }
    std::vector<std::string> out;
    for (const auto& [name, value] : found_) out.push_back(name + "=" + value);
    return out;
  }

 private:
  void take(const std::string& line, const fs::path& folder, std::deque<fs::path>& files) {
    static const std::regex include(R"(^-?include\s+(\S+)\s*$)");
    static const std::regex assignment(
        R"(^\s*(?:export\s+|override\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*[:?]?=\s*(\S+)(.*)$)");
    if (line.size() > most_line) return;
    std::smatch match;
    if (std::regex_match(line, match, include)) files.push_back(folder / match[1].str());
    if (!std::regex_match(line, match, assignment)) return;
    const std::string ours = in_toolkit(match[2].str(), toolkit_);
    if (ours.empty()) return;
    std::string rest = match[3].str();
    rest = rest.substr(0, rest.find('#'));
    found_[match[1].str()] = ours + rest.substr(0, rest.find_last_not_of(" \t\r") + 1);
  }

  static constexpr std::size_t most_line = 1024;  // the expressions descend recursively
  const fs::path& toolkit_;
  std::set<fs::path> seen_;
  std::map<std::string, std::string> found_;
};

}  // namespace

std::vector<std::string> toolkit_variables(const fs::path& makefile, const fs::path& toolkit) {
  return Reader(toolkit).read(makefile);
}

}  // namespace simtlab::studies
