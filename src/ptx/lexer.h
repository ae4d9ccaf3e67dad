// Tokens of PTX text. One pass, no allocation; a token is a view into the source.
#pragma once

#include <cstdint>
#include <string_view>

#include "ptx/source.h"

namespace simtlab::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    end,
    identifier,  // foo, %r1, $L_2, _
    dotted,      // .reg, .s32, .L2::128B: the text includes the dot
    integer,     // value
    float32,     // 0fXXXXXXXX: value = bits
    float64,     // 0dXXXXXXXXXXXXXXXX or decimal: value = bits
    string,      // text without quotes
    punct,       // text = one of { } [ ] ( ) , ; : + - * / % & | ^ ~ ! < > = ? @ or a two-character operator
  };
  Kind kind = Kind::end;
  std::string_view text;
  std::uint64_t value = 0;
  bool is_unsigned = false;  // integer with the U suffix or beyond the range of s64
  Place at;

  bool is(char c) const { return kind == Kind::punct && text.size() == 1 && text[0] == c; }
  bool is(std::string_view s) const { return kind != Kind::string && kind != Kind::end && text == s; }
};

class Lexer {
 public:
  explicit Lexer(const Source& source);

  const Token& peek() const { return current_; }
  const Token& peek2();  // the token after peek()
  Token next();          // returns peek() and moves on
  void skip_line();      // drops the rest of the line of peek() (DWARF in "@@" lines, '#' lines)

 private:
  Token scan();
  void skip_blanks();
  void newline();
  Token number(Place at);
  Token float_bits(Place at, unsigned digits);
  std::string_view digits_and_letters(std::size_t from) const;
  [[noreturn]] void fail(Place at, std::string message, std::string hint = {}) const;
  [[noreturn]] void too_long(Place at, const char* what, std::size_t length) const;
  Place here() const;

  const Source& source_;
  std::string_view text_;
  std::size_t pos_ = 0, line_start_ = 0;
  std::uint32_t line_ = 1;
  Token current_, ahead_;
  bool have_ahead_ = false;
};

}  // namespace simtlab::ptx
