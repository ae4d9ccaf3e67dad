#include "result/coalescing.h"

#include <fmt/format.h>

#include "result/source_place.h"

namespace simtlab::result {
namespace {

std::string text_of(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? std::string() : *text;
}

// Rows are sorted: the first of the kind wastes most.
std::string worst_place(const KernelResult& kernel, const std::string& kind) {
  const Table* table = find(kernel.tables, "coalescing");
  if (table == nullptr) return {};
  const auto at = [&](const std::vector<Cell>& row, const char* name) -> const Cell& {
    return row[column("coalescing", name)];
  };
  for (const auto& row : table->rows) {
    if (text_of(at(row, "kind")) != kind) continue;
    const std::string file = text_of(at(row, "file"));
    if (file.empty()) return code_place(text_of(at(row, "ptx")), number(at(row, "ptx_line")));
    return source_place(file, number(at(row, "line")));
  }
  return {};
}

}  // namespace

std::optional<AccessUse> badly_coalesced(const KernelResult& kernel, const std::string& kind) {
  const std::string prefix = kind == "atomic" ? "atomic" : "global." + kind;
  const auto efficiency = kernel.metrics.get(prefix + ".efficiency"),
             sectors = kernel.metrics.get(prefix + ".sectors");
  if (!efficiency || *efficiency >= well_coalesced) return std::nullopt;
  // A result without sectors has no accesses to speak of only if it says so.
  if (sectors.value_or(1) == 0) return std::nullopt;
  return AccessUse{kind, *efficiency, sectors.value_or(0), worst_place(kernel, kind)};
}

std::vector<AccessUse> badly_coalesced(const KernelResult& kernel) {
  std::vector<AccessUse> out;
  for (const char* kind : {"load", "store", "atomic"})
    if (auto use = badly_coalesced(kernel, kind)) out.push_back(std::move(*use));
  return out;
}

}  // namespace simtlab::result
