#include "compile/unrolling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include "compile/source_text.h"

namespace simtlab::compile {
namespace {

// nvcc 13 obeys as long as the copies have fewer than 16384 instructions of LLVM (found by trying: bodies of
// 3, 4 and 13 instructions up to 5400, 4000 and 1200 copies). Such bodies have about four tokens of C++ to an
// instruction.
constexpr std::uint64_t most_instructions = 16384, tokens_each = 4;
constexpr std::uint64_t most_tokens = most_instructions * tokens_each;
// From here on one pass of clang, which is quadratic in the loads and stores of a block, takes most of the
// time.
constexpr std::uint64_t many_tokens = most_tokens / 4;
constexpr unsigned deepest = 32;          // loops in loops, names of names
constexpr std::size_t most_names = 1000;  // that are looked for: each in all texts

std::string_view trimmed(std::string_view s) {
  const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0 || c == '\\'; };
  while (!s.empty() && space(s.front())) s.remove_prefix(1);
  while (!s.empty() && space(s.back())) s.remove_suffix(1);
  return s;
}

std::string_view without_parentheses(std::string_view s) {
  for (s = trimmed(s); s.size() >= 2 && s.front() == '(' && s.back() == ')'; s = trimmed(s)) {
    if (s.find(')') != s.size() - 1 && s.find('(', 1) == s.npos) break;  // (a) + (b)
    s = s.substr(1, s.size() - 2);
  }
  return s;
}

std::optional<std::int64_t> literal(std::string_view s) {
  const bool negative = s.starts_with('-');
  if (negative || s.starts_with('+')) s = trimmed(s.substr(1));
  while (s.size() > 1 && std::string_view("uUlLzZ").find(s.back()) != s.npos) s.remove_suffix(1);
  int base = 10;
  if (s.starts_with("0x") || s.starts_with("0X"))
    base = 16;
  else if (s.starts_with("0b") || s.starts_with("0B"))
    base = 2;
  else if (s.size() > 1 && s.front() == '0')
    base = 8;
  if (base == 16 || base == 2) s.remove_prefix(2);
  std::string digits(s);
  std::erase(digits, '\'');
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out, base);
  if (digits.empty() || digits.front() == '-' || end != digits.data() + digits.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) out = any_copies;
  return negative ? -out : out;
}

// A pragma in a text.
struct Pragma {
  std::size_t begin = 0, end = 0;  // with the # or _Pragma
  std::string_view value;          // empty: none
};

// The end of a directive's words: of its line, or where a comment begins.
std::size_t end_of_words(std::string_view s, std::size_t i) {
  for (; i < s.size() && s[i] != '\n'; ++i) {
    if (s[i] == '\\' && i + 1 < s.size() && s[i + 1] == '\n') ++i;
    if (s[i] == '/' && i + 1 < s.size() && (s[i + 1] == '/' || s[i + 1] == '*')) break;
  }
  return i;
}

bool begins_line(std::string_view s, std::size_t i) {
  while (i > 0 && (s[i - 1] == ' ' || s[i - 1] == '\t')) --i;
  return i == 0 || s[i - 1] == '\n';
}

// `#pragma unroll ...`, `_Pragma("unroll ...")`, `__attribute__((opencl_unroll_hint(...)))`.
std::optional<Pragma> pragma_at(std::string_view s, std::size_t i) {
  Pragma out;
  out.begin = i;
  std::size_t at = 0;
  if (s[i] == '#' && begins_line(s, i)) {
    at = skip_blanks(s, i + 1);
    if (word_at(s, at) != "pragma") return std::nullopt;
    at = skip_blanks(s, at + 6);
    if (word_at(s, at) != "unroll") return std::nullopt;
    out.end = end_of_words(s, at);
    out.value = without_parentheses(s.substr(at + 6, out.end - at - 6));
    return out;
  }
  const auto next = [&](std::string_view what) {
    at = skip_space(s, at);
    if (!s.substr(std::min(at, s.size())).starts_with(what)) return false;
    at += what.size();
    return true;
  };
  at = i;
  if (word_at(s, i) == "_Pragma") {
    if (!next("_Pragma") || !next("(") || !next("\"") || !next("unroll")) return std::nullopt;
    const std::size_t end = s.find('"', at);
    if (end == s.npos || (s[at] != ' ' && s[at] != '(' && s[at] != '"')) return std::nullopt;
    out.value = without_parentheses(s.substr(at, end - at));
    at = end + 1;
    if (!next(")")) return std::nullopt;
    out.end = at;
    return out;
  }
  if (word_at(s, i) == "__attribute__") {
    if (!next("__attribute__") || !next("(") || !next("(") || !next("opencl_unroll_hint") || !next("("))
      return std::nullopt;
    const std::size_t end = s.find(')', at);
    if (end == s.npos) return std::nullopt;
    out.value = trimmed(s.substr(at, end - at));
    at = end + 1;
    if (!next(")") || !next(")")) return std::nullopt;
    out.end = at;
    return out;
  }
  return std::nullopt;
}

class Counter {
 public:
  Counter(std::string_view text, Numbers& numbers) : text_(text), numbers_(numbers) {}
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  // Tokens of the body of the loop at i, those of loops in it times what their own pragmas say; i: behind it.
  std::uint64_t body(std::size_t& i, unsigned depth = 0) {
    i = skip_space(text_, i);
    const std::string_view word = word_at(text_, i);
    if (word == "for" || word == "while") {
      i = skip_space(text_, i + word.size());
      std::size_t rounds = 0;
      do {
        if (i < text_.size() && text_[i] == '(') ++rounds;
        if (i < text_.size() && text_[i] == ')' && rounds > 0) --rounds;
        ++i;
      } while (i < text_.size() && rounds > 0 && steps_left_-- > 0);
    }
    return statement(i, depth);
  }

 private:
  std::uint64_t statement(std::size_t& i, unsigned depth) {
    std::uint64_t sum = 0;
    std::size_t braces = 0, rounds = 0;
    while (i < text_.size() && sum < most_tokens && steps_left_ > 0) {
      --steps_left_;
      const char c = text_[i];
      if (const std::optional<Pragma> pragma = pragma_at(text_, i)) {
        const std::int64_t copies = numbers_.value(pragma->value).value_or(1);
        i = pragma->end;
        if (copies <= 1 || depth == deepest) continue;
        sum += body(i, depth + 1) * static_cast<std::uint64_t>(std::min<std::int64_t>(copies, 1 << 20));
        if (braces == 0 && rounds == 0) return sum;
        continue;
      }
      if (c == '#' && begins_line(text_, i)) {
        i = end_of_words(text_, i);
        continue;
      }
      if (const std::size_t behind = skip_literal(text_, i); behind != i) {
        if (c != '/') ++sum;
        i = behind;
        continue;
      }
      if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++i;
        continue;
      }
      if (c == '}' && braces == 0) return sum;  // of what is around
      ++sum;
      i += length_of_token(i);
      if (c == '(') ++rounds;
      if (c == ')' && rounds > 0) --rounds;
      if (c == '{') ++braces;
      if (c == '}') --braces;
      if (braces > 0 || rounds > 0) continue;
      if (c == ';') return sum;
      if (c == '}' && word_at(text_, skip_space(text_, i)) != "else") return sum;
    }
    return sum;
  }

  std::size_t length_of_token(std::size_t i) const {
    std::size_t n = 0;
    while (i + n < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[i + n])) != 0 ||
                                    text_[i + n] == '_' || (n > 0 && text_[i + n] == '.')))
      ++n;
    return std::max<std::size_t>(n, 1);
  }

  std::string_view text_;
  Numbers& numbers_;
  std::int64_t steps_left_ = 4'000'000;  // of all loops of a file; what comes then counts as small
};

}  // namespace

std::optional<std::int64_t> Numbers::value(std::string_view text, unsigned depth) {
  text = without_parentheses(text);
  if (const std::optional<std::int64_t> out = literal(text)) return out;
  const bool negative = text.starts_with('-');
  if (negative) text = trimmed(text.substr(1));
  if (text.empty() || word_at(text, 0) != text || depth == deepest) return std::nullopt;
  const std::optional<std::int64_t> out = of_name(text, depth);
  return out && negative ? -*out : out;
}

std::optional<std::int64_t> Numbers::of_name(std::string_view name, unsigned depth) {
  if (const auto given = given_.find(name); given != given_.end()) return value(given->second, depth + 1);
  if (const auto known = known_.find(name); known != known_.end()) return known->second;
  if (known_.size() == most_names) return std::nullopt;
  std::optional<std::int64_t> out;
  bool certain = true;
  for (const std::string_view text : texts_)
    for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + name.size())) {
      if (word_at(text, at) != name) continue;
      const std::string_view before = token_before(text, at);
      std::size_t next = at + name.size();
      std::optional<std::int64_t> here;
      if (before == "define") {
        here = value(text.substr(next, end_of_words(text, next) - next), depth + 1);
      } else {
        next = skip_space(text, next);
        if (next >= text.size()) continue;
        const bool declared = !before.empty() && word_at(before, 0) == before;
        // A parameter, of a template for instance
        const bool varies =
            declared && before != "return" && (text[next] == ',' || text[next] == '>' || text[next] == ')');
        const bool set = text[next] == '=' && next + 1 < text.size() && text[next + 1] != '=';
        if (!varies && !set) continue;
        if (set) {
          const std::size_t end = std::min(text.find_first_of(";,}>", next), text.size());
          here = value(text.substr(next + 1, end - next - 1), depth + 1);
        }
      }
      certain = certain && here && (!out || *out == *here);
      out = here;
    }
  if (!certain) out.reset();
  return known_[std::string(name)] = out;
}

Unrolling blank_unrolling(std::string& text, Numbers& numbers, std::int64_t most) {
  Unrolling out;
  std::size_t line = 1;
  const std::string before = text;
  Counter counter(before, numbers);
  for (std::size_t i = 0, counted = 0; i < before.size();) {
    const std::optional<Pragma> pragma = pragma_at(before, i);
    if (!pragma) {
      const std::size_t behind = skip_literal(before, i);
      i = std::max(behind, i + 1);
      continue;
    }
    line += static_cast<std::size_t>(std::count(before.begin() + static_cast<std::ptrdiff_t>(counted),
                                                before.begin() + static_cast<std::ptrdiff_t>(i), '\n'));
    counted = i;
    i = pragma->end;
    if (pragma->value.empty()) continue;
    const std::optional<std::int64_t> copies = numbers.value(pragma->value);
    std::string why;
    if (copies && *copies <= 0) {
      why = fmt::format("the number of copies is {}", *copies);
    } else if (copies && *copies > std::numeric_limits<std::int32_t>::max()) {
      why = "the number of copies is no int";
    } else if (copies != 1) {
      std::uint64_t tokens = 0;
      if (copies) {
        std::size_t at = i;
        tokens = counter.body(at);
        tokens *= static_cast<std::uint64_t>(*copies);
      }
      if (tokens > most_tokens)
        why = fmt::format("{} copies of the loop would have more than {} instructions", *copies,
                          most_instructions);
      else if (most < any_copies && copies.value_or(any_copies) > most)
        why = "the copies take the compiler too long";
      out.many |= tokens > many_tokens && tokens <= most_tokens;
      out.counts |= why.empty() && copies.value_or(any_copies) > few_copies;
    }
    if (why.empty()) continue;
    for (std::size_t at = pragma->begin; at < pragma->end; ++at)
      if (text[at] != '\n') text[at] = ' ';
    out.ignored.push_back({line, std::move(why)});
  }
  return out;
}

}  // namespace simtlab::compile
