// A run under way: how far it is, and how it came there.
#include <fmt/format.h>

#include <algorithm>

#include "report/format.h"
#include "report/html_shell.h"
#include "report/viewer/page_shell.h"
#include "report/viewer/pages.h"

namespace simtlab::report::viewer {
namespace {

// What the page shows is asked for once a second and drawn again; rows that it has are not sent twice.
constexpr const char* script = R"(
(function () {
  var rows = [], main = document.querySelector('main'), id = main.dataset.id, figure = document.querySelector('figure.chart');
  function thousands(n) { return n.toLocaleString('en'); }
  function set(name, text) { var e = document.getElementById(name); if (e.textContent !== text) e.textContent = text; }
  function chart() {
    var points = [], last = null;
    rows.forEach(function (r) {
      if (last && r.seconds > last.seconds) points.push({series: 'M warp instructions a second', x: r.seconds, y: (r.instructions - last.instructions) / (r.seconds - last.seconds) / 1e6});
      if (!last || r.seconds > last.seconds) last = r;
    });
    var data = JSON.parse(figure.querySelector('script').textContent);
    data.lines = points;
    figure.querySelector('script').textContent = JSON.stringify(data);
    figure.querySelector('.plot').textContent = '';
    if (points.length > 1) window.simtlabDraw(figure);
  }
  function show(answer) {
    rows = rows.concat(answer.rows);
    var r = rows[rows.length - 1] || {seconds: 0, kernel: '', launches: 0, blocks: 0, of_blocks: 0, cycles: 0, instructions: 0};
    set('state', answer.state);
    set('kernel', r.kernel || (answer.over ? 'none' : 'between kernels'));
    set('blocks', r.of_blocks ? thousands(r.blocks) + ' of ' + thousands(r.of_blocks) : '-');
    set('launches', thousands(r.launches));
    set('cycles', thousands(r.cycles));
    set('instructions', thousands(r.instructions));
    set('seconds', answer.seconds.toFixed(1) + ' s');
    var bar = document.getElementById('bar');
    bar.max = r.of_blocks || 1;
    bar.value = r.of_blocks ? r.blocks : answer.over ? 1 : 0;
    if (answer.rows.length) chart();
    main.dataset.rows = rows.length;
    main.dataset.over = answer.over ? 'yes' : 'no';
    return answer.over;
  }
  function ask() {
    fetch(id + '/rows?from=' + rows.length).then(function (r) { if (!r.ok) throw new Error(r.status); return r.json(); }).then(function (answer) {
      if (answer.from !== rows.length) { rows = []; return false; }
      return show(answer);
    }).catch(function () { set('state', 'the server does not answer'); return false; }).then(function (over) { if (!over) setTimeout(ask, 1000); });
  }
  ask();
})();
)";

std::string state_of(const LiveRun& run) {
  if (run.ended) return run.end == "done" ? "done" : "ended: " + run.end;
  return run.abandoned() ? "ended without a word: its process is gone" : "running";
}

}  // namespace

std::string live_json(const LiveRun& run, std::size_t from) {
  report::ChartData out;
  // A file that began anew has fewer rows than were asked for.
  out["from"] = from <= run.rows.size() ? from : 0;
  out["state"] = state_of(run);
  out["over"] = run.ended || run.abandoned();
  out["seconds"] = run.seconds;
  out["rows"] = report::ChartData::array();
  for (std::size_t i = from; i < run.rows.size(); ++i) {
    const LiveRow& r = run.rows[i];
    out["rows"].push_back({{"seconds", r.seconds},
                           {"kernel", report::printable(r.kernel)},
                           {"launches", r.launches},
                           {"blocks", r.blocks},
                           {"of_blocks", r.of_blocks},
                           {"cycles", r.cycles},
                           {"instructions", r.instructions}});
  }
  return out.dump(-1, ' ', false, report::ChartData::error_handler_t::replace);
}

std::string live_page(const Entry& entry, const LiveRun& run, const std::string& home) {
  report::HtmlChart chart{"xy",
                          "Speed of the simulation",
                          "Warp instructions per second of host time, between two looks.",
                          {},
                          {{"what", "value"}, {}, ""}};
  chart.data["lines"] = report::ChartData::array();
  chart.data["x"] = {{"title", "seconds of host time"}};
  chart.data["y"] = {{"title", "M warp instructions a second"}};
  const auto row = [&](const char* name, const char* id, const std::string& text) {
    return std::vector<std::string>{name, fmt::format("<span id=\"{}\">{}</span>", id, safe(text))};
  };
  const LiveRow last = run.rows.empty() ? LiveRow{} : run.rows.back();
  chart.table.rows = {row("kernel", "kernel", last.kernel),
                      row("blocks that have ended", "blocks",
                          last.of_blocks != 0 ? fmt::format("{} of {}", last.blocks, last.of_blocks) : "-"),
                      row("launches that have ended", "launches", report::format_exact(last.launches)),
                      row("cycles", "cycles", report::format_exact(last.cycles)),
                      row("warp instructions", "instructions", report::format_exact(last.instructions)),
                      row("since", "seconds", fmt::format("{:.1f} s", run.seconds))};
  const std::string table = report::html_table(chart.table);
  chart.table = {{""}, {{"The figures are above; the file has all rows."}}, ""};
  const std::string body = fmt::format(
      "<header><p><a href=\"{}\">All results</a></p><h1>{}</h1>\n<p "
      "class=\"muted\"><code>{}</code></p>\n<p><strong id=\"state\" role=\"status\">{}</strong>, {} on "
      "{}</p></header>\n"
      "<main id=\"main\" data-id=\"{}\">\n<p><label>Blocks of the kernel: <progress id=\"bar\" max=\"1\" "
      "value=\"0\"></progress></label></p>\n",
      safe(home), safe(entry.path.filename().string()), safe(run.command), safe(state_of(run)),
      safe(run.mode), safe(run.device), entry.id);
  return page_shell("simtlab: " + entry.path.filename().string(),
                    body + table + report::html_chart(chart) + "</main>\n", script);
}

}  // namespace simtlab::report::viewer
