// C source text, as far as a loop nest has to be cut out of it: comments, strings, brackets, statements.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab::models::loops {

class CText {
 public:
  explicit CText(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }
  // Of a place that counts from 1; the text's end if it has no such line
  std::size_t offset(unsigned line, unsigned column) const;
  // Behind blanks, comments and preprocessor lines.
  std::size_t skip_blank(std::size_t at) const;
  // Behind the bracket that closes the one at `at`.
  std::size_t close(std::size_t at) const;
  // Behind the statement that begins at `at`.
  std::size_t statement(std::size_t at) const;
  // The first `c` that is in no bracket, string or comment; `end` if there is none.
  std::size_t find(char c, std::size_t at, std::size_t end) const;
  bool word_at(std::size_t at, std::string_view word) const;
  // Behind what can't hold brackets: a comment, a string, a character, or just the next character.
  std::size_t step(std::size_t at) const;

 private:
  std::string_view text_;
};

// A for statement in pieces.
struct ForStatement {
  std::size_t begin = 0, body = 0, end = 0;  // of the whole, of its body, behind it
  std::string init, condition, advance;
};
// False if no for begins there.
bool read_for(const CText& text, std::size_t at, ForStatement& out);

// Places of the word `continue` that belong to the loop whose body is [begin, end): not those of loops in it.
std::vector<std::size_t> continues(const CText& text, std::size_t begin, std::size_t end);

// Declarations and definitions of a file, one after another.
struct TopLevel {
  enum class Kind : unsigned char { preprocessor, type, function, other } kind = Kind::other;
  std::size_t begin = 0, end = 0;
  std::string name;  // of a function
};
std::vector<TopLevel> top_level(const CText& text);

// Words of the text that are identifiers.
std::vector<std::string> identifiers(std::string_view text);

}  // namespace simtlab::models::loops
