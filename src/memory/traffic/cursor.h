// Reads the words and numbers of one trace line and remembers what was wrong with it. Inline: every access
// passes here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace simtlab::memory::traffic {

class Cursor {
 public:
  explicit Cursor(std::string_view line) : begin_(line.data()), at_(begin_), end_(begin_ + line.size()) {}

  bool at_end() {
    skip_blanks();
    return at_ == end_;
  }

  // The next word; empty at the end of the line.
  std::string_view word() {
    skip_blanks();
    const char* from = at_;
    while (at_ != end_ && !is_blank(*at_)) ++at_;
    return last_ = {from, static_cast<std::size_t>(at_ - from)};
  }

  // A hexadecimal number, with 0x or without.
  bool hexadecimal(std::uint64_t& value, const char* missing) {
    std::string_view text = word();
    if (text.empty()) return fail(missing);
    if (has_prefix(text)) text.remove_prefix(2);
    return digits<16>(text, value, "not a hexadecimal number");
  }
  // A decimal number.
  bool decimal(std::uint64_t& value, const char* missing) {
    const std::string_view text = word();
    if (text.empty()) return fail(missing);
    return digits<10>(text, value, "not a decimal number");
  }
  // Decimal, or hexadecimal with 0x.
  bool either(std::uint64_t& value, const char* missing) {
    const std::string_view text = word();
    if (text.empty()) return fail(missing);
    if (has_prefix(text)) return digits<16>(text.substr(2), value, "not a hexadecimal number");
    return digits<10>(text, value, "not a decimal number (hexadecimal ones start with 0x)");
  }
  // One of a list of decimal numbers with commas, given part by part.
  template <int base>
  bool digits(std::string_view text, std::uint64_t& value, const char* otherwise) {
    if (text.empty()) return fail(otherwise);
    if (text.front() == '-') return fail("a negative number");
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t sum = 0;
    for (const char c : text) {
      const unsigned digit = value_of(c);
      if (digit >= base) return fail(otherwise);
      if (sum > (most - digit) / base) return fail("a number that does not fit 64 bits");
      sum = sum * base + digit;
    }
    value = sum;
    return true;
  }

  bool fail(const char* problem) {
    problem_ = problem;
    return false;
  }
  // Nothing may follow.
  bool end() {
    if (at_end()) return true;
    word();
    return fail("more than the format has on a line");
  }

  const char* problem() const { return problem_; }
  std::string_view wrong() const { return last_; }  // the word it is about
  std::size_t column() const {
    return static_cast<std::size_t>(last_.data() - begin_);
  }  // of that word, from 0

  static bool has_prefix(std::string_view text) {
    return text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t'; }
  static unsigned value_of(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
    return 99;
  }
  void skip_blanks() {
    while (at_ != end_ && is_blank(*at_)) ++at_;
  }

  const char *begin_, *at_, *end_;
  std::string_view last_;
  const char* problem_ = "";
};

}  // namespace simtlab::memory::traffic
