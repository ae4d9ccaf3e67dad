#include "report/cache_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/cells.h"
#include "report/format.h"
#include "report/hits.h"
#include "report/svg.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Result;
using result::Table;

const KernelResult* busiest(const Result& result) {
  const KernelResult* best = nullptr;
  for (const KernelResult& k : result.kernels)
    if (best == nullptr ||
        k.metrics.get("access.sectors").value_or(0) > best->metrics.get("access.sectors").value_or(0))
      best = &k;
  return best;
}

// A panel for each buffer: offset over order, coloured by thread; stores are rings. `name`: points of one SM,
// or sm_points of all, each in its own order.
std::string access_panels(const KernelResult& kernel, const char* name) {
  const bool all = std::string_view(name) == "sm_points";
  const Table* table = result::find(kernel.tables, name);
  if (table == nullptr || table->rows.empty()) return {};
  std::map<std::string, std::vector<std::size_t>> panels;
  double last = 0, threads = 1;
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    panels[words(*table, i, "buffer")].push_back(i);
    last = std::max(last, number(*table, i, "order"));
    threads = std::max(threads, number(*table, i, "thread"));
  }
  constexpr unsigned width = 760, height = 300;
  std::string inner;
  unsigned y = 0;
  for (const auto& [buffer, rows] : panels) {
    double least = 1e300, most = 0;
    for (const std::size_t i : rows)
      least = std::min(least, number(*table, i, "offset")),
      most = std::max(most, number(*table, i, "offset"));
    SvgChart chart(
        buffer,
        fmt::format(
            "Offset of each access to {} over the order of accesses on {}; colour: thread; rings: stores",
            buffer, all ? "its SM, all SMs together" : "one SM"),
        {.label = all ? "thread access of its SM, in order" : "thread access of the SM, in order",
         .low = 0,
         .high = last},
        {.label = "offset in the buffer", .low = least, .high = std::max(most, least + 1), .bytes = true});
    for (const std::size_t i : rows)
      chart.point(number(*table, i, "order"), number(*table, i, "offset"),
                  svg_scale(number(*table, i, "thread") / threads), number(*table, i, "store") != 0);
    inner += fmt::format("<g transform=\"translate(0 {})\">{}</g>\n", y, chart.text());
    y += height;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\">\n{2}</svg>\n",
      width, y, inner);
}

std::string set_chart(const KernelResult& kernel) {
  const Table* table = result::find(kernel.tables, "sets");
  if (table == nullptr || table->rows.empty()) return {};
  double most = 1;
  for (std::size_t i = 0; i < table->rows.size(); ++i) most = std::max(most, number(*table, i, "accesses"));
  SvgChart chart("Pressure on the sets of L1", "Reads of each set: hits, other misses and conflict misses",
                 {.label = "set", .low = 0, .high = static_cast<double>(table->rows.size()), .whole = true},
                 {.label = "reads, all SMs", .low = 0, .high = most * 1.05});
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    const double accesses = number(*table, i, "accesses"), misses = number(*table, i, "misses"),
                 conflicts = number(*table, i, "conflicts");
    const std::string tip = fmt::format("set {}: {:.0f} reads, {:.0f} misses, {:.0f} of them conflicts", i,
                                        accesses, misses, conflicts);
    const auto at = static_cast<double>(i);
    chart.bar(at, at + 1, accesses, "bc", tip);
    chart.bar(at, at + 1, misses, "ba", tip);
    chart.bar(at, at + 1, conflicts, "bb", tip);
  }
  chart.name("bc", "hits");
  chart.name("ba", "other misses");
  chart.name("bb", "conflict misses");
  return chart.text();
}

// A row an SM, a column a set: where the misses are.
std::string set_map(const KernelResult& kernel) {
  const Table* table = result::find(kernel.tables, "set_map");
  if (table == nullptr || table->rows.empty()) return {};
  double sms = 1, sets = 1, most = 1;
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    sms = std::max(sms, number(*table, i, "sm") + 1);
    sets = std::max(sets, number(*table, i, "set") + 1);
    most = std::max(most, number(*table, i, "misses"));
  }
  SvgChart chart("Misses by SM and set",
                 fmt::format("Misses of each set of each L1, from none (dark) to {:.0f} (bright)", most),
                 {.label = fmt::format("set (bright: {:.0f} {})", most, most == 1 ? "miss" : "misses"),
                  .low = 0,
                  .high = sets,
                  .whole = true},
                 {.label = "SM", .low = 0, .high = sms, .whole = true}, 760,
                 static_cast<unsigned>(std::clamp(120 + 12 * sms, 240.0, 900.0)));
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    const double sm = number(*table, i, "sm"), set = number(*table, i, "set"),
                 misses = number(*table, i, "misses");
    chart.cell(set, sm, svg_scale(misses / most),
               fmt::format("SM {:.0f}, set {:.0f}: {:.0f} misses of {:.0f} reads", sm, set, misses,
                           number(*table, i, "accesses")));
  }
  return chart.text();
}

std::string reuse_chart(const KernelResult& kernel) {
  const Table* table = result::find(kernel.tables, "reuse");
  if (table == nullptr || table->rows.empty()) return {};
  double most = 1, far = 2;
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    most = std::max(most, number(*table, i, "accesses"));
    far = std::max(far, number(*table, i, "to") + 2);
  }
  // The first times of lines stand at the right end, beyond all distances.
  SvgChart chart("Reuse distances in L1",
                 "Line reads by the number of other lines read since; the last bar: first reads",
                 {.label = "other lines since, plus 1 (last bar: read for the first time)",
                  .low = 1,
                  .high = far * 4,
                  .logarithmic = true},
                 {.label = "line reads", .low = 0, .high = most * 1.05});
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    const double n = number(*table, i, "accesses");
    const bool first = std::holds_alternative<std::monostate>(table->rows[i][0]);
    const double from = first ? far * 2 : number(*table, i, "from") + 1,
                 to = first ? far * 4 : number(*table, i, "to") + 2;
    chart.bar(from, to, n, first ? "bc" : "ba",
              first ? fmt::format("first reads: {:.0f}", n)
                    : fmt::format("{:.0f} to {:.0f} lines: {:.0f} reads", from - 1, to - 2, n));
  }
  return chart.text();
}

std::string curve_chart(const KernelResult& kernel) {
  const Table* table = result::find(kernel.tables, "miss_ratio");
  if (table == nullptr || table->rows.empty()) return {};
  std::vector<std::pair<double, double>> l1, l2;
  double low = 1e300, high = 0;
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    const double bytes = number(*table, i, "bytes");
    low = std::min(low, bytes), high = std::max(high, bytes);
    (words(*table, i, "cache") == "l1" ? l1 : l2).emplace_back(bytes, number(*table, i, "ratio"));
  }
  SvgChart chart("Misses over capacity", "Share of line reads that miss a fully associative LRU cache",
                 {.label = "capacity (fully associative, LRU)",
                  .low = low,
                  .high = std::max(high, 2 * low),
                  .logarithmic = true,
                  .bytes = true},
                 {.label = "misses", .low = 0, .high = 1, .share = true});
  chart.line(l1, "a", "each L1");
  chart.line(l2, "b", "L2");
  return chart.text();
}

std::string table_of(const Table& table, const std::vector<const char*>& columns) {
  std::string out = "<table><thead><tr>";
  for (const char* c : columns) out += fmt::format("<th scope=\"col\">{}</th>", c);
  out += "</tr></thead><tbody>\n";
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    out += "<tr>";
    for (const char* c : columns) {
      const result::Cell& cell = table.rows[i][result::column(table.name, c)];
      const std::string_view name(c);
      std::string text;
      if (std::holds_alternative<std::string>(cell))
        text = svg_escaped(words(table, i, c));
      else if (!std::holds_alternative<std::monostate>(cell))
        text = name.ends_with("rate") || name == "use" || name == "ratio"
                   ? format_share(result::number(cell))
                   : fmt::format("{:.10g}", result::number(cell));
      out +=
          fmt::format("<td{}>{}</td>", std::holds_alternative<std::string>(cell) ? "" : " class=\"n\"", text);
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table>\n";
}

constexpr std::string_view page_style =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 "
    "1rem;background:#fff;color:#222}h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}"
    "table{border-collapse:collapse;font-size:13px}td,th{padding:.2rem .6rem;border-bottom:1px solid "
    "#8884;text-align:left}.n{text-align:right;font-variant-numeric:tabular-nums}"
    "svg{max-width:100%;height:auto}details{margin:.5rem "
    "0}@media(prefers-color-scheme:dark){body{background:#1b1b1f;color:#ddd}}@media "
    "print{details{display:none}}";

std::string page(const Result& result, const KernelResult& k, const std::vector<Picture>& pictures) {
  const std::string name = svg_escaped(k.demangled.empty() ? k.name : k.demangled);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>Caches: {}</title><style>{}</style></head><body>\n",
      name, page_style);
  out += fmt::format(
      "<h1>{}</h1>\n<p>Grid {}×{}×{}, block {}×{}×{} on {}. L1 {}, {} ways, {}, set index {}.{}</p>\n", name,
      k.grid[0], k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2],
      svg_escaped(result.manifest.device), configured(result, "l1.bytes"), configured(result, "l1.ways"),
      configured(result, "l1.replacement"), configured(result, "l1.set_index"),
      k.order.empty() ? std::string() : fmt::format(" Accesses in the order {}.", svg_escaped(k.order)));
  const auto get = [&](const char* metric) { return k.metrics.get(metric).value_or(0); };
  out += fmt::format(
      "<p>L1: {:.0f} reads, {}, {} misses (cold {:.0f}, partial {:.0f}, capacity {:.0f}, conflict {:.0f}, "
      "invalidated {:.0f}).</p>\n",
      get("l1.read.accesses"), format_hits(k.metrics, "l1"), format_share(get("l1.read.miss_rate")),
      get("l1.read.misses.cold"), get("l1.read.misses.partial"), get("l1.read.misses.capacity"),
      get("l1.read.misses.conflict"), get("l1.read.misses.invalidated"));
  if (const Table* advice = result::find(k.tables, "advice"); advice != nullptr && !advice->rows.empty()) {
    out += "<h2>What stands out</h2><ul>\n";
    for (std::size_t i = 0; i < advice->rows.size(); ++i)
      out += fmt::format("<li>{}</li>\n", svg_escaped(words(*advice, i, "text")));
    out += "</ul>\n";
  }
  const auto section = [&](const char* title, const char* table, const std::vector<const char*>& columns,
                           bool open) {
    const Table* t = result::find(k.tables, table);
    if (t == nullptr || t->rows.empty()) return;
    out += fmt::format("<h2>{}</h2>\n<details{}><summary>Table</summary>\n{}</details>\n", title,
                       open ? " open" : "", table_of(*t, columns));
  };
  for (const Picture& p : pictures) out += fmt::format("<figure>{}</figure>\n", p.content);
  section("Buffers", "buffers",
          {"name", "size", "requests", "threads", "sectors", "use", "l1.read.accesses", "l1.read.miss_rate",
           "l2.read.accesses", "l2.read.misses"},
          true);
  section("Instructions", "instructions",
          {"kind", "ptx_line", "ptx", "requests", "sectors", "use", "stride", "buffer", "l1.read.accesses",
           "l1.read.miss_rate", "l1.read.misses.cold", "l1.read.misses.capacity", "l1.read.misses.conflict"},
          true);
  section("SMs", "sms", {"sm", "blocks", "l1.read.accesses", "l1.read.misses", "l1.read.miss_rate"}, false);
  section("Sets of L1", "sets", {"set", "accesses", "misses", "conflicts"}, false);
  section("Reuse distances", "reuse", {"from", "to", "accesses"}, false);
  section("Misses over capacity", "miss_ratio", {"cache", "bytes", "lines", "ratio"}, false);
  return out + "</body></html>\n";
}

}  // namespace

std::vector<Picture> cache_pictures(const Result& result) {
  const KernelResult* kernel = busiest(result);
  std::vector<Picture> out;
  if (kernel == nullptr) return out;
  const auto add = [&](const char* file, std::string content) {
    if (!content.empty()) out.push_back({file, std::move(content)});
  };
  add("accesses.svg", access_panels(*kernel, "points"));
  add("accesses_sms.svg", access_panels(*kernel, "sm_points"));
  add("sets.svg", set_chart(*kernel));
  add("set_map.svg", set_map(*kernel));
  add("reuse.svg", reuse_chart(*kernel));
  add("miss_ratio.svg", curve_chart(*kernel));
  out.push_back({"cache.html", page(result, *kernel, out)});
  return out;
}

}  // namespace simtlab::report
