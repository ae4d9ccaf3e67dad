#include "compile/dependencies.h"

#include <algorithm>

namespace simtlab::compile {
namespace {

// A name as make reads it.
std::string in_make(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c == '$')
      out += "$$";
    else if (c == ' ' || c == '#' || c == '\\')
      out += '\\', out += c;
    else
      out += c;
  }
  return out;
}

bool is_below(const std::filesystem::path& file, const std::filesystem::path& folder) {
  const auto [rest, ignored] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return rest == folder.end();
}

}  // namespace

std::string dependency_rule(const DependencyWish& wish, const std::string& target, const std::string& source,
                            const std::vector<std::filesystem::path>& read,
                            const std::filesystem::path& own_headers) {
  const auto left_out = [&](const std::filesystem::path& file) {
    return !wish.system && (is_below(file, "/usr") || is_below(file, own_headers));
  };
  const std::filesystem::path absolute = std::filesystem::absolute(source).lexically_normal();
  std::string rule = in_make(target) + ": " + in_make(source), phony;
  for (const std::filesystem::path& file : read) {
    if (file.lexically_normal() == absolute || left_out(file)) continue;
    rule += " \\\n  " + in_make(file.string());
    if (wish.phony) phony += "\n" + in_make(file.string()) + ":\n";
  }
  return rule + "\n" + phony;
}

}  // namespace simtlab::compile
