// Rows as CSV (RFC 4180) and back.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "base/text_file.h"
#include "studies/validate/rows.h"

namespace simtlab::studies::validate {
namespace {

constexpr std::size_t most_line = 4096;
constexpr std::uint64_t most_bytes = 16 << 20;
constexpr std::string_view heading =
    "group,device,quantity,over,unit,source,low,high,ours,error,worst,target,worst_target,role,note";
constexpr std::size_t columns = 15;

[[noreturn]] void wrong_row(const std::string& file, std::uint32_t line, const std::string& what) {
  throw Error(ExitCode::bad_input, "validation-rows",
              Diagnostic{what, {file, line, 0}, {}, "`simtlab validate --update` writes these files anew"});
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"#") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// Errors to a ten-thousandth of a point, other values to six digits.
std::string share(double v) {
  const double r = std::round(v * 1e6) / 1e6;
  return fmt::format("{:.6g}", r == 0 ? 0.0 : r);
}
std::string share(const std::optional<double>& v) { return v ? share(*v) : ""; }
std::string figure(const std::optional<double>& v) { return v ? fmt::format("{:.9g}", *v) : ""; }

std::vector<std::string> cells_of(const std::string& line, const std::string& file, std::uint32_t number) {
  std::vector<std::string> out(1);
  bool inside = false, closed = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (inside) {
      if (c != '"')
        out.back() += c;
      else if (i + 1 < line.size() && line[i + 1] == '"')
        out.back() += line[++i];
      else
        inside = false, closed = true;
    } else if (c == ',') {
      out.emplace_back(), closed = false;
    } else if (c == '"' && out.back().empty() && !closed) {
      inside = true;
    } else if (c == '"' || closed) {
      wrong_row(file, number, "a quotation mark in the middle of a cell");
    } else {
      out.back() += c;
    }
  }
  if (inside) wrong_row(file, number, "a cell without its closing quotation mark");
  if (out.size() != columns)
    wrong_row(file, number, fmt::format("{} cells in a row of {} columns", out.size(), columns));
  return out;
}

Row row_of(const std::vector<std::string>& cells, const std::string& file, std::uint32_t line) {
  const auto number = [&](std::size_t i) -> std::optional<double> {
    const std::string& cell = cells[i];
    if (cell.empty()) return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc{} || end != cell.data() + cell.size() || !std::isfinite(value))
      wrong_row(file, line, fmt::format("'{}' is no number", cell));
    return value;
  };
  if (cells[0].empty() || cells[2].empty()) wrong_row(file, line, "a row without its group or quantity");
  const auto error = number(9);
  if (!error) wrong_row(file, line, "a row without an error");
  Row row{cells[0],  cells[1], cells[2],   cells[3],   cells[4],   cells[5],          number(6), number(7),
          number(8), *error,   number(10), number(11), number(12), Role::independent, cells[14]};
  for (const Role role : {Role::tuned, Role::held_out, Role::independent, Role::by_construction})
    if (name_of(role) == cells[13]) {
      row.role = role;
      return row;
    }
  wrong_row(file, line,
            fmt::format("there is no role '{}': tuned, held out, independent or by construction", cells[13]));
}

}  // namespace

std::string to_csv(const std::vector<Row>& rows, std::string_view comment) {
  std::string out;
  for (std::size_t at = 0; at < comment.size();) {
    const std::size_t end = std::min(comment.find('\n', at), comment.size());
    out += fmt::format("# {}\n", comment.substr(at, end - at));
    at = end + 1;
  }
  out += fmt::format("{}\n", heading);
  for (const Row& r : rows) {
    for (const std::string& text : {r.group, r.device, r.quantity, r.over, r.unit, r.source})
      out += quoted(text) + ",";
    out += fmt::format("{},{},{},{},{},{},{},{},{}\n", figure(r.low), figure(r.high), figure(r.ours),
                       share(r.error), share(r.worst), share(r.target), share(r.worst_target),
                       name_of(r.role), quoted(r.note));
  }
  return out;
}

std::vector<Row> parse_csv(const std::string& file, std::string_view text) {
  std::vector<Row> out;
  std::vector<std::string> names;
  bool headed = false;
  std::uint32_t number = 0;
  for (const std::string& line : checked_lines(text, file, most_line)) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    if (!headed) {
      if (line != heading) wrong_row(file, number, fmt::format("the columns are not {}", heading));
      headed = true;
      continue;
    }
    out.push_back(row_of(cells_of(line, file, number), file, number));
    names.push_back(out.back().name());
    if (std::ranges::count(names, names.back()) > 1)
      wrong_row(file, number, fmt::format("'{}' is there twice", names.back()));
  }
  if (!headed) wrong_row(file, number, "no line of column names");
  return out;
}

std::vector<Row> read_rows(const std::filesystem::path& file) {
  return parse_csv(file.string(), read_file(file, most_bytes, "rows of a validation"));
}

Row rounded(const Row& row) { return parse_csv("row", to_csv({row}, "")).front(); }

}  // namespace simtlab::studies::validate
