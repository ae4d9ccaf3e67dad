#include "ptx/source_names.h"

#include <algorithm>

namespace simtlab::ptx {
namespace {

constexpr std::size_t longest_list = 1u << 14;  // bytes between the brackets
constexpr unsigned most_mentions = 1000;        // of the kernel's name, looked at

bool in_a_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Comments and what stands in quotes, as blanks.
std::string without_comments(std::string_view text) {
  std::string out(text);
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, out.size()); ++i)
      if (out[i] != '\n') out[i] = ' ';
  };
  for (std::size_t i = 0; i < out.size();) {
    std::size_t end = i + 1;
    if (text.substr(i, 2) == "//") {
      end = std::min(text.find('\n', i), text.size());
      blank(i, end);
    } else if (text.substr(i, 2) == "/*") {
      end = std::min(text.find("*/", i + 2), text.size() - 2) + 2;
      blank(i, end);
    } else if (text[i] == '"') {
      while (end < text.size() && text[end] != '"' && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      blank(i, ++end);
    }
    i = end;
  }
  return out;
}

// The last word of a declaration that is not in brackets: "a" of "float (&a)[4]", of "const float* a = 0".
std::string declared(std::string_view text) {
  text = text.substr(0, text.find('='));
  text = text.substr(0, text.find('['));
  while (!text.empty() && !in_a_word(text.back())) text.remove_suffix(1);
  std::size_t begin = text.size();
  while (begin > 0 && in_a_word(text[begin - 1])) --begin;
  const std::string_view name = text.substr(begin);
  // A type alone has no name
  const std::string_view before = text.substr(0, begin);
  if (name.empty() || (name[0] >= '0' && name[0] <= '9') || std::ranges::none_of(before, in_a_word))
    return {};
  return std::string(name);
}

// The declarations between the bracket at `open` and its partner; `end` gets the place behind that.
std::vector<std::string> declarations(std::string_view text, std::size_t open, std::size_t& end) {
  std::vector<std::string> out;
  int depth = 0;
  std::size_t begin = open + 1;
  const std::size_t limit = std::min(text.size(), open + longest_list);
  for (end = open; end < limit && text[end] != '{' && text[end] != ';'; ++end) {
    const char c = text[end];
    if (c == '(' || c == '<' || c == '[') ++depth;
    if (c == ')' || c == '>' || c == ']') --depth;
    if (depth == 0 || (c == ',' && depth == 1)) {
      out.push_back(declared(text.substr(begin, end - begin)));
      begin = end + 1;
    }
    if (depth == 0) break;
  }
  end = std::min(end + 1, text.size());
  return out;
}

}  // namespace

std::vector<std::string> parameter_names(std::string_view source, std::string_view kernel,
                                         std::size_t count) {
  if (kernel.empty() || count == 0) return {};
  const std::string text = without_comments(source);
  const auto blank = [&](std::size_t& at) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r'))
      ++at;
  };
  std::vector<std::string> found;
  unsigned mentions = 0;
  for (std::size_t at = 0;
       (at = text.find(kernel, at)) != std::string::npos && ++mentions <= most_mentions;) {
    std::size_t end = at + kernel.size();
    const bool whole = (at == 0 || !in_a_word(text[at - 1])) && (end == text.size() || !in_a_word(text[end]));
    at = end;
    blank(end);
    if (!whole || end >= text.size() || text[end] != '(') continue;
    const std::vector<std::string> names = declarations(text, end, end);
    blank(end);
    // A call or a declaration alone is no definition
    if (end >= text.size() || text[end] != '{' || names.size() != count) continue;
    if (std::ranges::any_of(names, &std::string::empty) || (!found.empty() && found != names)) return {};
    found = names;
  }
  return found;
}

}  // namespace simtlab::ptx
