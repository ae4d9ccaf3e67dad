// The page of all results.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "report/format.h"
#include "report/html_shell.h"
#include "report/html_writer.h"
#include "report/viewer/page_shell.h"
#include "report/viewer/pages.h"

namespace simtlab::report::viewer {
namespace {

using report::html_escaped;
using report::printable;

std::string name_of(const Entry& e) { return e.path.filename().string(); }

const char* kind_name(const Entry& e) {
  switch (e.kind) {
    case Kind::study: return "sweep";
    case Kind::live: return "live";
    case Kind::unreadable: return "unreadable";
    case Kind::result: break;
  }
  return "result";
}

// Says when there is something new. No page changes under the reader's eyes.
constexpr const char* index_script = R"(
(function () {
  var news = document.getElementById('news'), version = document.body.querySelector('main').dataset.version;
  setInterval(function () {
    if (document.hidden) return;
    fetch('version').then(function (r) { return r.text(); }).then(function (now) { news.hidden = now === version; }).catch(function () { news.hidden = true; });
  }, 2000);
  var chosen = document.getElementById('chosen'), button = document.getElementById('compare');
  function count() {
    var n = document.querySelectorAll('input[name=id]:checked').length;
    chosen.textContent = n === 0 ? 'Choose two or more to compare them.' : n + ' chosen';
    button.disabled = n < 2;
  }
  document.addEventListener('change', count);
  count();
  var metric = document.querySelector('select[name=metric]');
  if (metric) metric.addEventListener('change', function () { metric.form.submit(); });
})();
)";

double sort_value(const Entry& e, const std::string& key) {
  return e.total.get(key).value_or(std::numeric_limits<double>::infinity());
}

std::vector<const Entry*> sorted(const Collection& collection, std::string key) {
  std::vector<const Entry*> rows = collection.entries();
  const bool down = key.starts_with('-');
  if (down) key.erase(0, 1);
  if (key == "time") key = "gpu.time";
  const auto by = [&](const auto& of) {
    std::ranges::stable_sort(
        rows, [&](const Entry* a, const Entry* b) { return down ? of(*b) < of(*a) : of(*a) < of(*b); });
  };
  if (key == "started")
    by([](const Entry& e) { return e.started; });
  else if (!key.empty() && key != "path") {
    std::ranges::stable_sort(rows, [&](const Entry* a, const Entry* b) {
      const double x = sort_value(*a, key), y = sort_value(*b, key);
      // Those without the metric come last, whichever way.
      if (std::isinf(x) || std::isinf(y)) return x < y;
      return down ? y < x : x < y;
    });
  } else if (down)
    std::ranges::reverse(rows);
  return rows;
}

std::string link(const Entry& e) {
  const std::string text = safe(name_of(e));
  if (e.kind == Kind::unreadable) return text;
  return fmt::format("<a href=\"{}/{}\">{}</a>",
                     e.kind == Kind::live    ? "live"
                     : e.kind == Kind::study ? "study"
                                             : "result",
                     e.id, text);
}

std::string what_it_is(const Entry& e) {
  if (e.kind == Kind::unreadable) return "<span class=\"warning\">unreadable</span><br>" + safe(e.error);
  std::string out = safe(e.mode.empty() ? kind_name(e) : e.mode);
  if (e.kind == Kind::live) out += ", live";
  if (!e.note.empty())
    out += fmt::format("<br><span class=\"{}\">{}</span>", e.complete ? "muted" : "warning", safe(e.note));
  return out;
}

class Index {
 public:
  Index(const Collection& c, const IndexWish& wish) : c_(c), wish_(wish), rows_(sorted(c, wish.sort)) {
    std::vector<const result::Metrics*> totals;
    for (const Entry* e : c.entries()) totals.push_back(&e->total);
    metrics_ = declared(totals);
    if (!wish.metric.empty()) {
      const result::MetricDeclaration* d = result::find_metric(wish.metric);
      if (d == nullptr)
        throw Error(ExitCode::usage, "view-request", "there is no metric '" + wish.metric + "'");
    }
  }

  std::string run() const {
    std::string body =
        "<header><h1>Results</h1>\n" +
        fmt::format(
            "<p class=\"muted\">{} files.{}{}</p>\n", report::format_exact(c_.entries().size()),
            c_.foreign() != 0
                ? fmt::format(" {} others in these folders are not simtlab's, or cannot be read.",
                              c_.foreign())
                : "",
            c_.cut() ? fmt::format(" There are more: the first {} are shown.", Collection::most_files) : "");
    body +=
        "<p id=\"news\" role=\"status\" class=\"warning\" hidden>Files have changed: <a href=\"\">show "
        "them</a>.</p></header>\n";
    body += fmt::format("<main id=\"main\" data-version=\"{}\">\n", c_.version()) + wishes() + chart();
    body += "<form action=\"compare\" method=\"get\">\n" + table() +
            "<p class=\"bar\"><button id=\"compare\" type=\"submit\">Compare</button> <span id=\"chosen\" "
            "role=\"status\" class=\"muted\"></span></p></form>\n</main>\n";
    return page_shell("simtlab: results", body, index_script, report::html_words(metrics_));
  }

 private:
  std::string wishes() const {
    std::string out =
        "<form method=\"get\" action=\"\"><p><label>One more column: <select name=\"metric\"><option "
        "value=\"\">none</option>\n";
    for (const result::MetricDeclaration* d : metrics_)
      if (!d->name.ends_with('*'))
        out += fmt::format("<option{}>{}</option>\n", d->name == wish_.metric ? " selected" : "",
                           html_escaped(d->name));
    out += fmt::format(
        "</select></label><input type=\"hidden\" name=\"sort\" value=\"{}\"> "
        "<noscript><button>Show</button></noscript></p></form>\n",
        safe(wish_.sort));
    return out +
           "<p class=\"filter\"><label for=\"filter\">Show rows that contain: </label><input type=\"search\" "
           "id=\"filter\" data-filter=\"tr.entry\" aria-describedby=\"filter-count\"> <span "
           "id=\"filter-count\" role=\"status\" class=\"muted\"></span></p>\n";
  }

  // Times, or the metric that was asked for, of the first results that have it.
  std::string chart() const {
    const std::string name = wish_.metric.empty() ? "gpu.time" : wish_.metric;
    report::HtmlChart chart{
        "bars", name, "Of the results in the table, in its order.", {}, {{"file", name + "#"}, {}, ""}};
    chart.data["rows"] = report::ChartData::array();
    const result::MetricDeclaration* d = result::find_metric(name);
    for (const Entry* e : rows_) {
      const auto value = e->total.get(name);
      if (!value || chart.data["rows"].size() >= 24) continue;
      const std::string label = report::shortened(printable(name_of(*e)), 40);
      chart.data["rows"].push_back({{"label", fmt::format("{} ({})", label, chart.data["rows"].size() + 1)},
                                    {"value", *value},
                                    {"text", fmt::format("{:.4g}", *value)},
                                    {"tip", printable(e->command)}});
      chart.table.rows.push_back({link(*e), report::html_metric(name, *value)});
    }
    chart.data["x"] = d != nullptr ? fmt::format("{} ({})", name, d->unit) : name;
    return chart.data["rows"].size() < 2 ? "" : report::html_chart(chart);
  }

  std::string heading(const std::string& text, const std::string& key, bool number) const {
    const bool up = wish_.sort == key, down = wish_.sort == "-" + key;
    return fmt::format(
        "<th scope=\"col\"{} aria-sort=\"{}\"><a href=\"?sort={}{}&amp;metric={}\">{}</a>{}</th>",
        number ? " class=\"n\"" : "",
        up     ? "ascending"
        : down ? "descending"
               : "none",
        up ? "-" : "", html_escaped(key), safe(wish_.metric), html_escaped(text),
        up     ? " &uarr;"
        : down ? " &darr;"
               : "");
  }

  std::string table() const {
    std::string out =
        "<div class=\"scroll\"><table id=\"results\"><thead><tr><th class=\"choice\" scope=\"col\"><span "
        "hidden>chosen</span></th>" +
        heading("file", "path", false) +
        "<th scope=\"col\">what</th><th scope=\"col\">device</th><th scope=\"col\">kernel</th>" +
        heading("time", "time", true) +
        (wish_.metric.empty() ? "" : heading(wish_.metric, wish_.metric, true)) +
        heading("started", "started", false) + "<th scope=\"col\">command</th></tr></thead><tbody>\n";
    for (const Entry* e : rows_) {
      const std::string choice =
          e->kind != Kind::result
              ? ""
              : fmt::format("<input type=\"checkbox\" name=\"id\" value=\"{}\" aria-label=\"Compare {}\">",
                            e->id, safe(name_of(*e)));
      std::string kernel = safe(report::shortened(e->kernel.substr(0, e->kernel.find('(')), 40));
      if (e->kernels > 1)
        kernel += fmt::format("<br><span class=\"muted\">and {} more</span>", e->kernels - 1);
      out += fmt::format(
          "<tr class=\"entry\"><td class=\"choice\">{}</td><td class=\"path\" "
          "title=\"{}\">{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td>",
          choice, safe(e->path.string()), link(*e), what_it_is(*e), safe(e->device), kernel,
          report::html_metric(e->total, "gpu.time"));
      if (!wish_.metric.empty())
        out += fmt::format("<td class=\"n\">{}</td>", report::html_metric(e->total, wish_.metric));
      out += fmt::format("<td>{}</td><td class=\"command\"><code>{}</code></td></tr>\n", safe(e->started),
                         safe(report::shortened(e->command, 160)));
    }
    return out + "</tbody></table></div>\n";
  }

  const Collection& c_;
  const IndexWish& wish_;
  std::vector<const Entry*> rows_;
  std::vector<const result::MetricDeclaration*> metrics_;
};

}  // namespace

std::string index_page(const Collection& collection, const IndexWish& wish) {
  return Index(collection, wish).run();
}

}  // namespace simtlab::report::viewer
