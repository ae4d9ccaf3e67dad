// Single values of a result by their names.
#pragma once

#include <string>
#include <string_view>

#include "result/metrics.h"
#include "result/table.h"

namespace simtlab::report {

inline const result::Cell& cell(const result::Table& table, std::size_t row, std::string_view name) {
  return table.rows[row][result::column(table.name, name)];
}
inline double number(const result::Table& table, std::size_t row, std::string_view name) {
  return result::number(cell(table, row, name));
}
// Empty for what is no text.
inline std::string words(const result::Table& table, std::size_t row, std::string_view name) {
  const auto* text = std::get_if<std::string>(&cell(table, row, name));
  return text == nullptr ? std::string() : *text;
}

// Of the effective configuration, as the manifest has it; empty: it has none.
inline std::string configured(const result::Result& result, std::string_view key) {
  for (const result::ConfigValue& c : result.manifest.configuration)
    if (c.key == key) return c.value;
  return {};
}

}  // namespace simtlab::report
