// Charts of what was observed while a kernel ran: slots by line, and how it went over time.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "report/format.h"
#include "report/glossary.h"
#include "report/html_sections.h"
#include "report/html_writer.h"
#include "report/profile_text.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::LineProfile;
using result::Profile;

constexpr std::size_t lines_shown = 15, profile_parts_shown = 7, table_lines = 400;
constexpr double least_share = 0.002;

// Reasons with most slots; the others are one part together.
std::vector<std::size_t> largest(const Profile& p) {
  std::vector<std::size_t> order(p.reasons.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) {
    return i >= p.slots.size() || p.slots[i] == 0 || p.reasons[i] == "no_warp";
  });
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return p.slots[a] > p.slots[b]; });
  if (order.size() > profile_parts_shown) order.resize(profile_parts_shown);
  return order;
}

std::string label_of(const LineProfile& l) { return place_of(l); }

HtmlChart line_chart(const Profile& p, const std::vector<LineProfile>& lines, double all) {
  HtmlChart chart{
      "stacked",
      "Slots by line",
      "The lines that take most scheduler slots, divided by what the slots were lost to (selected: issued).",
      {},
      {{"line", "slots#", "mostly", "text"}, {}, ""}};
  const std::vector<std::size_t> parts = largest(p);
  chart.data["parts"] = ChartData::array();
  for (const std::size_t i : parts) chart.data["parts"].push_back(p.reasons[i]);
  chart.data["parts"].push_back("other");
  chart.data["rows"] = ChartData::array();
  chart.data["format"] = ".0%";
  chart.data["x"] = "share of the kernel's scheduler slots";
  for (std::size_t n = 0; n < std::min(lines.size(), lines_shown); ++n) {
    const LineProfile& l = lines[n];
    // Sorted: nothing that one could see follows
    if (n > 0 && static_cast<double>(slots_of(l)) < least_share * all) break;
    double rest = static_cast<double>(slots_of(l));
    const std::string& text = text_of(l);
    const auto add = [&](const std::string& part, double slots, std::size_t order) {
      if (slots <= 0) return;
      const Term* term = find_term(stall_reasons(), part);
      chart.data["rows"].push_back(
          {{"label", label_of(l)},
           {"part", part},
           {"order", order},
           {"value", slots / all},
           {"tip", fmt::format("{}: {} of the slots to {}\n{}\n{}", label_of(l), format_share(slots / all),
                               part, printable(text), term == nullptr ? "" : term->meaning)}});
    };
    for (std::size_t order = 0; order < parts.size(); ++order) {
      const double slots = parts[order] < l.slots.size() ? static_cast<double>(l.slots[parts[order]]) : 0;
      rest -= slots;
      add(p.reasons[parts[order]], slots, order);
    }
    add("other", rest, parts.size());
    double share = 0;
    const std::string stall = top_stall(l, p, share);
    chart.table.rows.push_back({html_escaped(label_of(l)),
                                format_share(static_cast<double>(slots_of(l)) / all), html_escaped(stall),
                                fmt::format("<code>{}</code>", html_escaped(printable(text)))});
  }
  return chart;
}

std::string ptx_cell(const LineProfile& l) {
  if (l.ptx_line == 0) return {};
  return fmt::format("<code>{}: {}</code>", l.ptx_line, html_escaped(shown_code(l.ptx)));
}

// Source and PTX side by side: each source line with the PTX lines that it became, or with its machine code
// and the PTX between, where the file has it.
std::string source_table(const Profile& p, double all) {
  std::map<std::pair<std::string, std::uint32_t>, std::vector<const LineProfile*>> groups;
  for (const LineProfile& l : p.lines)
    groups[l.file.empty() ? std::pair<std::string, std::uint32_t>{"", l.ptx_line} : std::pair{l.file, l.line}]
        .push_back(&l);
  const bool machine = std::ranges::any_of(p.lines, [](const LineProfile& l) { return !l.code.empty(); });
  HtmlTable table{
      {"source", "slots#", "executed#", "mostly", "PTX", "sectors/request#", "load latency#"}, {}, "line"};
  if (machine) table.head.insert(table.head.begin() + 4, "machine code");
  for (const auto& [key, lines] : groups) {
    const LineProfile& first = *lines.front();
    const std::string source = first.file.empty()
                                   ? ""
                                   : fmt::format("{} <code>{}</code>", html_escaped(place_of(first)),
                                                 html_escaped(printable(first.text)));
    for (std::size_t i = 0; i < lines.size() && table.rows.size() < table_lines; ++i) {
      const LineProfile& l = *lines[i];
      double share = 0;
      const std::string stall = top_stall(l, p, share);
      table.rows.push_back(
          {i == 0 ? source : "", format_share(static_cast<double>(slots_of(l)) / all),
           format_count(static_cast<double>(l.instructions)),
           stall.empty() ? "" : fmt::format("{} {}", html_escaped(stall), format_share(share)), ptx_cell(l),
           l.requests == 0
               ? ""
               : fmt::format("{:.1f}", static_cast<double>(l.sectors) / static_cast<double>(l.requests)),
           l.loads == 0
               ? ""
               : fmt::format("{:.0f}", static_cast<double>(l.load_cycles) / static_cast<double>(l.loads))});
      if (machine)
        table.rows.back().insert(table.rows.back().begin() + 4,
                                 fmt::format("<code>{}</code>", html_escaped(printable(l.code))));
    }
  }
  return fmt::format("<details><summary>Source{} and PTX, line by line ({})</summary>\n{}</details>\n",
                     machine ? ", machine code" : "", table.rows.size(), html_table(table));
}

}  // namespace

std::string html_profile(const KernelResult& k) {
  const std::vector<LineProfile> lines = result::by_source(k.profile);
  const double all =
      static_cast<double>(std::accumulate(k.profile.slots.begin(), k.profile.slots.end(), std::uint64_t{0}));
  if (lines.empty() || all <= 0) return {};
  HtmlChart chart = line_chart(k.profile, lines, all);
  chart.heading = true;
  return html_chart(chart) + source_table(k.profile, all);
}

std::string html_series(const KernelResult& k) {
  // A screen has no more points; the result has every row.
  constexpr std::size_t most_points = 1000;
  const result::Series s = result::thinned(k.series, most_points);
  const auto end = std::ranges::find(s.columns, "end");
  if (s.empty() || s.rows.empty() || end == s.columns.end()) return {};
  const auto end_at = static_cast<std::size_t>(end - s.columns.begin());
  std::string out =
      fmt::format("<h3>Over time</h3>\n<p class=\"muted\">A point about every {:.0f} cycles.</p>\n",
                  s.rows.back()[end_at] / static_cast<double>(s.rows.size()));
  // What is a share is drawn with shares, the rest alone.
  std::vector<std::size_t> stalls, shares;
  std::vector<std::vector<std::size_t>> panels;
  for (std::size_t i = 0; i < s.columns.size(); ++i) {
    if (i == end_at) continue;
    double most = 0, least = 0;
    for (const std::vector<double>& row : s.rows)
      most = std::max(most, row[i]), least = std::min(least, row[i]);
    if (most == 0 && least == 0) continue;
    if (s.columns[i].starts_with("stall."))
      stalls.push_back(i);
    else if (most <= 1.0001 && least >= 0)
      shares.push_back(i);
    else
      panels.push_back({i});
  }
  const auto mean = [&](std::size_t i) {
    return std::accumulate(s.rows.begin(), s.rows.end(), 0.0,
                           [&](double sum, const auto& row) { return sum + row[i]; });
  };
  std::ranges::stable_sort(stalls, [&](std::size_t a, std::size_t b) { return mean(a) > mean(b); });
  if (stalls.size() > 6) stalls.resize(6);
  if (!shares.empty()) panels.insert(panels.begin(), shares);
  if (!stalls.empty()) panels.insert(panels.begin(), stalls);
  for (const std::vector<std::size_t>& panel : panels) {
    const bool share = &panel == &panels.front() || (panel.size() > 1);
    const std::string title =
        panel.size() > 1 ? (s.columns[panel.front()].starts_with("stall.") ? "Scheduler slots over time"
                                                                           : "Shares over time")
                         : s.columns[panel.front()] + " over time";
    HtmlChart chart{"xy", title, "Against the cycles of the kernel.", {}, {{"cycle#"}, {}, ""}};
    chart.data["x"] = {{"title", "cycle"}, {"zero", true}, {"nice", false}};
    chart.data["y"] = {{"title", panel.size() > 1 ? "share" : s.columns[panel.front()]},
                       {"format", share && panel.size() > 1 ? ".0%" : "~s"}};
    chart.data["lines"] = ChartData::array();
    for (const std::size_t i : panel) {
      chart.table.head.push_back(s.columns[i] + "#");
      for (const std::vector<double>& row : s.rows)
        chart.data["lines"].push_back({{"series", s.columns[i]}, {"x", row[end_at]}, {"y", row[i]}});
    }
    for (std::size_t r = 0; r < s.rows.size(); ++r) {
      std::vector<std::string> cells = {fmt::format("{:.0f}", s.rows[r][end_at])};
      for (const std::size_t i : panel) cells.push_back(fmt::format("{:.4g}", s.rows[r][i]));
      chart.table.rows.push_back(std::move(cells));
    }
    out += html_chart(chart);
  }
  return out;
}

}  // namespace simtlab::report
