// The tables of data/machine as text: lines, cells, numbers, and where one is wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace simtlab::machine {

// One line of a table, with what is needed to say where it is wrong.
struct Row {
  std::string_view file, text;
  std::uint32_t line = 0;

  // Throws Error(bad_input, "machine-forms").
  [[noreturn]] void wrong(const std::string& what) const;
};

// The parts of `text` between `mark`s, without spaces around them; empty ones, too.
std::vector<std::string_view> split(std::string_view text, char mark);
std::optional<unsigned> number(std::string_view text, int base = 10);
unsigned number_of(const Row& row, std::string_view text, unsigned below, int base = 10);
// "70+", "75-89", "90": first and last binary version.
std::pair<std::uint16_t, std::uint16_t> generations_of(const Row& row, std::string_view text);

// Calls each(row) for the lines behind the first, which names the columns.
template <class F>
void for_rows(std::string_view file, std::string_view text, F&& each) {
  std::uint32_t line = 0;
  for (const std::string_view row : split(text, '\n'))
    if (++line > 1 && !row.empty()) each(Row{file, row, line});
}

}  // namespace simtlab::machine
