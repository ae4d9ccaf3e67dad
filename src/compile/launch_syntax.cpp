#include "compile/launch_syntax.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>

namespace simtlab::compile {
namespace {

namespace fs = std::filesystem;
constexpr std::uintmax_t kLargest = std::uintmax_t{16} << 20;

// Position behind a comment, string or character literal that starts at i, or i if none does.
std::size_t skip_literal(const std::string& s, std::size_t i) {
  const std::size_t n = s.size();
  if (s[i] == '/' && i + 1 < n && s[i + 1] == '/') {
    while (i < n && s[i] != '\n') ++i;
    return i;
  }
  if (s[i] == '/' && i + 1 < n && s[i + 1] == '*') {
    const std::size_t end = s.find("*/", i + 2);
    return end == std::string::npos ? n : end + 2;
  }
  if (s[i] == '"' || s[i] == '\'') {
    // A digit separator (1'000) is no literal.
    if (s[i] == '\'' && i > 0 && std::isalnum(static_cast<unsigned char>(s[i - 1])) != 0) return i;
    const char quote = s[i++];
    while (i < n && s[i] != quote && s[i] != '\n') i += s[i] == '\\' ? 2 : 1;
    return std::min(i + 1, n);
  }
  return i;
}

std::size_t skip_blanks(const std::string& s, std::size_t i) {
  while (i < s.size() && (s[i] == ' ' || s[i] == '\t')) ++i;
  return i;
}

// If three times `c`, blanks allowed between, start at i: the position behind them, else 0.
std::size_t three(const std::string& s, std::size_t i, char c) {
  for (int k = 0; k < 3; ++k) {
    if (k > 0) i = skip_blanks(s, i);
    if (i >= s.size() || s[i] != c) return 0;
    ++i;
  }
  return i;
}

// `operator<< <T>` is a template's operator, not a launch.
bool follows_operator(const std::string& s, std::size_t i) {
  while (i > 0 && (s[i - 1] == ' ' || s[i - 1] == '\t')) --i;
  return i >= 8 && s.compare(i - 8, 8, "operator") == 0;
}

bool join(std::string& s, std::size_t begin, std::size_t end, char c) {
  if (end - begin == 3) return false;
  for (std::size_t i = begin; i < end; ++i) s[i] = i < begin + 3 ? c : ' ';
  return true;
}

std::string read_small(const fs::path& file) {
  std::error_code ec;
  if (!fs::is_regular_file(file, ec) || fs::file_size(file, ec) > kLargest || ec) return {};
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> quoted_includes(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t i = 0; (i = text.find('#', i)) != std::string::npos; ++i) {
    std::size_t j = skip_blanks(text, i + 1);
    if (text.compare(j, 7, "include") != 0) continue;
    j = skip_blanks(text, j + 7);
    if (j >= text.size() || text[j] != '"') continue;
    const std::size_t end = text.find_first_of("\"\n", j + 1);
    if (end != std::string::npos && text[end] == '"') names.push_back(text.substr(j + 1, end - j - 1));
  }
  return names;
}

}  // namespace

bool join_launch_brackets(std::string& s) {
  bool changed = false;
  bool open = false;
  int depth = 0;
  for (std::size_t i = 0; i < s.size();) {
    if (const std::size_t behind = skip_literal(s, i); behind != i) {
      i = behind;
      continue;
    }
    const char c = s[i];
    if (c == '<' && !open) {
      if (const std::size_t end = three(s, i, '<'); end != 0 && !follows_operator(s, i)) {
        changed |= join(s, i, end, '<');
        open = true;
        depth = 0;
        i = end;
        continue;
      }
    } else if (open && (c == '(' || c == '[' || c == '{')) {
      ++depth;
    } else if (open && (c == ')' || c == ']' || c == '}')) {
      --depth;
    } else if (open && c == '>' && depth <= 0) {
      if (const std::size_t end = three(s, i, '>')) {
        changed |= join(s, i, end, '>');
        open = false;
        i = end;
        continue;
      }
    }
    if (c == ';') open = false;  // not a launch after all
    ++i;
  }
  return changed;
}

std::vector<RewrittenFile> rewrite_launches(const fs::path& source, const std::vector<fs::path>& folders) {
  std::vector<RewrittenFile> result;
  std::set<fs::path> seen;
  std::vector<fs::path> todo{fs::absolute(source).lexically_normal()};
  while (!todo.empty()) {
    const fs::path file = todo.back();
    todo.pop_back();
    if (!seen.insert(file).second) continue;
    std::string text = read_small(file);
    for (const std::string& name : quoted_includes(text)) {
      std::error_code ec;
      if (const fs::path beside = file.parent_path() / name; fs::exists(beside, ec)) {
        todo.push_back(beside.lexically_normal());
        continue;
      }
      for (const fs::path& folder : folders)
        if (const fs::path found = folder / name; fs::exists(found, ec)) {
          todo.push_back(fs::absolute(found).lexically_normal());
          break;
        }
    }
    if (join_launch_brackets(text)) result.push_back({file, std::move(text)});
  }
  return result;
}

}  // namespace simtlab::compile
