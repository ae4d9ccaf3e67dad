// The text of a TOML file beside its parser: what must hold before the parser sees it, and errors that show
// the line.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab {

class TomlText {
 public:
  struct Form {
    const char* error_id;   // of what is wrong with the contents
    const char* syntax_id;  // of what is no TOML
    const char* hint;       // for both, where there is no better one
    std::size_t max_line_bytes;
  };
  // text must outlive it. Throws Error(bad_input): "text-encoding"; error_id for tables or dotted keys that
  // nest deeper than any file of ours: the parser descends recursively, and would be at the end of a small
  // stack.
  TomlText(std::string_view text, std::string file, const Form& form);

  const std::string& file() const { return file_; }
  // The line, cut where it is very long; empty for 0 and beyond the end.
  std::string line(std::uint32_t number) const;
  // Throws Error(bad_input, error_id), or another id.
  [[noreturn]] void fail(std::uint32_t line, std::uint32_t column, const std::string& message,
                         const std::string& hint = {}, const char* id = nullptr) const;
  [[noreturn]] void fail_syntax(std::uint32_t line, std::uint32_t column, std::string_view message) const;
  // A key at that place is none of `known`. where: "launch file".
  [[noreturn]] void fail_key(std::uint32_t line, std::uint32_t column, const std::string& key,
                             const std::vector<std::string>& known, const char* where) const;

  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
  std::string file_;
  Form form_;
};

}  // namespace simtlab
