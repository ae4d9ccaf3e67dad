#include "report/viewer/page_shell.h"

#include <fmt/format.h>

#include <set>

#include "report/format.h"
#include "report/html_shell.h"
#include "report/viewer/pages.h"

namespace simtlab::report::viewer {
namespace {

constexpr const char* style =
    R"(header, main, footer { max-width: 1280px; } .choice { width: 2rem; } .bar { position: sticky; bottom: 0; background: var(--bg); border-top: 1px solid var(--line); padding: 8px 0; }
button, select { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--muted); border-radius: 5px; padding: 4px 12px; } progress { width: min(30rem, 100%); height: 1.1rem; }
td.path { overflow-wrap: anywhere; min-width: 10rem; } td.command { max-width: 26rem; overflow-wrap: anywhere; }
)";

}  // namespace

std::string safe(std::string_view text) { return report::html_escaped(report::printable(text)); }

std::string page_shell(const std::string& title, const std::string& body, const char* script,
                       const report::ChartData& words) {
  report::HtmlShell s;
  s.title = title;
  s.style = style;
  s.script = script;
  s.words = words;
  s.fetches = true;
  s.footer = "<p>Served by simtlab view, on this machine only.</p>";
  return report::html_document(s, body);
}

std::vector<const result::MetricDeclaration*> declared(const std::vector<const result::Metrics*>& all) {
  std::set<std::string_view> names;
  for (const result::Metrics* m : all)
    for (const result::Metrics::Value& v : m->values()) names.insert(result::find_metric(v.name)->name);
  std::vector<const result::MetricDeclaration*> out;
  for (const result::MetricDeclaration& d : result::registry())
    if (names.contains(d.name)) out.push_back(&d);
  return out;
}

std::string error_page(const std::string& title, const std::string& message, const std::string& home) {
  return page_shell(title,
                    fmt::format("<header><h1>{}</h1></header>\n<main id=\"main\"><p "
                                "class=\"warning\">{}</p>\n<p><a href=\"{}\">All results</a></p></main>\n",
                                safe(title), safe(message), safe(home)));
}

std::string with_way_back(std::string page, const std::string& home) {
  static constexpr std::string_view before = "<header>";
  if (const std::size_t at = page.find(before); at != std::string::npos)
    page.insert(at + before.size(), "<p><a href=\"" + safe(home) + "\">All results</a></p>");
  return page;
}

}  // namespace simtlab::report::viewer
