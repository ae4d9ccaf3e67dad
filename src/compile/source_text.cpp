#include "compile/source_text.h"

#include <algorithm>
#include <cctype>

namespace simtlab::compile {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

std::size_t skip_literal(std::string_view s, std::size_t i) {
  const std::size_t n = s.size();
  if (s[i] == '/' && i + 1 < n && s[i + 1] == '/') {
    while (i < n && s[i] != '\n') ++i;
    return i;
  }
  if (s[i] == '/' && i + 1 < n && s[i + 1] == '*') {
    const std::size_t end = s.find("*/", i + 2);
    return end == s.npos ? n : end + 2;
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

std::size_t skip_blanks(std::string_view s, std::size_t i) {
  while (i < s.size() && (s[i] == ' ' || s[i] == '\t')) ++i;
  return i;
}

std::size_t skip_space(std::string_view s, std::size_t i) {
  while (i < s.size()) {
    if (is_space(s[i]) || (s[i] == '\\' && i + 1 < s.size() && s[i + 1] == '\n')) {
      ++i;
    } else if (s[i] == '/') {
      const std::size_t behind = skip_literal(s, i);
      if (behind == i) break;
      i = behind;
    } else {
      break;
    }
  }
  return i;
}

std::string_view word_at(std::string_view s, std::size_t i) {
  if (i >= s.size() || !is_of_word(s[i]) || std::isdigit(static_cast<unsigned char>(s[i])) != 0 ||
      (i > 0 && is_of_word(s[i - 1])))
    return {};
  std::size_t end = i;
  while (end < s.size() && is_of_word(s[end])) ++end;
  return s.substr(i, end - i);
}

std::string_view token_before(std::string_view s, std::size_t i) {
  while (i > 0 && is_space(s[i - 1])) --i;
  if (i == 0) return {};
  std::size_t from = i;
  while (from > 0 && is_of_word(s[from - 1])) --from;
  return from == i ? s.substr(i - 1, 1) : s.substr(from, i - from);
}

}  // namespace simtlab::compile
