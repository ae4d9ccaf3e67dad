#include "probe/analysis/curve.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "base/text_file.h"

namespace simtlab::probe {
namespace {

constexpr std::size_t max_curve_line = 1024;
constexpr std::uint64_t max_curve_file = 4 << 20;
constexpr double largest_size = 0x1p53;  // every whole number of bytes up to here is a double
constexpr double largest_value = 1e15;
constexpr const char* curve_columns = "columns are size_bytes,cycles and, if you like, weight";

struct CurveCell {
  std::string_view text;
  std::size_t column = 0;  // from 1
};

std::vector<CurveCell> cells_of(std::string_view line) {
  std::vector<CurveCell> out;
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(line.find(',', at), line.size());
    std::size_t first = at, last = end;
    while (first < last && (line[first] == ' ' || line[first] == '\t')) ++first;
    while (last > first && (line[last - 1] == ' ' || line[last - 1] == '\t')) --last;
    out.push_back({line.substr(first, last - first), first + 1});
    if (end == line.size()) return out;
    at = end + 1;
  }
}

class CurveParser {
 public:
  explicit CurveParser(const std::string& file) : file_(file) {}

  Curve parse(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // spreadsheets write it
    for (const std::string& line : checked_lines(text, file_, max_curve_line)) {
      ++number_;
      line_ = line;
      const std::size_t begin = line.find_first_not_of(" \t");
      if (begin == std::string::npos || line[begin] == '#') continue;
      if (columns_ == 0)
        header(cells_of(line));
      else
        row(cells_of(line));
    }
    if (columns_ == 0) wrong("curve-syntax", 0, "there is no line of column names", curve_columns);
    if (curve_.size() < least_points) {
      line_.clear();
      wrong("curve-points", 0,
            fmt::format("{} points; levels can't be told from chance with fewer than {}", curve_.size(),
                        least_points),
            "measure more sizes: at least four on each level, better ten");
    }
    return std::move(curve_);
  }

 private:
  [[noreturn]] void wrong(const char* id, std::size_t column, std::string what, std::string hint) const {
    throw Error(
        ExitCode::bad_input, id,
        Diagnostic{std::move(what),
                   {file_, column == 0 && line_.empty() ? 0 : number_, static_cast<std::uint32_t>(column)},
                   line_,
                   std::move(hint)});
  }

  void header(const std::vector<CurveCell>& cells) {
    constexpr std::array<std::string_view, 3> names = {"size_bytes", "cycles", "weight"};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::size_t which = 0;
      while (which < names.size() && names[which] != cells[i].text) ++which;
      if (which == names.size())
        wrong("curve-syntax", cells[i].column,
              fmt::format("there is no column '{}'", shown(std::string(cells[i].text))), curve_columns);
      if (place_[which])
        wrong("curve-syntax", cells[i].column, fmt::format("a second column '{}'", names[which]),
              curve_columns);
      place_[which] = i;
    }
    for (std::size_t which = 0; which < 2; ++which)
      if (!place_[which])
        wrong("curve-syntax", 1, fmt::format("no column '{}'", names[which]), curve_columns);
    columns_ = cells.size();
  }

  double value(const CurveCell& cell, const char* name, double most) const {
    double v = 0;
    const char* const end = cell.text.data() + cell.text.size();
    const auto [stop, error] = std::from_chars(cell.text.data(), end, v);
    if (error == std::errc::invalid_argument || stop != end || cell.text.empty())
      wrong("curve-value", cell.column, fmt::format("'{}' is no number", shown(std::string(cell.text))),
            fmt::format("{} is a number without a unit, such as 131072 or 28.5", name));
    if (error != std::errc{} || !(v > 0) || !(v <= most))
      wrong("curve-value", cell.column,
            fmt::format("{} is {}, not above 0 and up to {:g}", name, shown(std::string(cell.text)), most),
            "leave out sizes that could not be measured: the line, not the value");
    return v;
  }

  void row(const std::vector<CurveCell>& cells) {
    if (cells.size() != columns_)
      wrong("curve-syntax", 1, fmt::format("{} values in a row of {} columns", cells.size(), columns_),
            curve_columns);
    if (curve_.size() == most_points)
      wrong("curve-points", 1, fmt::format("more than {} points", most_points),
            "a curve needs some hundred: take the median of each size");
    const CurveCell& size = cells[*place_[0]];
    CurvePoint p{value(size, "size_bytes", largest_size), value(cells[*place_[1]], "cycles", largest_value),
                 1};
    if (place_[2]) p.weight = value(cells[*place_[2]], "weight", largest_value);
    if (!curve_.empty() && p.bytes == curve_.back().bytes)
      wrong("curve-order", size.column, fmt::format("size {} is there twice", shown(std::string(size.text))),
            "one line a size: the median of its samples, their number as weight");
    if (!curve_.empty() && p.bytes < curve_.back().bytes)
      wrong("curve-order", size.column,
            fmt::format("size {} follows {:.17g}", shown(std::string(size.text)), curve_.back().bytes),
            "sort the lines by size (sort -t, -g)");
    curve_.push_back(p);
  }

  const std::string& file_;
  std::string line_;
  std::uint32_t number_ = 0;
  std::size_t columns_ = 0;
  std::array<std::optional<std::size_t>, 3> place_;
  Curve curve_;
};

}  // namespace

Curve parse_curve(std::string_view text, const std::string& file) { return CurveParser(file).parse(text); }

Curve read_curve(const std::filesystem::path& file) {
  return parse_curve(read_file(file, max_curve_file, "curve"), file.string());
}

}  // namespace simtlab::probe
