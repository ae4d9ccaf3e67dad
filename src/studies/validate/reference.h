// Published measurements, data/measured/*.csv: comment lines that name the source, a line of column names,
// rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab::studies::validate {

class Table {
 public:
  // Throws Error(bad_input "measured-syntax") with the place.
  Table(const std::filesystem::path& file, std::string_view text);
  static Table read(const std::filesystem::path& file);

  std::size_t size() const { return rows_.size(); }
  bool has(std::string_view column) const;
  const std::string& text(std::size_t row, std::string_view column) const;
  double number(std::size_t row, std::string_view column) const;  // above 0

 private:
  struct Row {
    std::uint32_t line;
    std::vector<std::string> cells;
  };
  std::size_t column(std::string_view name) const;
  [[noreturn]] void wrong(std::uint32_t line, const std::string& what) const;

  std::string file_;
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
};

struct Point {
  double bytes = 0, value = 0;
};

// One measured curve: value by size, sizes rising.
struct Curve {
  std::string board;
  std::string set;  // what the board has other than the device file, key=value; may be empty
  std::vector<Point> points;
};

// The curves of `table` that a device file stands for (the column `devices` lists them, separated by ';').
std::vector<Curve> curves_of(const Table& table, std::string_view device, std::string_view value);

// Devices that the table names in a column, lists separated by ';'.
std::vector<std::string> devices_of(const Table& table, std::string_view column = "devices");

}  // namespace simtlab::studies::validate
