// Columns of numbers and text, compressed, in one file: a zip with a .npy for each, as numpy.savez_compressed
// writes it and numpy.load reads it (NumPy Enhancement Proposal 1, format 1.0). Little endian, one dimension.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace simtlab::result {

// f8, u8, i8, b1 and S: text has no zero bytes, and none is longer than most_text_bytes.
using Flags = std::vector<std::uint8_t>;  // 0 or 1 each
using Column = std::variant<std::vector<double>, std::vector<std::uint64_t>, std::vector<std::int64_t>, Flags,
                            std::vector<std::string>>;
inline constexpr std::size_t most_text_bytes = 256;
inline constexpr std::uint64_t most_column_rows = std::uint64_t{1} << 22;
// Of a file, and of what it unpacks to.
inline constexpr std::uint64_t max_columns_bytes = std::uint64_t{256} << 20,
                               max_unpacked_bytes = std::uint64_t{512} << 20;

class ColumnWriter {
 public:
  ColumnWriter();
  ~ColumnWriter();
  ColumnWriter(const ColumnWriter&) = delete;
  ColumnWriter& operator=(const ColumnWriter&) = delete;

  // Name: what numpy.load(file)[name] gets. Throws Error(failure, "columns-write") beyond the bounds above.
  void add(const std::string& name, const Column& column);
  bool empty() const;
  // The file. Nothing may be added afterwards.
  std::string finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Hostile input is an Error(bad_input, "result-columns").
class ColumnReader {
 public:
  // file: for messages.
  ColumnReader(std::string bytes, std::string file);
  ~ColumnReader();
  ColumnReader(const ColumnReader&) = delete;
  ColumnReader& operator=(const ColumnReader&) = delete;

  bool has(const std::string& name) const;
  // The column, which must have so many rows.
  Column read(const std::string& name, std::uint64_t rows);
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace simtlab::result
