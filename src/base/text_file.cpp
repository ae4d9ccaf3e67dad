#include "base/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/error.h"

namespace simtlab {
namespace {

// Bytes of the UTF-8 character at the start of `text`; 0 if there is none. Refuses over-long forms,
// surrogates and what lies beyond U+10FFFF.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
  return length;
}

[[noreturn]] void refuse(std::string message, std::string_view line, std::size_t column, std::size_t number,
                         const std::string& file) {
  Diagnostic d;
  d.message = std::move(message);
  d.pos = {file, static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(column + 1)};
  d.text = std::string(line);
  d.hint = "the file must be plain text in UTF-8; is it the right file?";
  throw Error(ExitCode::bad_input, "text-encoding", std::move(d));
}

void check_line(std::string_view line, std::size_t number, const std::string& file,
                std::size_t max_line_bytes) {
  if (line.size() > max_line_bytes)
    refuse(fmt::format("a line of more than {} bytes", max_line_bytes), line, max_line_bytes, number, file);
  for (std::size_t i = 0; i < line.size();) {
    const auto byte = static_cast<unsigned char>(line[i]);
    if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
      refuse(fmt::format("control character 0x{:02x}", byte), line, i, number, file);
    const std::size_t length = utf8_length(line.substr(i));
    if (length == 0) refuse(fmt::format("byte 0x{:02x} is no UTF-8", byte), line, i, number, file);
    i += length;
  }
}

}  // namespace

std::vector<std::string> checked_lines(std::string_view text, const std::string& file,
                                       std::size_t max_line_bytes) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    check_line(line, lines.size() + 1, file, max_line_bytes);
    lines.emplace_back(line);
  }
  return lines;
}

}  // namespace simtlab
