#include "base/shown.h"

#include <algorithm>

namespace simtlab {
namespace {

// What a terminal may take for a command: C0, DEL, and the C1 characters in UTF-8 (0xc2 0x80 to 0xc2 0x9f).
bool is_control(std::string_view text, std::size_t i) {
  const auto byte = static_cast<unsigned char>(text[i]);
  if (byte < 0x20 || byte == 0x7f) return true;
  if (byte != 0xc2 || i + 1 >= text.size()) return false;
  const auto next = static_cast<unsigned char>(text[i + 1]);
  return next >= 0x80 && next < 0xa0;
}

}  // namespace

std::string shown(std::string_view text, std::size_t most) {
  const bool cut = text.size() > most;
  if (cut) {
    std::size_t end = most;
    // Bytes 10xxxxxx continue a character; of text that is no UTF-8 at most three are looked at.
    for (int i = 0; i < 3 && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80; ++i) --end;
    text = text.substr(0, end);
  }
  std::string out;
  out.reserve(text.size() + 3);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_control(text, i)) {
      out += text[i];
      continue;
    }
    out += '?';
    if (static_cast<unsigned char>(text[i]) == 0xc2) ++i;
  }
  return cut ? out + "..." : out;
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
