#include "ptx/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

namespace simtlab::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_follow(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }
int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Whether a decimal number that no double can hold is too large rather than too small: the power of ten of
// its first digit.
bool is_huge(std::string_view number) {
  const std::size_t e = number.find_first_of("eE");
  std::int64_t exponent = 0;
  if (e != std::string_view::npos) {
    const bool negative = number[e + 1] == '-';
    for (const char c : number.substr(e + 1))
      if (is_digit(c)) exponent = std::min<std::int64_t>(exponent * 10 + (c - '0'), 1'000'000'000);
    if (negative) exponent = -exponent;
  }
  const std::string_view mantissa = number.substr(0, e);
  const auto point = static_cast<std::int64_t>(std::min(mantissa.find('.'), mantissa.size()));
  const std::size_t first = mantissa.find_first_not_of("0.");
  return first != std::string_view::npos && exponent + point - static_cast<std::int64_t>(first) > 0;
}

}  // namespace

// Editors put a byte order mark in front of UTF-8 text; it is no part of the module.
Lexer::Lexer(const Source& source) : source_(source), text_(source.text()) {
  if (text_.starts_with("\xef\xbb\xbf")) pos_ = line_start_ = 3;
  current_ = scan();
}

const Token& Lexer::peek2() {
  if (!have_ahead_) {
    ahead_ = scan();
    have_ahead_ = true;
  }
  return ahead_;
}

Token Lexer::next() {
  Token out = current_;
  if (have_ahead_) {
    current_ = ahead_;
    have_ahead_ = false;
  } else if (current_.kind != Token::Kind::end) {
    current_ = scan();
  }
  return out;
}

void Lexer::skip_line() {
  // Re-scan from the current token: what was read ahead may lie on the same line.
  have_ahead_ = false;
  pos_ = current_.at.offset;
  line_ = current_.at.line;
  line_start_ = pos_ - (current_.at.column - 1);
  while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
  current_ = scan();
}

Place Lexer::here() const {
  return Place{static_cast<std::uint32_t>(pos_), line_, static_cast<std::uint32_t>(pos_ - line_start_ + 1)};
}

void Lexer::too_long(Place at, const char* what, std::size_t length) const {
  source_.fail(at, "ptx-limit",
               fmt::format("{} of {} characters; the limit is {}", what, length, Limits::identifier));
}

void Lexer::fail(Place at, std::string message, std::string hint) const {
  source_.fail(at, "ptx-syntax", std::move(message), std::move(hint));
}

void Lexer::newline() {
  ++pos_;
  ++line_;
  line_start_ = pos_;
}

void Lexer::skip_blanks() {
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c == '\n') {
      newline();
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++pos_;
    } else if (c == '/' && pos_ + 1 < text_.size() && text_[pos_ + 1] == '/') {
      while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
    } else if (c == '/' && pos_ + 1 < text_.size() && text_[pos_ + 1] == '*') {
      const Place start = here();
      pos_ += 2;
      while (pos_ + 1 < text_.size() && !(text_[pos_] == '*' && text_[pos_ + 1] == '/')) {
        if (text_[pos_] == '\n')
          newline();
        else
          ++pos_;
      }
      if (pos_ + 1 >= text_.size()) fail(start, "comment is never closed", "end it with */");
      pos_ += 2;
    } else if (c == '#' && pos_ == line_start_) {
      while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;  // line marker of a preprocessor
    } else if (c == '\0' && text_.find_first_not_of('\0', pos_) == std::string_view::npos) {
      pos_ = text_.size();  // images embedded by compilers end in NUL bytes
    } else {
      return;
    }
  }
}

std::string_view Lexer::digits_and_letters(std::size_t from) const {
  std::size_t end = from;
  while (end < text_.size() && is_follow(text_[end])) ++end;
  return text_.substr(from, end - from);
}

Token Lexer::scan() {
  skip_blanks();
  Token t;
  t.at = here();
  if (pos_ >= text_.size()) return t;
  const char c = text_[pos_];
  const char n = pos_ + 1 < text_.size() ? text_[pos_ + 1] : '\0';
  const std::size_t start = pos_;
  auto take = [&](Token::Kind kind, std::size_t count) {
    t.kind = kind;
    t.text = text_.substr(start, count);
    pos_ = start + count;
    return t;
  };
  if (is_letter(c) || c == '_' || c == '$' || (c == '%' && is_follow(n))) {
    const std::size_t length = 1 + digits_and_letters(pos_ + 1).size();
    if (length > Limits::identifier) too_long(t.at, "identifier", length);
    return take(Token::Kind::identifier, length);
  }
  if (is_digit(c)) return number(t.at);
  if (c == '.' && is_follow(n)) {
    std::size_t end = pos_ + 1;
    while (true) {
      while (end < text_.size() && is_follow(text_[end])) ++end;
      if (end + 2 < text_.size() && text_[end] == ':' && text_[end + 1] == ':' && is_follow(text_[end + 2]))
        end += 2;
      else
        break;
    }
    if (end - start > Limits::identifier) too_long(t.at, "directive", end - start);
    return take(Token::Kind::dotted, end - start);
  }
  if (c == '"') {
    std::size_t end = pos_ + 1;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size() || text_[end] != '"')
      fail(t.at, "string is never closed", "end it with a quote on the same line");
    pos_ = end + 1;
    t.kind = Token::Kind::string;
    t.text = text_.substr(start + 1, end - start - 1);
    return t;
  }
  for (std::string_view two : {"<<", ">>", "==", "!=", "<=", ">=", "&&", "||", "@@"})
    if (c == two[0] && n == two[1]) return take(Token::Kind::punct, 2);
  constexpr std::string_view single = "{}[](),;:+-*/%&|^~!<>=?@.";
  if (single.find(c) != std::string_view::npos) return take(Token::Kind::punct, 1);
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x20 || byte >= 0x7f)
    fail(t.at, fmt::format("byte 0x{:02x} is not PTX text", byte),
         "is this a PTX file, or a binary (cubin, fatbin, object file)?");
  fail(t.at, fmt::format("unexpected character '{}'", c));
}

Token Lexer::float_bits(Place at, unsigned digits) {
  Token t;
  t.at = at;
  const std::string_view word = digits_and_letters(pos_);
  const std::string_view hex = word.substr(2);
  std::uint64_t bits = 0;
  for (const char h : hex) {
    if (hex_value(h) < 0) fail(at, fmt::format("'{}' is not a number", word));
    bits = bits << 4 | static_cast<std::uint64_t>(hex_value(h));
  }
  if (hex.size() != digits)
    fail(at, fmt::format("'{}' has {} hexadecimal digits; {} needs {}", word, hex.size(), word.substr(0, 2),
                         digits));
  t.kind = digits == 8 ? Token::Kind::float32 : Token::Kind::float64;
  t.text = word;
  t.value = bits;
  pos_ += word.size();
  return t;
}

Token Lexer::number(Place at) {
  const std::string_view word = digits_and_letters(pos_);
  const char second = word.size() > 1 ? word[1] : '\0';
  if (word[0] == '0' && (second == 'f' || second == 'F')) return float_bits(at, 8);
  if (word[0] == '0' && (second == 'd' || second == 'D')) return float_bits(at, 16);
  Token t;
  t.at = at;
  const bool hex = word[0] == '0' && (second == 'x' || second == 'X');
  // Decimal floating point: 1.5, 1., 2e10, 3.0E-5.
  std::size_t end = pos_;
  while (end < text_.size() && is_digit(text_[end])) ++end;
  const bool fraction = !hex && end < text_.size() && text_[end] == '.' &&
                        !(end + 1 < text_.size() &&
                          (is_letter(text_[end + 1]) && text_[end + 1] != 'e' && text_[end + 1] != 'E'));
  const bool exponent = !hex && end < text_.size() && (text_[end] == 'e' || text_[end] == 'E');
  if (fraction || exponent) {
    if (fraction) {
      ++end;
      while (end < text_.size() && is_digit(text_[end])) ++end;
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      std::size_t e = end + 1;
      if (e < text_.size() && (text_[e] == '+' || text_[e] == '-')) ++e;
      if (e >= text_.size() || !is_digit(text_[e])) fail(at, "number has an exponent without digits");
      while (e < text_.size() && is_digit(text_[e])) ++e;
      end = e;
    }
    t.text = text_.substr(pos_, end - pos_);
    if (t.text.size() > Limits::identifier) too_long(at, "number", t.text.size());
    t.kind = Token::Kind::float64;
    double value = 0;
    const auto [rest, error] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), value);
    // Too small is zero, as in C; too large has no value.
    if (error == std::errc::result_out_of_range && is_huge(t.text))
      fail(at, fmt::format("number '{}' is out of range: a double reaches 1.8e308", t.text.substr(0, 64)),
           "write infinity as 0d7FF0000000000000");
    t.value = std::bit_cast<std::uint64_t>(value);
    pos_ = end;
    return t;
  }
  std::string_view digits = word;
  if (!digits.empty() && (digits.back() == 'U' || digits.back() == 'u')) {
    t.is_unsigned = true;
    digits.remove_suffix(1);
  }
  unsigned base = 10;
  if (hex)
    base = 16, digits.remove_prefix(2);
  else if (digits.size() > 1 && digits[0] == '0' && (second == 'b' || second == 'B'))
    base = 2, digits.remove_prefix(2);
  else if (digits.size() > 1 && digits[0] == '0')
    base = 8, digits.remove_prefix(1);
  if (digits.empty()) fail(at, fmt::format("'{}' is not a number", word.substr(0, 64)));
  std::uint64_t value = 0;
  for (const char d : digits) {
    const int v = hex_value(d);
    if (v < 0 || static_cast<unsigned>(v) >= base)
      fail(at, fmt::format("'{}' is not a number", word.substr(0, 64)));
    if (value > (~std::uint64_t{0} - static_cast<unsigned>(v)) / base)
      fail(at, fmt::format("number '{}' does not fit in 64 bits", word.substr(0, 64)));
    value = value * base + static_cast<unsigned>(v);
  }
  if (value >> 63 != 0) t.is_unsigned = true;
  t.kind = Token::Kind::integer;
  t.text = word;
  t.value = value;
  pos_ += word.size();
  return t;
}

}  // namespace simtlab::ptx
