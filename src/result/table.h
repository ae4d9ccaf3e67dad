// Tables of a result: many rows of the same columns, declared once with their units (tables.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace simtlab::result {

struct ColumnDeclaration {
  std::string_view name;  // "l1.read.misses"
  std::string_view unit;  // "1", "bytes"; "" of a text
  std::string_view doc;
};

struct TableDeclaration {
  std::string_view name;  // "instructions"
  std::string_view doc;   // one sentence
  std::vector<ColumnDeclaration> columns;
};
const std::vector<TableDeclaration>& table_registry();
const TableDeclaration* find_table(std::string_view name);  // null if there is none

// Nothing: the value does not exist for this row.
using Cell = std::variant<std::monostate, std::uint64_t, std::int64_t, double, std::string>;

struct Table {
  std::string name;                     // of a declaration
  std::vector<std::vector<Cell>> rows;  // a cell for each column
  bool operator==(const Table&) const = default;
};

// The column's place in its declaration; asserts that there is one.
std::size_t column(std::string_view table, std::string_view name);
// The value as a number; 0 for text and nothing.
double number(const Cell& cell);
// Null if the list has none of this name.
const Table* find(const std::vector<Table>& tables, std::string_view name);

}  // namespace simtlab::result
