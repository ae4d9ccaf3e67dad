#include "base/shown.h"

#include <algorithm>

#include "base/utf8.h"

namespace simtlab {

bool is_command(std::uint32_t code) {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
  if (code == 0x61c || code == 0x200e || code == 0x200f) return true;  // marks of direction
  return (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const Utf8 c = utf8_at(text, i);
    const std::size_t length = std::max<std::size_t>(c.length, 1);
    if (c.length == 0 || is_command(c.code))
      out += '?';
    else
      out += text.substr(i, length);
    i += length;
  }
  return out;
}

std::string shown(std::string_view text, std::size_t most) {
  if (text.size() <= most) return printable(text);
  std::size_t end = most;
  // Bytes 10xxxxxx continue a character; of text that is no UTF-8 at most three are looked at.
  for (int i = 0; i < 3 && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80; ++i) --end;
  return printable(text.substr(0, end)) + "...";
}

std::string shown_lines(std::string_view text, std::size_t most_in_line) {
  std::string out;
  for (;;) {
    const std::size_t end = std::min(text.find_first_of("\n\t"), text.size());
    out += shown(text.substr(0, end), most_in_line);
    if (end == text.size()) return out;
    out += text[end];
    text.remove_prefix(end + 1);
  }
}

}  // namespace simtlab
