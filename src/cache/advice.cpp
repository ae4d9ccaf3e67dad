// What stands out in the tables of a launch, in words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <initializer_list>

#include "cache/study_impl.h"
#include "result/source_place.h"
#include "stream/coalescer.h"

namespace simtlab::cache {
namespace {

using result::Cell;
using result::Table;

constexpr double poor_use = 0.6;        // of the bytes of a sector
constexpr double worth_moving = 2;      // sectors of a request
constexpr double worth_a_word = 0.05;   // of the sectors, or of the reads
constexpr double many_conflicts = 0.2;  // of the misses
constexpr std::size_t most = 5;

struct Row {
  std::vector<Cell> cells;
  static std::size_t at(const char* name) { return result::column("instructions", name); }
  double number(const char* name) const { return result::number(cells[at(name)]); }
  std::string text(const char* name) const {
    const auto* text = std::get_if<std::string>(&cells[at(name)]);
    return text == nullptr ? std::string() : *text;
  }
  std::string what() const { return text("buffer").empty() ? "memory" : text("buffer"); }
  std::string place() const {
    if (!text("file").empty()) return result::source_place(text("file"), number("line"));
    return fmt::format("{}, {}", text("function"), result::code_place(text("ptx"), number("ptx_line")));
  }
};

std::string uncoalesced(const Row& row) {
  const double per_request = row.number("sectors") / row.number("requests");
  std::string how = "with scattered addresses";
  if (!std::holds_alternative<std::monostate>(row.cells[Row::at("stride")]))
    how = fmt::format("with stride {} B between threads", row.number("stride"));
  const char* const done = row.text("kind") == "store"    ? "written"
                           : row.text("kind") == "atomic" ? "changed"
                                                          : "read";
  return fmt::format(
      "{} is {} {}, {:.3g} sectors a request, {:.3g} % of their bytes used ({}); neighbouring threads should "
      "access neighbouring elements, "
      "or stage a tile in shared memory",
      row.what(), done, how, per_request, row.number("use") * 100, row.place());
}

// An unrolled loop has copies of one access of the source: they are one to whoever reads the advice.
std::vector<Row> merged(const Table& instructions) {
  constexpr const char* summed[] = {
      "requests", "threads",          "lines",          "sectors",
      "bytes",    "l1.read.accesses", "l1.read.misses", "l1.read.misses.conflict"};
  std::vector<Row> out;
  for (const std::vector<Cell>& cells : instructions.rows) {
    const Row row{cells};
    const auto copy = std::ranges::find_if(out, [&](const Row& other) {
      return !row.text("file").empty() &&
             std::ranges::all_of(
                 std::initializer_list<const char*>{"function", "file", "line", "kind", "buffer"},
                 [&](const char* name) { return row.cells[Row::at(name)] == other.cells[Row::at(name)]; });
    });
    if (copy == out.end()) {
      out.push_back(row);
      continue;
    }
    for (const char* name : summed) copy->cells[Row::at(name)] = copy->number(name) + row.number(name);
    copy->cells[Row::at("use")] =
        copy->number("bytes") / std::max(copy->number("sectors") * stream::sector_bytes, 1.0);
    if (row.cells[Row::at("stride")] != copy->cells[Row::at("stride")])
      copy->cells[Row::at("stride")] = Cell{};
  }
  return out;
}

}  // namespace

Table advice(const Table& instructions, const result::Metrics& metrics, bool single_threads) {
  Table table{.name = "advice", .rows = {}};
  if (single_threads) {
    table.rows.push_back(
        {1.0, std::string("single threads take turns, which no GPU does: nothing is coalesced, and "
                          "what misses is due to this order as well; an order of warps says what to "
                          "change in the kernel")});
    return table;
  }
  std::vector<std::pair<double, std::string>> found;
  double sectors = 0, reads = 0;
  const std::vector<Row> rows = merged(instructions);
  for (const Row& row : rows) {
    sectors += row.number("sectors");
    reads += row.number("l1.read.accesses");
  }
  for (const Row& row : rows) {
    const double threads = row.number("threads") / row.number("requests");
    const double share = row.number("sectors") / std::max(sectors, 1.0);
    // What the bytes would need if they lay together: one sector is the least there is.
    const double needed = std::max(1.0, row.number("bytes") / row.number("requests") / 32);
    if (row.number("use") < poor_use && threads >= 2 &&
        row.number("sectors") / row.number("requests") >= needed + worth_moving && share >= worth_a_word)
      found.emplace_back(share, uncoalesced(row));
    const double conflicts = row.number("l1.read.misses.conflict");
    if (conflicts > many_conflicts * row.number("l1.read.misses") && conflicts > worth_a_word * reads)
      found.emplace_back(conflicts / reads, fmt::format("{:.3g} % of the L1 misses on {} are conflicts ({}): "
                                                        "lines that are in use together share sets; "
                                                        "pad rows by a line, or change the order of blocks",
                                                        conflicts / row.number("l1.read.misses") * 100,
                                                        row.what(), row.place()));
  }
  const auto value = [&](const char* name) { return metrics.get(name).value_or(0); };
  if (const double misses = value("l1.read.misses");
      misses > worth_a_word * reads && value("l1.read.misses.capacity") > misses / 2)
    found.emplace_back(value("l1.read.misses.capacity") / std::max(reads, 1.0),
                       fmt::format("{:.3g} % of the L1 misses are for capacity: more is in use than L1 "
                                   "holds; smaller tiles, fewer resident blocks or a larger L1 "
                                   "share (see the miss-ratio curve)",
                                   value("l1.read.misses.capacity") / misses * 100));
  if (const double use = value("l1.fetched.use"); value("l1.fetched.bytes") > 0 && use < 0.5)
    found.emplace_back(
        1 - use,
        fmt::format("{:.3g} % of the bytes that L1 fetches are read before they leave it", use * 100));
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.first > b.first; });
  if (found.size() > most) found.resize(most);
  for (auto& [share, text] : found) table.rows.push_back({share, std::move(text)});
  return table;
}

}  // namespace simtlab::cache
