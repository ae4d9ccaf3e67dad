// The large parts of a result (series and tables of many rows) stand beside its JSON as compressed columns
// (columns.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "result/columns.h"
#include "result/profile.h"
#include "result/table.h"

namespace simtlab::result {

// Rows that JSON still holds itself.
inline constexpr std::size_t most_rows_inside = 4096;

// Takes the large parts while the JSON is written. Rows of `columns` columns are named PREFIX.COLUMN.
class Beside {
 public:
  // True: the rows are beside the JSON; false: they belong into it.
  bool take(const std::string& prefix, const Series& series);
  // Tables whose columns mix types, or hold long texts, are not taken. Where a value does not exist,
  // PREFIX.COLUMN.absent is true.
  bool take(const std::string& prefix, const Table& table, const TableDeclaration& declaration);

  // The file, after everything was offered; empty: nothing is beside.
  std::string finish() { return writer_.empty() ? std::string() : writer_.finish(); }

 private:
  ColumnWriter writer_;
};

// Gives the large parts back while the JSON is read.
class BesideReader {
 public:
  BesideReader(std::string bytes, std::string file) : reader_(std::move(bytes), std::move(file)) {}
  void give(const std::string& prefix, std::uint64_t rows, Series& series);
  void give(const std::string& prefix, std::uint64_t rows, Table& table, const TableDeclaration& declaration);

 private:
  ColumnReader reader_;
};

}  // namespace simtlab::result
