#include "cli/commands/list_table.h"

#include <algorithm>
#include <cstddef>

#include "report/format.h"

namespace simtlab::cli {
namespace {

constexpr std::size_t widest_column = 56;  // longer cells push the rest of their line to the right

}  // namespace

std::string list_table(const std::vector<std::string>& head,
                       const std::vector<std::vector<std::string>>& rows, const ListFormat& format) {
  std::string out;
  if (format.markdown) {
    const auto escaped = [](std::string text) {
      for (std::size_t i = 0; (i = text.find('|', i)) != std::string::npos; i += 2) text.insert(i, 1, '\\');
      return text;
    };
    const auto row = [&](const std::vector<std::string>& cells) {
      for (const std::string& c : cells) out += "| " + escaped(c) + " ";
      out += "|\n";
    };
    row(head);
    for (std::size_t i = 0; i < head.size(); ++i) out += "|---";
    out += "|\n";
    for (const auto& cells : rows) row(cells);
    return out;
  }
  std::vector<std::size_t> widths(head.size(), 0);
  for (std::size_t i = 0; i < head.size(); ++i) {
    widths[i] = head[i].size();
    for (const auto& cells : rows) widths[i] = std::max(widths[i], std::min(cells[i].size(), widest_column));
  }
  const auto row = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i)
      text += i + 1 == cells.size() ? cells[i] : report::padded(cells[i], widths[i]) + "  ";
    out += text + "\n";
  };
  row(head);
  for (const auto& cells : rows) row(cells);
  return out;
}

}  // namespace simtlab::cli
