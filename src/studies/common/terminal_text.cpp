#include "studies/common/terminal_text.h"

#include <algorithm>

#include "base/shown.h"
#include "base/utf8.h"

namespace simtlab::studies {
namespace {

// Bytes of the sequence that sets colours at text[i]; 0: it is none.
std::size_t colour_length(std::string_view text, std::size_t i) {
  if (!text.substr(i).starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", i + 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 - i : 0;
}

// Bytes at text[i] that pass; 0: none.
std::size_t passing(std::string_view text, std::size_t i) {
  if (text[i] == '\n' || text[i] == '\t') return 1;
  if (text[i] == '\r') return i + 1 < text.size() && text[i + 1] == '\n' ? 2 : 0;
  if (text[i] == '\x1b') return colour_length(text, i);
  const Utf8 c = utf8_at(text, i);
  return c.length == 0 || is_command(c.code) ? 0 : c.length;
}

}  // namespace

std::string terminal_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = passing(text, i);
    if (length > 0)
      out += text.substr(i, length);
    else
      out += '?';
    i += std::max({length, utf8_at(text, i).length, std::size_t{1}});
  }
  return out;
}

}  // namespace simtlab::studies
