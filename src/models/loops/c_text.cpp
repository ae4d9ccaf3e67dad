#include "models/loops/c_text.h"

#include <algorithm>
#include <cctype>

namespace simtlab::models::loops {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string trimmed(std::string_view s) {
  const auto first = s.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos
             ? std::string()
             : std::string(s.substr(first, s.find_last_not_of(" \t\r\n") - first + 1));
}

}  // namespace

std::size_t CText::offset(unsigned line, unsigned column) const {
  std::size_t at = 0;
  for (unsigned n = 1; n < line; ++n) {
    at = text_.find('\n', at);
    if (at == std::string_view::npos) return text_.size();
    ++at;
  }
  return std::min(at + column - 1, text_.size());
}

std::size_t CText::step(std::size_t at) const {
  const char c = text_[at];
  if (text_.substr(at, 2) == "//") return std::min(text_.find('\n', at), text_.size());
  if (text_.substr(at, 2) == "/*") {
    const std::size_t end = text_.find("*/", at + 2);
    return end == std::string_view::npos ? text_.size() : end + 2;
  }
  if (c == '"' || c == '\'') {
    for (++at; at < text_.size() && text_[at] != c; ++at)
      if (text_[at] == '\\') ++at;
    return std::min(at + 1, text_.size());
  }
  return at + 1;
}

std::size_t CText::skip_blank(std::size_t at) const {
  while (at < text_.size()) {
    if (std::isspace(static_cast<unsigned char>(text_[at])) != 0) {
      ++at;
    } else if (text_[at] == '#') {
      do at = std::min(text_.find('\n', at), text_.size() - 1) + 1;
      while (at < text_.size() && at >= 2 && text_[at - 2] == '\\');
    } else if (text_.substr(at, 2) == "//" || text_.substr(at, 2) == "/*") {
      at = step(at);
    } else {
      break;
    }
  }
  return at;
}

std::size_t CText::close(std::size_t at) const {
  int depth = 0;
  while (at < text_.size()) {
    const char c = text_[at];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    at = step(at);
    if (depth == 0) break;
  }
  return at;
}

std::size_t CText::find(char c, std::size_t at, std::size_t end) const {
  while (at < end) {
    if (text_[at] == c) return at;
    at = text_[at] == '(' || text_[at] == '[' || text_[at] == '{' ? close(at) : step(at);
  }
  return end;
}

bool CText::word_at(std::size_t at, std::string_view word) const {
  return text_.substr(at, word.size()) == word &&
         (at + word.size() >= text_.size() || !is_word(text_[at + word.size()])) &&
         (at == 0 || !is_word(text_[at - 1]));
}

std::size_t CText::statement(std::size_t at) const {
  at = skip_blank(at);
  if (at >= text_.size()) return at;
  if (text_[at] == '{') return close(at);
  for (const std::string_view with_head : {"for", "while", "if", "switch"}) {
    if (!word_at(at, with_head)) continue;
    const std::size_t end = statement(close(skip_blank(at + with_head.size())));
    const std::size_t next = skip_blank(end);
    return with_head == "if" && word_at(next, "else") ? statement(next + 4) : end;
  }
  if (word_at(at, "do")) return find(';', statement(at + 2), text_.size()) + 1;
  return std::min(find(';', at, text_.size()) + 1, text_.size());
}

bool read_for(const CText& text, std::size_t at, ForStatement& out) {
  if (!text.word_at(at, "for")) return false;
  const std::size_t open = text.skip_blank(at + 3), behind = text.close(open);
  const std::size_t first = text.find(';', open + 1, behind), second = text.find(';', first + 1, behind);
  if (second >= behind) return false;
  out.begin = at;
  out.init = trimmed(text.text().substr(open + 1, first - open - 1));
  out.condition = trimmed(text.text().substr(first + 1, second - first - 1));
  out.advance = trimmed(text.text().substr(second + 1, behind - second - 2));
  out.body = text.skip_blank(behind);
  out.end = text.statement(behind);
  return true;
}

std::vector<std::size_t> continues(const CText& text, std::size_t begin, std::size_t end) {
  std::vector<std::size_t> out;
  for (std::size_t at = begin; at < end;) {
    if (text.word_at(at, "for") || text.word_at(at, "while") || text.word_at(at, "do")) {
      at = text.statement(at);
      continue;
    }
    if (text.word_at(at, "continue")) out.push_back(at);
    at = text.step(at);
  }
  return out;
}

std::vector<TopLevel> top_level(const CText& text) {
  std::vector<TopLevel> out;
  const std::string_view all = text.text();
  for (std::size_t at = 0; at < all.size();) {
    while (at < all.size() && std::isspace(static_cast<unsigned char>(all[at])) != 0) ++at;
    if (at >= all.size()) break;
    TopLevel item;
    item.begin = at;
    if (all.substr(at, 2) == "//" || all.substr(at, 2) == "/*") {
      at = all.substr(at, 2) == "//" ? std::min(all.find('\n', at), all.size())
                                     : std::min(all.find("*/", at), all.size() - 2) + 2;
      continue;
    }
    if (all[at] == '#') {
      std::size_t end = at;
      do end = std::min(all.find('\n', end), all.size() - 1) + 1;
      while (end < all.size() && all[end - 2] == '\\');
      item.kind = TopLevel::Kind::preprocessor;
      item.end = at = end;
    } else {
      // To the semicolon, or to the brace that closes a function's body: one that stands behind its
      // arguments.
      const std::size_t semicolon = text.find(';', at, all.size()), brace = text.find('{', at, semicolon),
                        bracket = text.find('(', at, semicolon);
      std::size_t before = brace;
      while (before > at && std::isspace(static_cast<unsigned char>(all[before - 1])) != 0) --before;
      if (brace < semicolon && before > at && all[before - 1] == ')') {
        item.kind = TopLevel::Kind::function;
        item.end = at = text.close(brace);
        std::size_t end = bracket;
        while (end > item.begin && std::isspace(static_cast<unsigned char>(all[end - 1])) != 0) --end;
        std::size_t begin = end;
        while (begin > item.begin && is_word(all[begin - 1])) --begin;
        item.name = std::string(all.substr(begin, end - begin));
      } else {
        item.end = at = std::min(semicolon + 1, all.size());
        for (const std::string_view word : {"typedef", "struct", "union", "enum"})
          if (text.word_at(item.begin, word)) item.kind = TopLevel::Kind::type;
      }
    }
    out.push_back(std::move(item));
  }
  return out;
}

std::vector<std::string> identifiers(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (std::isdigit(static_cast<unsigned char>(text[at])) == 0) out.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

}  // namespace simtlab::models::loops
