#include "base/text_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"

namespace simtlab {
namespace {

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
    const std::size_t length = utf8_at(line, i).length;
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
