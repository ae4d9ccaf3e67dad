// What `simtlab check` found as one page: findings with their code, then coverage by file and line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "report/check.h"
#include "report/check_words.h"
#include "report/html_shell.h"
#include "report/html_writer.h"

namespace simtlab::report {
namespace {

using result::Access;
using result::Finding;

constexpr const char* check_style =
    ".finding { border-left: 4px solid var(--warn); background: var(--panel); padding: 8px 14px; margin: "
    "12px "
    "0; }\n.finding h3 { margin: 0 0 4px; overflow-wrap: anywhere; }\n.finding.aside { border-color: "
    "var(--line); }\n"
    ".finding pre { margin: 2px 0; overflow-x: auto; font-size: .84rem; }\n"
    ".finding dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; margin: 6px 0 0; }\n"
    ".finding dt { color: var(--muted); } .finding dd { margin: 0; overflow-wrap: anywhere; }\n";

std::string escaped_line(std::string_view text) { return html_escaped(printable(text)); }

class CheckPage {
 public:
  explicit CheckPage(const CheckReport& report) : r_(report) {}

  std::string run() const {
    HtmlShell shell;
    shell.title = "simtlab check: " + summary_words(r_);
    shell.generator = "simtlab " + r_.result.manifest.tool_version;
    shell.style = check_style;
    shell.footer =
        fmt::format("<p>Written by simtlab {}: {}</p>", escaped_line(r_.result.manifest.tool_version),
                    escaped_line(r_.result.manifest.command_line));
    return html_document(shell,
                         header() + "<main id=\"main\">\n" + findings() + gaps() + coverage() + "</main>\n");
  }

 private:
  std::string header() const {
    const std::string nothing = nothing_found_words(r_);
    return fmt::format("<header><h1>simtlab check</h1>\n<p class=\"verdict\">{}{}</p></header>\n",
                       escaped_line(summary_words(r_)),
                       nothing.empty() ? nothing : "<br>" + escaped_line(nothing));
  }

  std::string access(const Access& a) const {
    std::string out;
    if (const std::string place = place_words(a.place, r_.result); !place.empty())
      out += fmt::format("<p><code>{}</code></p>\n", escaped_line(place));
    const std::string& text = a.place.text.empty() ? a.place.instruction : a.place.text;
    if (!text.empty()) out += fmt::format("<pre>{}</pre>\n", escaped_line(text));
    const std::string function = a.place.function.empty() ? a.place.kernel : a.place.function;
    return out + fmt::format("<p class=\"muted\">{}{}</p>\n", escaped_line(access_words(a)),
                             function.empty() ? function : escaped_line(", in " + function));
  }

  std::string finding(std::size_t i) const {
    const Finding& f = r_.check().findings[i];
    const Judgement& j = r_.judgements[i];
    const char* aside = j.standing == Standing::open ? "" : " aside";
    std::string out =
        fmt::format("<section class=\"finding{}\" id=\"finding-{}\"><h3>{}: {}: {}</h3>\n", aside, i + 1,
                    level_name(f.level), escaped_line(f.rule), escaped_line(f.message));
    for (const Access& a : f.accesses) out += access(a);
    out += "<dl>";
    for (const auto& [name, text] : remarks(f))
      out += fmt::format("<dt>{}</dt><dd>{}</dd>", name, escaped_line(text));
    if (j.standing == Standing::known) out += "<dt>known</dt><dd>the baseline has it</dd>";
    if (j.standing == Standing::suppressed)
      out += fmt::format("<dt>suppressed</dt><dd>{}</dd>", escaped_line(j.reason));
    return out + "</dl></section>\n";
  }

  std::string findings() const {
    std::string open, aside;
    for (std::size_t i = 0; i < r_.check().findings.size(); ++i)
      (r_.judgements[i].standing == Standing::open ? open : aside) += finding(i);
    std::string out = "<section><h2>Findings</h2>\n" + (open.empty() ? "<p>None.</p>\n" : open);
    if (!aside.empty())
      out += "<details><summary>Suppressed and known ones</summary>\n" + aside + "</details>\n";
    return out + "</section>\n";
  }

  std::string gaps() const {
    std::string out;
    for (const std::string& gap : r_.check().gaps)
      out += fmt::format("<p class=\"warning\">Not checked: {}</p>\n", escaped_line(gap));
    for (const std::string& warning : r_.warnings)
      out += fmt::format("<p class=\"warning\">{}</p>\n", escaped_line(warning));
    return out;
  }

  std::string coverage() const {
    if (r_.check().coverage.empty()) return {};
    HtmlTable files{{"file", "lines that ran#", "of#", "share#", "outcomes of branches#", "of#"}, {}, ""};
    std::string details;
    for (const result::CoveredFile& f : r_.check().coverage) {
      const CoverageSum sum = sum_of(f);
      const std::string name = escaped_line(file_words(f.file, r_.result));
      files.rows.push_back({"<code>" + name + "</code>", fmt::format("{}", sum.lines_run),
                            fmt::format("{}", sum.lines), fmt::format("{:.1f} %", 100 * sum.share()),
                            fmt::format("{}", sum.branches_run), fmt::format("{}", sum.branches)});
      details += fmt::format("<details><summary>{}</summary>\n{}</details>\n", name, html_table(lines(f)));
    }
    return "<section id=\"coverage\"><h2>Coverage of device code</h2>\n" + html_table(files) + details +
           "</section>\n";
  }

  // Line by line, with the branches of each.
  static HtmlTable lines(const result::CoveredFile& file) {
    std::map<std::uint32_t, std::vector<std::string>> branches;
    for (const result::CoveredBranch& b : file.branches)
      branches[b.line].push_back(
          fmt::format("taken {}, not {}, both in one warp {}", b.taken, b.not_taken, b.parted));
    HtmlTable out{{"line#", "warps#", "lanes at most#", "branches"}, {}, ""};
    for (const result::CoveredLine& l : file.lines)
      out.rows.push_back({fmt::format("{}", l.line), fmt::format("{}", l.warps), fmt::format("{}", l.lanes),
                          fmt::format("{}", fmt::join(branches[l.line], "<br>"))});
    return out;
  }

  const CheckReport& r_;
};

}  // namespace

std::string check_html(const CheckReport& report) { return CheckPage(report).run(); }

}  // namespace simtlab::report
