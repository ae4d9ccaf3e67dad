// A cell of CSV (RFC 4180).
#pragma once

#include <string>
#include <string_view>

#include "base/shown.h"

namespace simtlab::report {

// Quoted where it must be. Line ends and tabs stay; what else a terminal would obey becomes '?'.
inline std::string csv_cell(std::string_view foreign) {
  const std::string text = shown_lines(foreign, foreign.size());
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace simtlab::report
