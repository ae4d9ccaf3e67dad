#include "base/shell.h"

#include <fmt/format.h>

#include "base/shown.h"
#include "base/utf8.h"

namespace simtlab {
namespace {

bool is_plain(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  return !word.empty() && word.find_first_not_of(plain) == std::string_view::npos;
}

std::string in_quotes(std::string_view word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// $'...': what can't be printed as \xHH, two digits a byte.
std::string escaped(std::string_view word) {
  std::string out = "$'";
  for (std::size_t i = 0; i < word.size();) {
    const Utf8 c = utf8_at(word, i);
    const std::size_t length = c.length == 0 ? 1 : c.length;
    if (c.code == '\'' || c.code == '\\') out += '\\';
    if (c.length != 0 && !is_command(c.code))
      out += word.substr(i, length);
    else
      for (std::size_t k = i; k < i + length; ++k)
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(word[k]));
    i += length;
  }
  return out + "'";
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// What stands behind a backslash of $'...' at text[i]; i is left on its last character.
char unescaped(std::string_view text, std::size_t& i) {
  if (text[i] != 'x' || i + 2 >= text.size()) return text[i];
  const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
  if (high < 0 || low < 0) return text[i];
  i += 2;
  return static_cast<char>(high * 16 + low);
}

}  // namespace

std::string shell_quoted(std::string_view word) {
  if (is_plain(word)) return std::string(word);
  return printable(word) == word ? in_quotes(word) : escaped(word);
}

std::string shell_words(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + shell_quoted(word);
  return out;
}

std::string script_words(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words)
    out += (out.empty() ? "" : " ") + (is_plain(word) ? word : in_quotes(word));
  return out;
}

std::vector<std::string> unquoted(std::string_view text) {
  enum class Mode { bare, quoted, escaped };
  std::vector<std::string> words;
  Mode mode = Mode::bare;
  bool in_word = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (mode == Mode::bare && c == ' ') {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == '\'') {
      mode = mode == Mode::bare ? Mode::quoted : Mode::bare;
    } else if (mode == Mode::bare && c == '$' && i + 1 < text.size() && text[i + 1] == '\'') {
      mode = Mode::escaped;
      ++i;
    } else if (mode != Mode::quoted && c == '\\' && i + 1 < text.size()) {
      ++i;
      words.back() += mode == Mode::escaped ? unescaped(text, i) : text[i];
    } else {
      words.back() += c;
    }
  }
  return words;
}

std::string path_text(std::string_view path) {
  for (std::size_t i = 0; i < path.size();) {
    const std::size_t length = utf8_at(path, i).length;
    if (length == 0) return escaped(path);
    i += length;
  }
  return path.starts_with("$'") ? escaped(path) : std::string(path);
}

std::string path_of(std::string_view text) {
  if (!text.starts_with("$'") || !text.ends_with('\'')) return std::string(text);
  const std::vector<std::string> words = unquoted(text);
  return words.size() == 1 ? words.front() : std::string(text);
}

}  // namespace simtlab
