// Applications that share a GPU: policies beside each other, the applications of a mix, its launches over
// time, sensitivity to interference.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "report/cells.h"
#include "report/format.h"
#include "report/html_sections.h"
#include "report/html_writer.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Metrics;
using result::Result;

constexpr std::size_t mixes_shown = 60, launches_drawn = 1500, launches_listed = 1000;

std::string launch_name(const KernelResult& k) {
  return printable(k.demangled.empty() ? k.name : k.demangled);
}

// A policy at a limit, over mixes of one size.
struct Setting {
  const KernelResult* entry = nullptr;
  std::string policy;
  double limit = 0, size = 0;
};

// What belongs to an application, or to a kernel of one, of a mix: its entry is named after the cell's.
struct Member {
  const KernelResult* entry = nullptr;
  std::size_t cell = 0;
  unsigned mix = 0, number = 0;
  std::string name;
};

struct Study {
  std::vector<Setting> cells;
  std::vector<Member> applications, kernels;
  std::vector<Member> wholes;  // mixes: figures of one under a policy
};

std::vector<Setting> cells_of(const Result& result) {
  std::vector<Setting> out;
  for (const KernelResult& k : result.kernels) {
    const auto limit = k.metrics.get("corun.limit"), size = k.metrics.get("corun.applications");
    if (!k.metrics.get("corun.antt.turnaround") || !limit || !size) continue;
    const std::string all = k.name, tail = fmt::format(" of {:.0f}, limit {:.0f}", *size, *limit);
    out.push_back(
        {&k, printable(all.ends_with(tail) ? all.substr(0, all.size() - tail.size()) : all), *limit, *size});
  }
  return out;
}

// "CELL, mix 2: 3 NAME"
bool take_number(std::string_view& text, unsigned& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

Study study_of(const Result& result) {
  Study out{cells_of(result), {}, {}, {}};
  std::size_t cell = 0;  // entries of a cell follow it
  for (const KernelResult& k : result.kernels) {
    if (cell + 1 < out.cells.size() && out.cells[cell + 1].entry == &k) ++cell;
    if (out.cells.empty()) continue;
    const std::string prefix = out.cells[cell].entry->name + ", mix ";
    if (!k.name.starts_with(prefix)) continue;
    std::string_view rest = std::string_view(k.name).substr(prefix.size());
    Member m{&k, cell, 0, 0, {}};
    if (!take_number(rest, m.mix)) continue;
    if (rest.empty() && k.metrics.get("corun.speedup_gm.gpu_time")) out.wholes.push_back(m);
    if (!rest.starts_with(": ") || !k.metrics.get("corun.slowdown.gpu_time")) continue;
    rest.remove_prefix(2);
    if (!take_number(rest, m.number) || !rest.starts_with(" ")) continue;
    m.name = printable(rest.substr(1));
    (k.metrics.get("corun.slowdown.turnaround") ? out.applications : out.kernels).push_back(std::move(m));
  }
  return out;
}

// The figures that a study is about, in both ways of counting.
struct Figure {
  const char *name, *title, *good;
};
constexpr Figure figures[] = {
    {"corun.antt", "ANTT", "Mean slowdown of the applications: less is better."},
    {"corun.stp", "STP", "System throughput, the sum of the applications' progress: more is better."},
    {"corun.fairness", "Fairness", "Largest slowdown over the smallest: 1 is fair."}};
constexpr std::pair<const char*, const char*> countings[] = {{".turnaround", "turnaround"},
                                                             {".gpu_time", "time on the GPU"}};

// One limit: policies as bars. Several: a line a policy.
std::string figure_chart(const std::vector<const Setting*>& cells, const Figure& f, const char* suffix,
                         const char* counting) {
  const std::string metric = std::string(f.name) + suffix;
  std::set<double> limits;
  for (const Setting* c : cells) limits.insert(c->limit);
  const bool lines = limits.size() > 1;
  HtmlChart chart{lines ? "xy" : "bars",
                  fmt::format("{}, {}", f.title, counting),
                  f.good,
                  {},
                  {{"policy", "limit#", std::string(f.title) + "#"}, {}, ""}};
  chart.data[lines ? "lines" : "rows"] = ChartData::array();
  if (lines) chart.data["points"] = ChartData::array();
  double least = 0, most = 0;
  for (const Setting* c : cells) {
    const auto value = c->entry->metrics.get(metric);
    if (!value) continue;
    least = chart.table.rows.empty() ? *value : std::min(least, *value);
    most = chart.table.rows.empty() ? *value : std::max(most, *value);
    const std::string tip = fmt::format("{}, limit {:.0f}: {} {:.4g}", c->policy, c->limit, f.title, *value);
    if (lines) {
      chart.data["lines"].push_back({{"series", c->policy}, {"x", c->limit}, {"y", *value}});
      chart.data["points"].push_back({{"series", c->policy}, {"x", c->limit}, {"y", *value}, {"tip", tip}});
    } else {
      chart.data["rows"].push_back(
          {{"label", c->policy}, {"value", *value}, {"text", fmt::format("{:.3f}", *value)}, {"tip", tip}});
    }
    chart.table.rows.push_back(
        {html_escaped(c->policy), fmt::format("{:.0f}", c->limit), html_metric(metric, *value)});
  }
  if (lines) {
    chart.data["small"] = true;
    chart.data["x"] = {{"title", "launches at a time"},
                       {"log", true},
                       {"base", 2},
                       {"domain", {*limits.begin() / 1.1, *limits.rbegin() * 1.1}}};
    const double margin = std::max(0.06 * (most - least), 0.01);
    chart.data["y"] = {{"title", f.title},
                       {"zero", false},
                       {"format", ",.3~f"},
                       {"domain", {least - margin, most + margin}}};
  }
  return html_chart(chart);
}

std::string policy_table(const std::vector<Setting>& cells) {
  HtmlTable table{{"applications#", "mixes#", "limit#", "policy"}, {}, ""};
  std::vector<std::string> columns;
  for (const auto& [suffix, counting] : countings)
    for (const char* name : {"corun.antt", "corun.stp", "corun.speedup_gm", "corun.fairness", "corun.jain"})
      columns.push_back(std::string(name) + suffix);
  for (const auto& [suffix, counting] : countings)
    for (const char* name : {"ANTT", "STP", "speed-up", "max/min", "Jain"})
      table.head.push_back(fmt::format("{}, {}#", name, suffix[1] == 't' ? "turnaround" : "GPU time"));
  for (const char* name : {"corun.wait.mean", "corun.wait.longest"}) columns.emplace_back(name);
  table.head.insert(table.head.end(), {"mean wait#", "longest wait#"});
  for (const Setting& c : cells) {
    const Metrics& m = c.entry->metrics;
    std::vector<std::string> row = {html_metric("corun.applications", c.size), html_metric(m, "corun.mixes"),
                                    html_metric("corun.limit", c.limit), html_escaped(c.policy)};
    for (const std::string& column : columns) row.push_back(html_metric(m, column));
    table.rows.push_back(std::move(row));
  }
  return html_table(table);
}

std::string policies(const Study& s) {
  std::string out =
      "<section id=\"policies\"><h2>Policies</h2>\n<p>Turnaround is what users feel; time on the GPU counts "
      "no waiting. Speed-ups are against mps with the same limit; figures are means over the mixes.</p>\n" +
      policy_table(s.cells);
  std::vector<double> sizes;
  for (const Setting& c : s.cells)
    if (std::ranges::find(sizes, c.size) == sizes.end()) sizes.push_back(c.size);
  for (const double size : sizes) {
    std::vector<const Setting*> cells;
    for (const Setting& c : s.cells)
      if (c.size == size) cells.push_back(&c);
    out += fmt::format("<h3>Mixes of {:.0f} applications</h3>\n", size);
    for (const Figure& f : figures) {
      out += "<div class=\"columns\">";
      for (const auto& [suffix, counting] : countings)
        out += "<div>" + figure_chart(cells, f, suffix, counting) + "</div>";
      out += "</div>\n";
    }
  }
  return out + "</section>\n";
}

std::string plural(std::size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

// A mix at a limit: its applications, bars for the policies.
struct MixKey {
  double size = 0, limit = 0;
  unsigned mix = 0;
  auto operator<=>(const MixKey&) const = default;
};

std::string slowdown_chart(const Study& s, const std::vector<const Member*>& members, const char* metric,
                           const char* title) {
  HtmlChart chart{
      "grouped",
      title,
      "Time in the mix over time alone: 1 is undisturbed.",
      {},
      {{"application", "policy", "slowdown#", "launches#", "mean wait#", "longest wait#"}, {}, ""}};
  chart.data["rows"] = ChartData::array();
  std::vector<std::string> parts;
  chart.data["x"] = "slowdown";
  chart.data["rules"] = {{{"x", 1}, {"label", "alone"}}};
  for (const Member* m : members) {
    const auto value = m->entry->metrics.get(metric);
    if (!value) continue;
    const std::string& policy = s.cells[m->cell].policy;
    const std::string label = fmt::format("{} {}", m->number, shortened(m->name, 30));
    if (std::ranges::find(parts, policy) == parts.end()) parts.push_back(policy);
    chart.data["rows"].push_back(
        {{"label", label},
         {"part", policy},
         {"value", *value},
         {"text", fmt::format("{:.2f}", *value)},
         {"tip", fmt::format("{} under {}: {:.3f} times as long as alone", label, policy, *value)}});
    chart.table.rows.push_back({html_escaped(label), html_escaped(policy), html_metric(metric, *value),
                                html_metric(m->entry->metrics, "corun.launches"),
                                html_metric(m->entry->metrics, "corun.wait.mean"),
                                html_metric(m->entry->metrics, "corun.wait.longest")});
  }
  chart.data["parts"] = parts;
  return html_chart(chart);
}

// Figure 6.1 of the thesis: the policies other than mps, a bar for each mix.
std::string speedup_chart(const Study& s, double size, double limit) {
  const char* const metric = "corun.speedup_gm.gpu_time";
  HtmlChart chart{"grouped",
                  fmt::format("Speed-up of each mix of {:.0f}, limit {:.0f}, time on the GPU", size, limit),
                  "Against mps with the same limit, geometric mean of the applications: more is better.",
                  {},
                  {{"mix", "policy", "speed-up#", "time of the mix#"}, {}, ""}};
  chart.data["rows"] = ChartData::array();
  chart.data["x"] = "speed-up";
  chart.data["rules"] = {{{"x", 1}, {"label", "mps"}}};
  std::vector<std::string> parts;
  std::vector<const Member*> members;
  for (const Member& m : s.wholes)
    if (s.cells[m.cell].size == size && s.cells[m.cell].limit == limit && s.cells[m.cell].policy != "mps" &&
        m.mix <= mixes_shown)
      members.push_back(&m);
  std::ranges::stable_sort(members, {}, &Member::mix);
  for (const Member* m : members) {
    const double value = *m->entry->metrics.get(metric);
    const std::string& policy = s.cells[m->cell].policy;
    const std::string label = fmt::format("mix {}", m->mix);
    if (std::ranges::find(parts, policy) == parts.end()) parts.push_back(policy);
    chart.data["rows"].push_back({{"label", label},
                                  {"part", policy},
                                  {"value", value},
                                  {"text", fmt::format("{:.2f}", value)},
                                  {"tip", fmt::format("{} under {}: {:.3f}", label, policy, value)}});
    chart.table.rows.push_back({label, html_escaped(policy), html_metric(metric, value),
                                html_metric(m->entry->metrics, "corun.makespan")});
  }
  if (members.empty()) return {};
  chart.data["parts"] = parts;
  return html_chart(chart);
}

std::string speedup_charts(const Study& s) {
  std::set<std::pair<double, double>> all;
  for (const Member& m : s.wholes) all.emplace(s.cells[m.cell].size, s.cells[m.cell].limit);
  std::string out;
  for (const auto& [size, limit] : all) out += speedup_chart(s, size, limit);
  return out;
}

std::string kernel_table(const Study& s, const std::vector<const Member*>& members) {
  HtmlTable table{{"application and kernel", "policy"}, {}, ""};
  const std::pair<const char*, const char*> columns[] = {{"corun.launches", "launches"},
                                                         {"corun.time.alone", "alone"},
                                                         {"corun.time.together", "together"},
                                                         {"corun.slowdown.gpu_time", "slowdown"},
                                                         {"corun.wait.mean", "mean wait"},
                                                         {"corun.l2.share", "of L2 traffic"},
                                                         {"corun.dram.share", "of DRAM traffic"},
                                                         {"corun.l2.miss_rate.alone", "L2 misses alone"},
                                                         {"corun.l2.miss_rate.together", "together"}};
  for (const auto& [metric, title] : columns) table.head.push_back(std::string(title) + "#");
  for (const Member* m : members) {
    if (table.rows.size() == launches_listed) break;
    std::vector<std::string> row = {html_escaped(fmt::format("{} {}", m->number, m->name)),
                                    html_escaped(s.cells[m->cell].policy)};
    for (const auto& [metric, title] : columns) row.push_back(html_metric(m->entry->metrics, metric));
    table.rows.push_back(std::move(row));
  }
  return table.rows.empty()
             ? ""
             : "<details class=\"data\" open><summary>Kernels alone and in the mix</summary>\n" +
                   html_table(table) + "</details>\n";
}

std::string mixes(const Study& s) {
  std::map<MixKey, std::pair<std::vector<const Member*>, std::vector<const Member*>>> all;
  const auto sort_in = [&](const std::vector<Member>& members, bool kernels) {
    for (const Member& m : members) {
      auto& place = all[{s.cells[m.cell].size, s.cells[m.cell].limit, m.mix}];
      (kernels ? place.second : place.first).push_back(&m);
    }
  };
  sort_in(s.applications, false);
  sort_in(s.kernels, true);
  if (all.empty()) return {};
  std::string options, body;
  std::size_t number = 0;
  for (auto& [key, members] : all) {
    if (number == mixes_shown) break;
    std::ranges::stable_sort(members.first, {}, &Member::number);
    const std::string title = fmt::format("mix {} of {:.0f}, limit {:.0f}", key.mix, key.size, key.limit);
    options += fmt::format("<option value=\"m{}\"{}>{}</option>\n", number,
                           number == 0 && all.size() > 1 ? " selected" : "", title);
    body += fmt::format(
        "<div class=\"mix\" data-tags=\"m{}\">\n<h3>{}{}</h3>\n<div "
        "class=\"columns\"><div>{}</div><div>{}</div></div>\n{}</div>\n",
        number, static_cast<char>(title[0] - 'a' + 'A'), title.substr(1),
        slowdown_chart(s, members.first, "corun.slowdown.turnaround", "Slowdown of turnaround"),
        slowdown_chart(s, members.first, "corun.slowdown.gpu_time", "Slowdown on the GPU"),
        kernel_table(s, members.second));
    ++number;
  }
  std::string out = "<section id=\"mixes\"><h2>Applications</h2>\n" + speedup_charts(s);
  if (all.size() > 1)
    out += fmt::format(
        "<p class=\"filter\"><label for=\"mix-choice\">Show </label><select id=\"mix-choice\" "
        "data-choose=\".mix\" aria-describedby=\"mix-choice-count\">\n<option value=\"\">all mixes "
        "({})</option>\n{}</select> "
        "<span id=\"mix-choice-count\" role=\"status\" class=\"muted\"></span></p>\n",
        number, options);
  if (all.size() > number)
    out += fmt::format("<p class=\"warning\">{} more are in the result file.</p>\n", all.size() - number);
  return out + body + "</section>\n";
}

// Launches of one mix (or of a daemon): a row an application and stream, waiting below running.
std::string launch_chart(const result::Table& t, const std::vector<std::size_t>& rows,
                         const std::string& title, double more) {
  std::map<double, std::size_t> colours;
  std::map<double, double> streams;  // of an application, the last one
  for (const std::size_t r : rows)
    streams[number(t, r, "application")] =
        std::max(streams[number(t, r, "application")], number(t, r, "stream"));
  HtmlChart chart{
      "gantt",
      title,
      "A row an application: above when its launches ran, the thin bar below when one waited for its grant.",
      {},
      {{"application", "stream#", "kernel", "asked#", "waited#", "ran#", "ended#"}, {}, ""}};
  chart.data["rows"] = ChartData::array();
  chart.data["rows_of"] = ChartData::array();
  double begin = 0, end = 0;
  for (const std::size_t r : rows) {
    begin = begin == 0 && end == 0 ? number(t, r, "asked") : std::min(begin, number(t, r, "asked"));
    end = std::max(end, number(t, r, "ended"));
  }
  const double unit = end - begin > 1e7 ? 1e6 : 1e3;
  const auto row_name = [&](double application, double stream, const std::string& name) {
    return fmt::format("{:.0f} {}{}", application, shortened(name, 24),
                       streams[application] > 1 ? fmt::format(", stream {:.0f}", stream) : "");
  };
  std::map<std::pair<double, double>, std::string> labels;
  for (const std::size_t r : rows)
    labels.try_emplace({number(t, r, "application"), number(t, r, "stream")}, printable(words(t, r, "name")));
  for (const auto& [place, name] : labels)
    chart.data["rows_of"].push_back(row_name(place.first, place.second, name));
  for (const std::size_t r : rows) {
    if (chart.table.rows.size() == launches_drawn) break;
    const double application = number(t, r, "application"), stream = number(t, r, "stream"),
                 asked = number(t, r, "asked"), granted = number(t, r, "granted"),
                 ended = number(t, r, "ended");
    const std::string name = printable(words(t, r, "name")), kernel = printable(words(t, r, "kernel")),
                      row = row_name(application, stream, labels[{application, stream}]);
    const auto colour = static_cast<int>(colours.emplace(application, colours.size()).first->second);
    const std::string tip =
        fmt::format("{:.0f} {}: {}\nasked at {}, waited {}, ran {}", application, name, kernel,
                    format_time(asked), format_time(granted - asked), format_time(ended - granted));
    if (granted > asked)
      chart.data["rows"].push_back({{"row", row},
                                    {"from", (asked - begin) / unit},
                                    {"to", (granted - begin) / unit},
                                    {"label", ""},
                                    {"colour", colour},
                                    {"thin", true},
                                    {"tip", "waits: " + tip}});
    if (ended > granted || granted == asked)
      chart.data["rows"].push_back({{"row", row},
                                    {"from", (granted - begin) / unit},
                                    {"to", (ended - begin) / unit},
                                    {"label", shortened(kernel, 40)},
                                    {"colour", colour},
                                    {"tip", tip}});
    chart.table.rows.push_back({html_escaped(fmt::format("{:.0f} {}", application, name)),
                                fmt::format("{:.0f}", stream), html_escaped(kernel), format_time(asked),
                                format_time(granted - asked), format_time(ended - granted),
                                format_time(ended)});
  }
  chart.table.declared = "launches";
  chart.table.columns = {"name", "stream", "kernel", "asked", "granted", "ended", "ended"};
  chart.data["end"] = (end - begin) / unit;
  chart.data["x"] = unit == 1e6 ? "milliseconds" : "microseconds";
  std::string out = html_chart(chart);
  if (rows.size() > launches_drawn) more += static_cast<double>(rows.size() - launches_drawn);
  if (more > 0)
    out += fmt::format("<p class=\"warning\">Cut: the first {} launches; {:.0f} more are not shown.</p>\n",
                       std::min(rows.size(), launches_drawn), more);
  return out;
}

std::string launches(const Result& result) {
  std::string options, body;
  std::size_t count = 0, more = 0;
  for (const KernelResult& k : result.kernels) {
    const result::Table* t = result::find(k.tables, "launches");
    if (t == nullptr) continue;
    std::map<double, std::vector<std::size_t>> mixes;
    for (std::size_t r = 0; r < t->rows.size(); ++r) mixes[number(*t, r, "mix")].push_back(r);
    for (const auto& [mix, rows] : mixes) {
      if (count == mixes_shown) {
        ++more;
        continue;
      }
      const std::string title =
          mixes.size() > 1 ? fmt::format("{}, mix {:.0f}", launch_name(k), mix) : launch_name(k);
      // What is missing is known of all mixes together.
      const std::string chart = launch_chart(
          *t, rows, title, mixes.size() > 1 ? 0 : k.metrics.get("corun.launches.left_out").value_or(0));
      options += fmt::format("<option value=\"l{}\"{}>{}</option>\n", count, count == 0 ? " selected" : "",
                             html_escaped(title));
      body += fmt::format("<div class=\"launch-log\" data-tags=\"l{}\">\n{}</div>\n", count++, chart);
    }
    if (mixes.size() > 1)
      if (const auto missing = k.metrics.get("corun.launches.left_out"); missing && *missing > 0)
        body += fmt::format(
            "<p class=\"warning\">{}: {} launches are not in the result; --launches keeps more.</p>\n",
            html_escaped(launch_name(k)), html_metric("corun.launches.left_out", *missing));
  }
  if (body.empty()) return {};
  std::string out = "<section id=\"launches\"><h2>Launches over time</h2>\n";
  if (count > 1)
    out += fmt::format(
        "<p class=\"filter\"><label for=\"launch-choice\">Show </label><select id=\"launch-choice\" "
        "data-choose=\".launch-log\" aria-describedby=\"launch-choice-count\">\n<option value=\"\">all "
        "({})</option>\n{}</select> "
        "<span id=\"launch-choice-count\" role=\"status\" class=\"muted\"></span></p>\n",
        count, options);
  if (more > 0)
    out += fmt::format("<p class=\"warning\">{} of further mixes are in the result file.</p>\n",
                       plural(more, "picture"));
  return out + body + "</section>\n";
}

std::string interference(const Result& result) {
  struct Point {
    const KernelResult* entry;
    std::string application;
  };
  std::vector<std::pair<std::string, std::vector<Point>>> kinds;
  for (const KernelResult& k : result.kernels) {
    if (!k.metrics.get("corun.interfere.slowdown") || !k.metrics.get("corun.interfere.load")) continue;
    const std::string name = launch_name(k);
    // "APPLICATION: what disturbs STEP"
    const std::size_t colon = name.rfind(": "), blank = name.rfind(' ');
    if (colon == std::string::npos || blank <= colon + 1) continue;
    const std::string kind = name.substr(colon + 2, blank - colon - 2);
    auto at = std::ranges::find(kinds, kind, &std::pair<std::string, std::vector<Point>>::first);
    if (at == kinds.end()) at = kinds.insert(at, {kind, {}});
    at->second.push_back({&k, name.substr(0, colon)});
  }
  if (kinds.empty()) return {};
  std::string out = "<section id=\"interference\"><h2>Sensitivity to interference</h2>\n";
  for (const auto& [kind, points] : kinds) {
    HtmlChart chart{"xy",
                    "Beside: " + (kind == "l2"        ? "L2 traffic"
                                  : kind == "dram"    ? "DRAM traffic"
                                  : kind == "compute" ? "computation"
                                                      : kind),
                    "Time of the application beside a micro-benchmark over its time beside the lowest "
                    "intensity of that, against what the micro-benchmark does.",
                    {},
                    {{"application", "intensity#", "load#", "slowdown#"}, {}, ""}};
    chart.data["lines"] = ChartData::array();
    chart.data["points"] = ChartData::array();
    chart.data["small"] = true;
    double most = 0, slowest = 1, least = 1;
    for (const Point& p : points) {
      const double load = *p.entry->metrics.get("corun.interfere.load"),
                   slowdown = *p.entry->metrics.get("corun.interfere.slowdown");
      most = std::max(most, load);
      slowest = std::max(slowest, slowdown);
      least = std::min(least, slowdown);
      chart.data["lines"].push_back({{"series", p.application}, {"x", load}, {"y", slowdown}});
      chart.data["points"].push_back(
          {{"series", p.application},
           {"x", load},
           {"y", slowdown},
           {"tip", fmt::format("{} beside {:.4g}: {:.3f}", p.application, load, slowdown)}});
      chart.table.rows.push_back(
          {html_escaped(p.application), html_metric(p.entry->metrics, "corun.interfere.intensity"),
           html_metric("corun.interfere.load", load), html_metric("corun.interfere.slowdown", slowdown)});
    }
    chart.data["x"] = {{"title", most > 1e6 ? "bytes per second" : "warp instructions per cycle"},
                       {"format", "~s"}};
    chart.data["y"] = {{"title", "slowdown"},
                       {"format", ",.3~f"},
                       {"zero", false},
                       {"domain", {least * 0.98, slowest * 1.05}}};
    out += html_chart(chart);
  }
  return out + "</section>\n";
}

}  // namespace

std::string html_corun(const Result& result) {
  if (result.manifest.mode != "corun") return {};
  const Study s = study_of(result);
  return (s.cells.empty() ? "" : policies(s) + mixes(s)) + launches(result) + interference(result);
}

}  // namespace simtlab::report
