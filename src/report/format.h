// Numbers, bars and names for people. Machine formats (JSON, CSV) never go through here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/shown.h"

namespace simtlab::report {

// How a terminal is served. The command line finds out; the library only obeys.
struct Style {
  bool colour = false;
  bool unicode = false;  // otherwise bars are ASCII
  unsigned width = 100;  // columns
};

std::string format_time(double ns);                // "812 ns", "12.3 us", "1.23 s"
std::string format_bytes(double bytes);            // "512 B", "1.50 KiB", "3.20 GiB"
std::string format_rate(double bytes_per_second);  // "1.35 TB/s" (decimal, as data sheets)
std::string format_count(double count);            // "950", "12.3 k", "4.56 M"
std::string format_exact(std::uint64_t count);     // "1,234,567"
std::string format_share(double ratio);            // "43.2 %", "<0.1 %"

// `width` cells of which `ratio` (clamped to 0..1) are filled.
std::string bar(double ratio, unsigned width, const Style& style);

// Names and texts come from input files: every printer passes them through this.
using simtlab::printable;
// The same, shortened to `width` columns.
std::string shortened(std::string_view text, std::size_t width);
// Pads with blanks to `width` columns (counts UTF-8 characters, not bytes).
std::string padded(std::string_view text, std::size_t width);
// Breaks at blanks into lines of at most `width` columns; lines after the first start with `indent` blanks.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

enum class Paint : std::uint8_t { bold, dim, good, warn, bad, accent };
std::string painted(std::string_view text, Paint paint, const Style& style);

}  // namespace simtlab::report
