#include "report/html_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/compare_why.h"
#include "report/format.h"

namespace simtlab::report {

std::string html_escaped(std::string_view text) {
  std::string out;
  // Line ends stay; what a terminal or an editor would obey is no part of a page either.
  for (const char c : shown_lines(text, text.size())) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  return out;
}

std::string html_json(const ChartData& data) {
  std::string out;
  // No < in it: neither an end of the script nor a comment can begin.
  for (const char c : data.dump(-1, ' ', true, ChartData::error_handler_t::replace)) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

std::string html_metric(std::string_view name, double value) {
  const result::MetricDeclaration* d = result::find_metric(name);
  return fmt::format("<span data-m=\"{}\" data-exact=\"{}\" tabindex=\"0\">{}</span>", html_escaped(name),
                     value, html_escaped(value_text(value, name, d == nullptr ? "" : d->unit)));
}

std::string html_metric(const result::Metrics& metrics, std::string_view name) {
  const auto value = metrics.get(name);
  return value ? html_metric(name, *value) : "-";
}

std::string html_metric_name(std::string_view name) {
  return fmt::format("<code data-m=\"{0}\" tabindex=\"0\">{0}</code>", html_escaped(name));
}

std::string html_table(const HtmlTable& table) {
  if (table.rows.empty()) return {};
  const bool headless = std::ranges::all_of(table.head, [](const std::string& name) { return name.empty(); });
  std::string out = headless ? "<div class=\"scroll\"><table>" : "<div class=\"scroll\"><table><thead><tr>";
  std::vector<bool> number;
  for (std::string name : table.head) {
    number.push_back(name.ends_with('#'));
    if (number.back()) name.pop_back();
    const std::size_t at = number.size() - 1;
    const bool explained = !table.declared.empty() && at < table.columns.size();
    const std::string text = explained ? fmt::format("<span data-m=\"{}: {}\" tabindex=\"0\">{}</span>",
                                                     table.declared, table.columns[at], html_escaped(name))
                                       : html_escaped(name);
    if (!headless)
      out += fmt::format("<th scope=\"col\"{}>{}</th>", number.back() ? " class=\"n\"" : "", text);
  }
  out += headless ? "<tbody>\n" : "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    out += table.row_class.empty() ? std::string("<tr>") : fmt::format("<tr class=\"{}\">", table.row_class);
    for (std::size_t i = 0; i < row.size(); ++i)
      out += fmt::format("<td{}>{}</td>", i < number.size() && number[i] ? " class=\"n\"" : "", row[i]);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string html_chart(const HtmlChart& chart) {
  if (chart.table.rows.empty()) return {};
  ChartData data = chart.data;
  data["kind"] = chart.kind;
  data["title"] = chart.title;
  data["description"] = chart.description;
  const char* title = chart.heading ? "h3" : "strong";
  return fmt::format(
      "<figure class=\"chart\" "
      "data-kind=\"{0}\"><figcaption><{5}>{1}</{5}><span>{2}</span></figcaption>\n<div "
      "class=\"plot\"></div>\n<script type=\"application/json\">{3}</script>\n"
      "<details class=\"data\"><summary>Data: {1}</summary>\n{4}</details></figure>\n",
      chart.kind, html_escaped(chart.title), html_escaped(chart.description), html_json(data),
      html_table(chart.table), title);
}

}  // namespace simtlab::report
