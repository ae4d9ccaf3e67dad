#include "report/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "result/share_text.h"

namespace simtlab::report {
namespace {

// Three significant digits for a value in [1, 1000).
std::string three_digits(double v) {
  return v >= 99.95   ? fmt::format("{:.0f}", v)
         : v >= 9.995 ? fmt::format("{:.1f}", v)
                      : fmt::format("{:.2f}", v);
}

struct Step {
  double scale;
  const char* unit;
};

// The largest step whose rounded value is at least 1; `steps` ascend.
template <std::size_t N>
std::string scaled(double value, const Step (&steps)[N], const char* exact_unit) {
  const Step* best = nullptr;
  for (const Step& s : steps)
    if (std::abs(value) >= s.scale * 0.9995) best = &s;
  if (best == nullptr) {
    const bool whole = value == std::floor(value);
    return whole ? fmt::format("{:.0f}{}", value, exact_unit)
                 : fmt::format("{}{}", three_digits(value), exact_unit);
  }
  return fmt::format("{} {}", three_digits(value / best->scale), best->unit);
}

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

std::string format_time(double ns) {
  static constexpr Step steps[] = {{1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
  return scaled(ns, steps, " ns");
}

std::string format_bytes(double bytes) {
  static constexpr Step steps[] = {{1024.0, "KiB"},
                                   {1024.0 * 1024, "MiB"},
                                   {1024.0 * 1024 * 1024, "GiB"},
                                   {1024.0 * 1024 * 1024 * 1024, "TiB"}};
  return scaled(bytes, steps, " B");
}

std::string format_rate(double rate) {
  static constexpr Step steps[] = {{1e3, "kB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}, {1e12, "TB/s"}};
  return scaled(rate, steps, " B/s");
}

std::string format_count(double count) {
  static constexpr Step steps[] = {{1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}};
  return scaled(count, steps, "");
}

std::string format_exact(std::uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string format_share(double ratio) { return result::share_text(ratio); }

std::string bar(double ratio, unsigned width, const Style& style) {
  const double clamped = std::clamp(std::isfinite(ratio) ? ratio : 0.0, 0.0, 1.0);
  const auto filled = static_cast<unsigned>(std::lround(clamped * width));
  std::string out;
  for (unsigned i = 0; i < width; ++i) {
    if (style.unicode)
      out += i < filled ? "█" : "·";
    else
      out += i < filled ? '#' : '.';
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t width) {
  const std::string clean = printable(text);
  if (width < 4 || columns(clean) <= width) return clean;
  std::size_t end = 0;
  for (std::size_t n = 0; n < width - 3; ++n) end += utf8_at(clean, end).length;
  return clean.substr(0, end) + "...";
}

std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  for (std::size_t n = columns(text); n < width; ++n) out += ' ';
  return out;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t used = indent;
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t start = text.find_first_not_of(' ', i);
    if (start == std::string_view::npos) break;
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string_view word = text.substr(start, end - start);
    const std::size_t size = columns(word);
    if (!out.empty() && used + 1 + size > width) {
      out += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (!out.empty()) {
      out += ' ';
      ++used;
    }
    out += word;
    used += size;
    i = end;
  }
  return out;
}

std::string painted(std::string_view text, Paint paint, const Style& style) {
  if (!style.colour) return std::string(text);
  static constexpr const char* codes[] = {"1", "2", "32", "33", "31", "36"};
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<unsigned>(paint)], text);
}

}  // namespace simtlab::report
