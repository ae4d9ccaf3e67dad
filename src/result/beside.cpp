#include "result/beside.h"

#include <algorithm>
#include <set>

namespace simtlab::result {
namespace {

constexpr const char* absent = ".absent";

// One column of a table; nothing if its values are of several types or do not suit.
std::optional<Column> column_of(const Table& table, std::size_t k) {
  std::size_t type = 0;  // of Cell; 0: nothing yet
  for (const std::vector<Cell>& row : table.rows) {
    if (row[k].index() == 0) continue;
    if (type == 0) type = row[k].index();
    if (row[k].index() != type) return {};
    if (const auto* text = std::get_if<std::string>(&row[k]);
        text != nullptr && (text->size() > most_text_bytes || text->find('\0') != std::string::npos))
      return {};
  }
  const auto collect = [&]<class Value>(Value none) {
    std::vector<Value> out;
    for (const std::vector<Cell>& row : table.rows)
      out.push_back(row[k].index() == 0 ? none : std::get<Value>(row[k]));
    return Column(std::move(out));
  };
  switch (type) {
    case 1: return collect(std::uint64_t{0});
    case 2: return collect(std::int64_t{0});
    case 4: return collect(std::string());
    default: return collect(0.0);
  }
}

Flags absent_of(const Table& table, std::size_t k) {
  Flags out;
  for (const std::vector<Cell>& row : table.rows) out.push_back(row[k].index() == 0);
  return out;
}

}  // namespace

bool Beside::take(const std::string& prefix, const Series& series) {
  if (series.rows.size() <= most_rows_inside || series.rows.size() > most_column_rows) return false;
  // Of a file that somebody else wrote the columns may have any names: each must be one that the reader finds
  // again.
  constexpr std::size_t longest_name = 256;
  const std::set<std::string> names(series.columns.begin(), series.columns.end());
  if (names.size() != series.columns.size() || std::ranges::any_of(names, [](const std::string& n) {
        return n.size() > longest_name || n.find('\0') != std::string::npos;
      }))
    return false;
  for (std::size_t k = 0; k < series.columns.size(); ++k) {
    std::vector<double> values;
    for (const std::vector<double>& row : series.rows) values.push_back(row[k]);
    writer_.add(prefix + "." + series.columns[k], values);
  }
  return true;
}

bool Beside::take(const std::string& prefix, const Table& table, const TableDeclaration& declaration) {
  if (table.rows.size() <= most_rows_inside || table.rows.size() > most_column_rows) return false;
  std::vector<Column> columns;
  for (std::size_t k = 0; k < declaration.columns.size(); ++k) {
    std::optional<Column> column = column_of(table, k);
    if (!column) return false;
    columns.push_back(*std::move(column));
  }
  for (std::size_t k = 0; k < declaration.columns.size(); ++k) {
    const std::string name = prefix + "." + std::string(declaration.columns[k].name);
    writer_.add(name, columns[k]);
    if (const Flags flags = absent_of(table, k); std::ranges::find(flags, 1) != flags.end())
      writer_.add(name + absent, flags);
  }
  return true;
}

void BesideReader::give(const std::string& prefix, std::uint64_t rows, Series& series) {
  for (std::size_t k = 0; k < series.columns.size(); ++k) {
    const Column column = reader_.read(prefix + "." + series.columns[k], rows);
    const auto* values = std::get_if<std::vector<double>>(&column);
    if (values == nullptr)
      reader_.refuse("column " + prefix + "." + series.columns[k] + " does not hold real numbers");
    series.rows.resize(values->size());
    for (std::size_t i = 0; i < values->size(); ++i) series.rows[i].push_back((*values)[i]);
  }
}

void BesideReader::give(const std::string& prefix, std::uint64_t rows, Table& table,
                        const TableDeclaration& declaration) {
  for (const ColumnDeclaration& declared : declaration.columns) {
    const std::string name = prefix + "." + std::string(declared.name);
    const Column column = reader_.read(name, rows);
    Flags none(rows, 0);
    if (reader_.has(name + absent)) {
      const Column flags = reader_.read(name + absent, rows);
      if (!std::holds_alternative<Flags>(flags))
        reader_.refuse("column " + name + absent + " does not hold flags");
      none = std::get<Flags>(flags);
    }
    if (std::holds_alternative<Flags>(column)) reader_.refuse("column " + name + " holds flags");
    table.rows.resize(rows);
    for (std::size_t i = 0; i < rows; ++i)
      table.rows[i].push_back(none[i] != 0
                                  ? Cell()
                                  : std::visit(
                                        [&](const auto& values) -> Cell {
                                          if constexpr (std::is_same_v<std::decay_t<decltype(values)>, Flags>)
                                            return {};
                                          else
                                            return values[i];
                                        },
                                        column));
  }
}

}  // namespace simtlab::result
