// Pieces of the HTML report: text, numbers with their explanation, tables, charts with the table behind them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/shown.h"
#include "result/metrics.h"

namespace simtlab::report {

using ChartData = nlohmann::ordered_json;

// Text of an element or an attribute; foreign text goes through here.
std::string html_escaped(std::string_view text);
inline std::string safe(std::string_view text) { return html_escaped(printable(text)); }
// For the inside of <script type="application/json">.
std::string html_json(const ChartData& data);
// A value as people read it, explained from the registry where it is pointed at.
std::string html_metric(std::string_view name, double value);
std::string html_metric(const result::Metrics& metrics, std::string_view name);  // a dash if it is absent
// The same of the name alone
std::string html_metric_name(std::string_view name);

struct HtmlTable {
  std::vector<std::string> head;               // text; columns with numbers end in '#'
  std::vector<std::vector<std::string>> rows;  // HTML
  std::string row_class;                       // of the body's rows, for filters
  std::string declared = {};                   // a table of the registry: heads explain themselves
  std::vector<std::string> columns = {};       // its columns, for the heads
};
std::string html_table(const HtmlTable& table);

// A kind of html/charts.js with its data, and the table behind it. Nothing where there is no row.
struct HtmlChart {
  const char* kind;
  std::string title, description;
  ChartData data = ChartData::object();
  HtmlTable table;
  bool heading = false;  // its title is one of the page: no other heading stands above it
};
std::string html_chart(const HtmlChart& chart);

}  // namespace simtlab::report
