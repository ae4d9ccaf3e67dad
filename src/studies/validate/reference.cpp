#include "studies/validate/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/files.h"
#include "base/text_file.h"

namespace simtlab::studies::validate {
namespace {

constexpr std::size_t max_line = 4096;
constexpr std::uint64_t max_file = 16 << 20;

std::vector<std::string> split(std::string_view line, char separator) {
  std::vector<std::string> out;
  for (std::size_t at = 0;;) {
    const std::size_t end = line.find(separator, at);
    out.emplace_back(line.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return out;
    at = end + 1;
  }
}

bool names(std::string_view list, std::string_view device) {
  const std::vector<std::string> all = split(list, ';');
  return std::ranges::find(all, device) != all.end();
}

}  // namespace

Table::Table(const std::filesystem::path& file, std::string_view text) : file_(file.string()) {
  std::uint32_t number = 0;
  for (const std::string& line : checked_lines(text, file_, max_line)) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    if (columns_.empty()) {
      columns_ = split(line, ',');
      continue;
    }
    Row row{number, split(line, ',')};
    if (row.cells.size() != columns_.size())
      wrong(number, fmt::format("{} values in a row of {} columns", row.cells.size(), columns_.size()));
    rows_.push_back(std::move(row));
  }
  if (columns_.empty()) wrong(0, "no line of column names");
}

Table Table::read(const std::filesystem::path& file) {
  return {file, read_file(file, max_file, "table of measurements")};
}

void Table::wrong(std::uint32_t line, const std::string& what) const {
  throw Error(ExitCode::bad_input, "measured-syntax",
              Diagnostic{what, {file_, line, 0}, {}, "comment lines with #, a line of column names, rows"});
}

std::size_t Table::column(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name);
  if (found == columns_.end()) wrong(0, fmt::format("no column '{}'", name));
  return static_cast<std::size_t>(found - columns_.begin());
}

const std::string& Table::text(std::size_t row, std::string_view name) const {
  return rows_[row].cells[column(name)];
}

bool Table::has(std::string_view name) const { return std::ranges::find(columns_, name) != columns_.end(); }

double Table::number(std::size_t row, std::string_view name) const {
  const std::string& cell = text(row, name);
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc{} || end != cell.data() + cell.size() || !(value > 0))
    wrong(rows_[row].line, fmt::format("'{}' in column '{}' is no number above 0", cell, name));
  return value;
}

std::vector<Curve> curves_of(const Table& table, std::string_view device, std::string_view value) {
  std::vector<Curve> out;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!names(table.text(i, "devices"), device)) continue;
    const std::string& board = table.text(i, "board");
    auto curve = std::ranges::find(out, board, &Curve::board);
    if (curve == out.end()) curve = out.insert(out.end(), {board, table.text(i, "set"), {}});
    curve->points.push_back({table.number(i, "kib") * 1024, table.number(i, value)});
  }
  for (Curve& curve : out) std::ranges::sort(curve.points, {}, &Point::bytes);
  return out;
}

std::vector<std::string> devices_of(const Table& table, std::string_view column) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < table.size(); ++i)
    for (std::string& name : split(table.text(i, column), ';'))
      if (std::ranges::find(out, name) == out.end()) out.push_back(std::move(name));
  return out;
}

}  // namespace simtlab::studies::validate
