#include "device/elasticity.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/text_file.h"
#include "device/catalogue.h"

namespace simtlab::device {
namespace {

constexpr std::uint64_t max_elasticity_bytes = 1 << 20;
constexpr std::size_t max_elasticity_line = 1024;
constexpr std::string_view elasticity_head = "device,key,change,kernel";

// The cells of a row; no cell of this file has quotes.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t from = 0;
  for (std::size_t comma = line.find(','); comma != std::string::npos; comma = line.find(',', from)) {
    cells.push_back(line.substr(from, comma - from));
    from = comma + 1;
  }
  cells.push_back(line.substr(from));
  return cells;
}

}  // namespace

std::vector<Elasticity> parse_elasticities(std::string_view text, const std::string& file) {
  const std::vector<std::string> lines = checked_lines(text, file, max_elasticity_line);
  std::vector<Elasticity> out;
  bool head = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.empty() || line.front() == '#') continue;
    const auto refuse = [&](const char* what) {
      Diagnostic d;
      d.message = what;
      d.pos = {file, static_cast<std::uint32_t>(i + 1), 1};
      d.text = line;
      d.hint = "tools/elasticity.py writes this file";
      throw Error(ExitCode::bad_input, "device-file", std::move(d));
    };
    if (!head) {
      if (line != elasticity_head) refuse("the first line is not 'device,key,change,kernel'");
      head = true;
      continue;
    }
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != 4 || cells[0].empty() || cells[1].empty()) refuse("a row has four cells");
    Elasticity row{cells[0], cells[1], 0, cells[3]};
    const char* const end = cells[2].data() + cells[2].size();
    const auto [stop, error] = std::from_chars(cells[2].data(), end, row.change);
    if (error != std::errc{} || stop != end || !(row.change >= 0))
      refuse("the change is no number from 0 on");
    out.push_back(std::move(row));
  }
  return out;
}

std::vector<Elasticity> load_elasticities() {
  const std::filesystem::path path = data_directory() / "devices" / "elasticity.csv";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  return parse_elasticities(read_file(path, max_elasticity_bytes, "file of elasticities"), path.string());
}

}  // namespace simtlab::device
