// The page of the HTML report: head, headline, sections, glossary.
#include "report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/cells.h"
#include "report/check.h"
#include "report/compare_why.h"
#include "report/evidence.h"
#include "report/format.h"
#include "report/html_sections.h"
#include "report/html_shell.h"
#include "report/html_writer.h"
#include "result/totals.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Metrics;
using result::Result;

constexpr std::size_t kernels_in_detail = 24;

std::string name_of(const KernelResult& k) { return printable(k.demangled.empty() ? k.name : k.demangled); }
double time_of(const KernelResult& k) { return k.metrics.get("gpu.time").value_or(0); }

class Page {
 public:
  Page(const Result& result, const HtmlOptions& options)
      : r_(result), options_(options), kernels_(result::merge_by_name(result.kernels)) {
    // Of a single launch everything is known, of several only what has a mean.
    for (KernelResult& k : kernels_)
      if (std::ranges::count(r_.kernels, k.name, &KernelResult::name) == 1)
        k = *std::ranges::find(r_.kernels, k.name, &KernelResult::name);
    // Loads of a sweep and cases of a validation have an order of their own; kernels are sorted by time.
    std::ranges::stable_sort(
        kernels_, [](const KernelResult& a, const KernelResult& b) { return time_of(a) > time_of(b); });
  }

  std::string run() {
    std::string main = summary() + html_dram(r_) + html_probe(r_) + html_curves(r_) + html_corun(r_) +
                       html_validation(r_) + overview() + html_program(r_) + html_sm_timeline(r_);
    for (std::size_t i = 0; i < kernels_.size() && i < detailed(); ++i) main += kernel(kernels_[i], i);
    main += metrics() + configuration() + glossary();
    return html_document(shell(), header(main) + "<main id=\"main\">\n" + main + "</main>\n");
  }

 private:
  // What the entries of the result are; levels and cases have all that there is in the tables and charts
  // above them.
  std::string noun() const {
    const std::string& mode = r_.manifest.mode;
    return mode == "memory"     ? "loads"
           : mode == "probe"    ? "levels"
           : mode == "validate" ? "cases"
           : mode == "corun"    ? "entries"
                                : "kernels";
  }
  std::size_t detailed() const {
    return noun() == "levels" || noun() == "cases" || noun() == "entries" ? 0 : kernels_in_detail;
  }
  std::string title() const {
    if (noun() == "entries")
      return fmt::format("Applications that share a GPU{}",
                         r_.manifest.device.empty() ? "" : ": " + printable(r_.manifest.device));
    const std::string what = kernels_.size() == 1
                                 ? kernels_.front().demangled.substr(0, kernels_.front().demangled.find('('))
                                 : fmt::format("{} {}", kernels_.size(), noun());
    return fmt::format("{}{} ({})", printable(what.empty() ? "result" : shortened(what, 80)),
                       r_.manifest.device.empty() ? "" : " on " + printable(r_.manifest.device),
                       printable(r_.manifest.mode));
  }
  std::string header(const std::string& main) const {
    std::string out = fmt::format("<header><h1>{}</h1>\n", html_escaped(title()));
    const result::Manifest& m = r_.manifest;
    if (!m.command_line.empty())
      out += fmt::format("<p class=\"muted\"><code>{}</code></p>\n", html_escaped(printable(m.command_line)));
    if (m.interrupted)
      out += "<p class=\"warning\">Stopped before its end: the numbers cover what ran until then.</p>\n";
    if (!m.failure.empty())
      out += fmt::format("<p class=\"warning\">The run failed: {}</p>\n", html_escaped(printable(m.failure)));
    out += "<nav aria-label=\"Sections\"><ul>\n<li><a href=\"#summary\">Summary</a></li>\n";
    // Sections that only some results have.
    for (const auto& [id, name] :
         {std::pair{"curves", "Measured curves"}, std::pair{"findings", "What was found"},
          std::pair{"policies", "Policies"}, std::pair{"mixes", "Applications"},
          std::pair{"launches", "Launches over time"}, std::pair{"interference", "Interference"},
          std::pair{"timeline", "Kernels over time"}, std::pair{"sm-timeline", "An SM over time"}})
      if (main.find(fmt::format("<section id=\"{}\">", id)) != std::string::npos)
        out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", id, name);
    for (std::size_t i = 0; i < kernels_.size() && i < 8 && i < detailed(); ++i)
      out += fmt::format("<li><a href=\"#kernel-{}\">{}</a></li>\n", i + 1,
                         html_escaped(shortened(name_of(kernels_[i]), 40)));
    return out +
           "<li><a href=\"#metrics\">All metrics</a></li>\n<li><a "
           "href=\"#configuration\">Configuration</a></li>\n<li><a "
           "href=\"#glossary\">Glossary</a></li>\n</ul></nav></header>\n";
  }

  // The figures that come first, whatever made the result.
  std::string summary() const {
    std::string out = "<section id=\"summary\" aria-label=\"Summary\">\n<ul class=\"headline\">\n";
    const auto tile = [&](const char* label, const char* name) {
      if (const auto v = r_.total.get(name))
        out +=
            fmt::format("<li><b>{}</b><span class=\"label\">{}</span></li>\n", html_metric(name, *v), label);
    };
    tile("in kernels", "gpu.time");
    tile("cycles", "gpu.cycles");
    tile("program", "program.time");
    tile("thread instructions a cycle", "gpu.ipc");
    tile("of compute", "sol.compute");
    tile("of memory", "sol.memory");
    tile("of the warps there", "occupancy.achieved");
    tile("L1 misses", "l1.read.miss_rate");
    tile("L2 misses", "l2.read.miss_rate");
    tile("DRAM", "dram.bandwidth");
    tile("of the DRAM's peak", "dram.bandwidth.share");
    tile("mean read latency", "dram.read.latency.mean");
    tile("levels", "probe.levels");
    tile("noise", "probe.noise");
    tile("values found", "probe.findings");
    tile("not found", "probe.unknown");
    tile("median error", "validate.error.median");
    out += "</ul>\n";
    if (!kernels_.empty() && r_.manifest.mode == "timing")
      out += verdict(kernels_.front(), kernels_.size() > 1);
    return out + "</section>\n";
  }
  std::string verdict(const KernelResult& k, bool several) const {
    std::string out = "<div class=\"verdict\">\n";
    if (!k.bottleneck.empty())
      out += fmt::format("<p><strong>{}{}</strong></p>\n", several ? "The kernel that takes most: " : "",
                         html_escaped(printable(k.bottleneck)));
    out += "<ol>\n";
    for (const std::string& sentence : evidence(k, r_.manifest.device))
      if (sentence != printable(k.bottleneck)) out += fmt::format("<li>{}</li>\n", html_escaped(sentence));
    return out + "</ol></div>\n";
  }

  std::string overview() const {
    if (kernels_.size() < 2 || noun() == "entries") return {};
    // What the entries have of this, six columns of it.
    std::vector<std::string> columns;
    for (const char* name :
         {"gpu.time", "sol.compute", "sol.memory", "sol.issue", "dram.bandwidth", "dram.bandwidth.share",
          "dram.read.latency.mean", "l1.read.miss_rate", "l2.read.miss_rate", "predict.throughput.time",
          "predict.resios.time", "predict.mwp-cwp.time", "predict.roofline.time", "probe.level.latency",
          "probe.edge.size", "validate.error"})
      if (columns.size() < 6 && std::ranges::any_of(kernels_, [&](const KernelResult& k) {
            return k.metrics.get(name).has_value();
          }))
        columns.emplace_back(name);
    HtmlTable table{{noun().substr(0, noun().size() - 1), "launches#"}, {}, "kernel-row"};
    for (const std::string& name : columns) table.head.push_back(name + "#");
    HtmlChart chart{"bars", "Time by kernel", "Sum over the launches of each kernel.", {}, {}};
    chart.data["rows"] = ChartData::array();
    double all = 0;
    for (const KernelResult& k : kernels_) all += time_of(k);
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      const KernelResult& k = kernels_[i];
      const std::string link =
          i < detailed() ? fmt::format("<a href=\"#kernel-{}\">{}</a>", i + 1, html_escaped(name_of(k)))
                         : html_escaped(name_of(k));
      std::vector<std::string> row = {link, fmt::format("{}", k.launches)};
      for (const std::string& name : columns) row.push_back(html_metric(k.metrics, name));
      table.rows.push_back(std::move(row));
      if (all > 0)
        chart.table.rows.push_back({link, fmt::format("{}", k.launches), html_metric(k.metrics, "gpu.time"),
                                    format_share(time_of(k) / all)});
      if (i >= 12 || all <= 0) continue;
      chart.data["rows"].push_back(
          {{"label", shortened(name_of(k), 40)},
           {"value", time_of(k) / 1000},
           {"text", fmt::format("{} ({})", format_time(time_of(k)), format_share(time_of(k) / all))},
           {"tip", fmt::format("{}\n{} in {} launches", name_of(k), format_time(time_of(k)), k.launches)}});
    }
    chart.data["x"] = "microseconds";
    chart.table.head = {"kernel", "launches#", "time#", "share#"};
    std::string heading = noun();
    heading[0] = static_cast<char>(heading[0] - 'a' + 'A');
    return fmt::format("<section id=\"kernels\"><h2>{}</h2>\n", heading) + html_chart(chart) +
           filter("kernel-filter", fmt::format("Show {} whose name contains", noun()).c_str(),
                  "section.kernel, tr.kernel-row") +
           html_table(table) + "</section>\n";
  }

  static std::string filter(const char* id, const char* label, const char* what) {
    return fmt::format(
        "<p class=\"filter\"><label for=\"{0}\">{1}: </label><input type=\"search\" id=\"{0}\" "
        "data-filter=\"{2}\" aria-describedby=\"{0}-count\"> <span id=\"{0}-count\" role=\"status\" "
        "class=\"muted\"></span></p>\n",
        id, label, what);
  }

  std::string kernel(const KernelResult& k, std::size_t i) const {
    const std::string time =
        k.metrics.get("gpu.time") ? " &middot; " + html_metric(k.metrics, "gpu.time") : "";
    const bool first = i == 0 && r_.manifest.mode == "timing";
    std::string out =
        fmt::format("<section class=\"kernel\" id=\"kernel-{0}\" data-name=\"{1}\"><h2>{1}{2}</h2>\n", i + 1,
                    html_escaped(name_of(k)), time);
    if (k.partial) out += "<p class=\"warning\">Stopped before its end: what was counted until then.</p>\n";
    if (const result::Table* warnings = result::find(k.tables, "warnings"))
      for (std::size_t row = 0; row < warnings->rows.size(); ++row)
        out += fmt::format("<p class=\"warning\">{}</p>\n",
                           html_escaped(printable(words(*warnings, row, "text"))));
    if (!first && r_.manifest.mode == "timing") out += verdict(k, false);
    return out + html_predictions(k) + html_kernel(k, options_) + html_cache(k) + html_not_modelled(k) +
           "</section>\n";
  }

  std::string metrics() const {
    HtmlTable table{{"kernel", "metric", "value#", "exact#", "unit"}, {}, "metric-row"};
    const auto add = [&](const std::string& name, const Metrics& all) {
      for (const Metrics::Value& v : all.values())
        table.rows.push_back({html_escaped(shortened(name, 40)), html_metric_name(v.name),
                              html_metric(v.name, *all.get(v.name)),
                              v.is_integer ? fmt::format("{}", v.integer) : fmt::format("{:.6g}", v.real),
                              std::string(result::find_metric(v.name)->unit)});
    };
    add("total", r_.total);
    for (std::size_t i = 0; i < kernels_.size() && i < kernels_in_detail; ++i)
      add(name_of(kernels_[i]), kernels_[i].metrics);
    return "<section id=\"metrics\"><h2>All metrics</h2>\n" +
           filter("metric-filter", "Show rows that contain", "tr.metric-row") +
           "<details class=\"data\"><summary>" + fmt::format("{} values", table.rows.size()) +
           "</summary>\n" + html_table(table) + "</details></section>\n";
  }

  std::string configuration() const {
    const result::Manifest& m = r_.manifest;
    HtmlTable run{{"", ""}, {}, ""}, values{{"key", "value", "from", "source"}, {}, ""};
    const auto row = [&](const char* name, const std::string& value) {
      if (!value.empty()) run.rows.push_back({name, html_escaped(printable(value))});
    };
    row("version", m.tool_version);
    row("folder", m.working_directory);
    row("started", m.start_time);
    row("host", m.host);
    row("seed", fmt::format("{}", m.seed));
    for (const result::InputHash& i : m.inputs) row("input", fmt::format("{} (xxh64 {})", i.path, i.xxh64));
    for (const result::ConfigValue& c : m.configuration)
      values.rows.push_back({fmt::format("<code>{}</code>", html_escaped(printable(c.key))),
                             html_escaped(printable(c.value)), html_escaped(printable(c.origin)),
                             html_escaped(printable(c.source))});
    return "<section id=\"configuration\"><h2>Configuration</h2>\n" + html_table(run) +
           fmt::format("<details><summary>{} effective values</summary>\n", values.rows.size()) +
           html_table(values) + "</details></section>\n";
  }

  // Declarations of the metrics that the result has; of a family once.
  std::vector<const result::MetricDeclaration*> used() const {
    std::set<std::string_view> names;
    const auto take = [&](const Metrics& all) {
      for (const Metrics::Value& v : all.values()) names.insert(result::find_metric(v.name)->name);
    };
    take(r_.total);
    for (const KernelResult& k : kernels_) take(k.metrics);
    std::vector<const result::MetricDeclaration*> out;
    for (const result::MetricDeclaration& d : result::registry())
      if (names.contains(d.name)) out.push_back(&d);
    return out;
  }
  std::string glossary() const {
    HtmlTable table{{"metric", "unit", "meaning", "formula", "names elsewhere"}, {}, ""};
    for (const result::MetricDeclaration* d : used())
      table.rows.push_back({fmt::format("<code>{}</code>", html_escaped(d->name)), std::string(d->unit),
                            html_escaped(d->doc), html_escaped(d->formula), html_escaped(d->aliases)});
    return "<section id=\"glossary\"><h2>Glossary</h2>\n<details class=\"data\"><summary>What each metric "
           "means</summary>\n" +
           html_table(table) + "</details></section>\n";
  }

  HtmlShell shell() const {
    HtmlShell out;
    out.title = title();
    out.generator = "simtlab " + r_.manifest.tool_version;
    out.words = html_words(used());
    for (const KernelResult& k : r_.kernels)
      for (const result::Table& t : k.tables)
        for (const result::ColumnDeclaration& c : result::find_table(t.name)->columns)
          out.words[fmt::format("{}: {}", t.name, c.name)] = {
              {"doc", c.doc}, {"unit", c.unit}, {"formula", ""}, {"aliases", ""}};
    out.footer = fmt::format(
        "<p>Written by simtlab {}. Numbers with a dotted line are explained where the mouse points or the "
        "Tab key leads.</p>",
        html_escaped(r_.manifest.tool_version));
    return out;
  }

  const Result& r_;
  const HtmlOptions& options_;
  std::vector<KernelResult> kernels_;
};

}  // namespace

std::string html(const Result& result, const HtmlOptions& options) {
  if (result.check) return check_html(check_report(result));
  return Page(result, options).run();
}

}  // namespace simtlab::report
