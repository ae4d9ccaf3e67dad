#include "base/toml_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/shown.h"
#include "base/text_file.h"
#include "base/units.h"

namespace simtlab {
namespace {

constexpr std::size_t max_nesting = 16;
constexpr std::size_t max_dots = 100;  // between separators: a dotted key nests as deep
constexpr std::size_t max_shown = 400;

}  // namespace

TomlText::TomlText(std::string_view text, std::string file, const Form& form)
    : text_(text), file_(std::move(file)), form_(form) {
  checked_lines(text_, file_, form_.max_line_bytes);
  std::size_t depth = 0, dots = 0;
  std::uint32_t line = 1;
  for (const char c : text_) {
    dots = c == '.' ? dots + 1 : std::string_view("\n,=[]{}").find(c) != std::string_view::npos ? 0 : dots;
    if (c == '\n') ++line;
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (depth > max_nesting || dots > max_dots)
      fail(line, 1, "arrays or tables are nested too deeply", form_.hint);
  }
}

std::string TomlText::line(std::uint32_t number) const {
  std::size_t at = 0;
  for (std::uint32_t i = 1; i < number && at != std::string_view::npos; ++i) {
    at = text_.find('\n', at);
    if (at != std::string_view::npos) ++at;
  }
  if (number == 0 || at == std::string_view::npos) return {};
  return shown(text_.substr(at, text_.find('\n', at) - at), max_shown);
}

void TomlText::fail(std::uint32_t line_number, std::uint32_t column, const std::string& message,
                    const std::string& hint, const char* id) const {
  throw Error(ExitCode::bad_input, id == nullptr ? form_.error_id : id,
              Diagnostic{message, {file_, line_number, column}, line(line_number), hint});
}

void TomlText::fail_syntax(std::uint32_t line_number, std::uint32_t column, std::string_view message) const {
  fail(line_number, column, std::string(message), form_.hint, form_.syntax_id);
}

void TomlText::fail_key(std::uint32_t line_number, std::uint32_t column, const std::string& key,
                        const std::vector<std::string>& known, const char* where) const {
  const std::string near = nearest_name(key.substr(0, 200), known);
  fail(line_number, column, fmt::format("unknown key '{}' in a {}", shown(key, 60), where),
       near.empty() ? fmt::format("known: {}", fmt::join(known, ", "))
                    : fmt::format("did you mean '{}'?", near));
}

}  // namespace simtlab
