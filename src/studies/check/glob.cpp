#include "studies/check/glob.h"

#include <algorithm>

namespace simtlab::studies {

// One star is enough to go back to: what the last one takes more, those before need not.
bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from;
    } else {
      return false;
    }
  }
  return pattern.substr(p).find_first_not_of('*') == std::string_view::npos;
}

bool glob_names_file(std::string_view pattern, std::string_view path, std::string_view folder) {
  if (glob_matches(pattern, path)) return true;
  if (pattern.find('/') == std::string_view::npos)
    return glob_matches(pattern, path.substr(std::min(path.size(), path.rfind('/') + 1)));
  return !folder.empty() && path.size() > folder.size() && path.starts_with(folder) &&
         path[folder.size()] == '/' && glob_matches(pattern, path.substr(folder.size() + 1));
}

}  // namespace simtlab::studies
