// Results side by side; of two of them also why.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "report/compare.h"
#include "report/compare_why.h"
#include "report/format.h"
#include "report/html_shell.h"
#include "report/viewer/page_shell.h"
#include "report/viewer/pages.h"

namespace simtlab::report::viewer {
namespace {

using report::HtmlChart;
using report::HtmlTable;

constexpr std::size_t kernels_shown = 12, settings_shown = 24;

class Page {
 public:
  Page(const std::vector<Compared>& results, std::string metric, std::string home)
      : all_(results), metric_(std::move(metric)), home_(std::move(home)) {
    std::vector<const result::Metrics*> totals;
    for (const Compared& c : all_) totals.push_back(&c.result.total);
    metrics_ = declared(totals);
    if (metric_.empty()) metric_ = headline();
  }

  std::string run() const {
    std::string body = fmt::format(
        "<header><p><a href=\"{}\">All results</a></p><h1>{} results side by side</h1></header>\n<main "
        "id=\"main\">\n",
        safe(home_), all_.size());
    body += legend() + chart();
    if (all_.size() == 2) body += why();
    body += settings();
    body += values() + "</main>\n";
    return page_shell("simtlab: comparison", body, "", report::html_words(metrics_));
  }

 private:
  // The time, else the first that all of them have.
  std::string headline() const {
    const auto everywhere = [&](std::string_view name) {
      return std::ranges::all_of(all_,
                                 [&](const Compared& c) { return c.result.total.get(name).has_value(); });
    };
    if (everywhere("gpu.time")) return "gpu.time";
    for (const result::MetricDeclaration* d : metrics_)
      if (everywhere(d->name)) return std::string(d->name);
    return "gpu.time";
  }
  static std::string letter(std::size_t i) {
    return i < 26 ? std::string(1, static_cast<char>('A' + i)) : fmt::format("#{}", i + 1);
  }
  std::string change(std::size_t i, std::string_view name) const {
    const auto before = all_.front().result.total.get(name), now = all_[i].result.total.get(name);
    return i == 0 || !before || !now ? "" : *before == *now ? "=" : report::change_text(*before, *now);
  }

  std::string legend() const {
    HtmlTable table{{"", "file", "device", "what", "command"}, {}, ""};
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const result::Manifest& m = all_[i].result.manifest;
      table.rows.push_back({"<strong>" + letter(i) + "</strong>", safe(all_[i].label), safe(m.device),
                            safe(m.mode),
                            "<code>" + safe(report::shortened(m.command_line, 200)) + "</code>"});
    }
    return report::html_table(table);
  }

  std::string chart() const {
    HtmlChart chart{"bars",
                    metric_,
                    "Of each result; A is what the others are measured by.",
                    {},
                    {{"result", metric_ + "#", "beside A#"}, {}, ""}};
    chart.data["rows"] = report::ChartData::array();
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const auto value = all_[i].result.total.get(metric_);
      if (!value) continue;
      const result::MetricDeclaration* d = result::find_metric(metric_);
      const std::string text = report::value_text(*value, metric_, d == nullptr ? "" : d->unit) +
                               (i == 0 ? "" : " (" + change(i, metric_) + ")");
      chart.data["rows"].push_back(
          {{"label", letter(i) + " " + report::shortened(report::printable(all_[i].label), 40)},
           {"value", *value},
           {"text", text},
           {"tip", report::printable(all_[i].result.manifest.command_line)}});
      chart.table.rows.push_back({letter(i), report::html_metric(metric_, *value), change(i, metric_)});
      if (d != nullptr) chart.data["x"] = fmt::format("{} ({})", metric_, d->unit);
    }
    return report::html_chart(chart);
  }

  // Effective values that are not the same everywhere.
  std::string settings() const {
    std::vector<std::string> keys;
    const auto value = [&](std::size_t i, const std::string& key) -> std::string {
      const auto& all = all_[i].result.manifest.configuration;
      const auto found = std::ranges::find(all, key, &result::ConfigValue::key);
      return found == all.end() ? "-" : found->value;
    };
    for (const Compared& c : all_)
      for (const result::ConfigValue& v : c.result.manifest.configuration)
        if (std::ranges::find(keys, v.key) == keys.end()) keys.push_back(v.key);
    HtmlTable table{{"setting"}, {}, ""};
    for (std::size_t i = 0; i < all_.size(); ++i) table.head.push_back(letter(i));
    for (const std::string& key : keys) {
      std::vector<std::string> row = {"<code>" + safe(key) + "</code>"};
      bool same = true;
      for (std::size_t i = 0; i < all_.size(); ++i) {
        same = same && value(i, key) == value(0, key);
        row.push_back(safe(report::shortened(value(i, key), 60)));
      }
      if (!same) table.rows.push_back(std::move(row));
    }
    if (table.rows.empty()) return "<h2>Settings</h2><p>All are the same.</p>\n";
    // Two devices differ in most of them.
    const bool many = table.rows.size() > settings_shown;
    const std::string head =
        fmt::format("<h2>Settings that differ</h2>\n<details{}><summary>{} settings</summary>\n",
                    many ? "" : " open", table.rows.size());
    return head + report::html_table(table) + "</details>\n";
  }

  std::string why() const {
    report::Comparison comparison;
    try {
      comparison = report::compare(all_[0].result, all_[1].result, "");
    } catch (const Error&) {
      return {};  // nothing that both have
    }
    std::string out = "<h2>Why</h2>\n";
    for (std::size_t i = 0; i < comparison.kernels.size() && i < kernels_shown; ++i)
      out += kernel(comparison.kernels[i]);
    for (const std::string& name : comparison.only_before)
      out += fmt::format("<p>Only in A: {}</p>\n", safe(name));
    for (const std::string& name : comparison.only_after)
      out += fmt::format("<p>Only in B: {}</p>\n", safe(name));
    return out;
  }

  static std::string kernel(const report::ComparedKernel& k) {
    std::string out = fmt::format("<h3>{}</h3>\n", safe(k.name));
    if (k.before > 0 || k.after > 0)
      out += fmt::format("<p>{} &rarr; {}, {}</p>\n", report::format_time(k.before),
                         report::format_time(k.after), report::change_text(k.before, k.after));
    if (k.metrics.empty()) return out + "<p>Every metric is the same.</p>\n";
    out += "<ul>\n";
    for (const std::string& sentence : k.why) out += "<li>" + safe(sentence) + "</li>\n";
    out += "</ul>\n";
    HtmlChart chart{"stacked",
                    "Time by what the schedulers did",
                    "The parts of each bar add up to the kernel's time.",
                    {},
                    {{"part", "A#", "B#", "difference#"}, {}, ""}};
    chart.data["rows"] = report::ChartData::array();
    chart.data["parts"] = report::ChartData::array();
    for (const report::ComparedValue& p : k.parts) {
      const double before = p.before.value_or(0), after = p.after.value_or(0);
      chart.table.rows.push_back(
          {safe(p.name), report::format_time(before), report::format_time(after),
           fmt::format("{}{}", after < before ? "-" : "+", report::format_time(std::abs(after - before)))});
      if (chart.data["parts"].size() >= 8) continue;
      chart.data["parts"].push_back(p.name);
      for (const auto& [label, value] : {std::pair{"A", before}, std::pair{"B", after}})
        chart.data["rows"].push_back(
            {{"label", label},
             {"part", p.name},
             {"value", value / 1000},
             {"order", chart.data["parts"].size()},
             {"tip", fmt::format("{} {}: {}", label, p.name, report::format_time(value))}});
    }
    chart.data["x"] = "microseconds";
    return out + report::html_chart(chart);
  }

  std::string values() const {
    HtmlTable table{{"metric"}, {}, "metric-row"};
    for (std::size_t i = 0; i < all_.size(); ++i) {
      table.head.push_back(letter(i) + "#");
      if (i > 0) table.head.push_back("beside A#");
    }
    std::vector<std::string> names;
    for (const Compared& c : all_)
      for (const result::Metrics::Value& v : c.result.total.values())
        if (std::ranges::find(names, v.name) == names.end()) names.push_back(v.name);
    for (const std::string& name : names) {
      std::vector<std::string> row = {report::html_metric_name(name)};
      for (std::size_t i = 0; i < all_.size(); ++i) {
        row.push_back(report::html_metric(all_[i].result.total, name));
        if (i > 0) row.push_back(change(i, name));
      }
      table.rows.push_back(std::move(row));
    }
    return "<h2>All metrics</h2>\n<p class=\"filter\"><label for=\"filter\">Show rows that contain: "
           "</label><input type=\"search\" id=\"filter\" data-filter=\"tr.metric-row\" "
           "aria-describedby=\"filter-count\"> "
           "<span id=\"filter-count\" role=\"status\" class=\"muted\"></span></p>\n" +
           report::html_table(table);
  }

  const std::vector<Compared>& all_;
  std::string metric_, home_;
  std::vector<const result::MetricDeclaration*> metrics_;
};

}  // namespace

std::string compare_page(const std::vector<Compared>& results, const std::string& metric,
                         const std::string& home) {
  if (!metric.empty() && result::find_metric(metric) == nullptr)
    throw Error(ExitCode::usage, "view-request", "there is no metric '" + metric + "'");
  return Page(results, metric, home).run();
}

}  // namespace simtlab::report::viewer
