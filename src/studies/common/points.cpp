#include "studies/common/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "result/json.h"
#include "studies/common/output.h"
#include "studies/common/progress.h"
#include "studies/common/signals.h"

namespace simtlab::studies {
namespace {

using Json = nlohmann::ordered_json;

SweptPoint tried(const Swept& what, const std::vector<std::string>& values) {
  try {
    return {what.at(values).total, {}, {}};  // the table is of the total
  } catch (const Error& e) {
    if (!what.is_row(e)) throw;
    return {{}, e.diagnostics().front().message, e.diagnostics().front().hint};
  }
}

// The points that are done.
struct Table {
  std::vector<Axis> axes;
  std::vector<SweptPoint> points;
  std::size_t all = 0;
  SweptColumns columns;

  bool whole() const { return points.size() == all; }
  std::string text(const report::Style& style) const;
  std::string csv() const;
  std::string json() const;
};

std::string Table::text(const report::Style& style) const {
  std::string out, head;
  if (!whole())
    out =
        report::painted(fmt::format("INCOMPLETE: interrupted after {} of {} variants\n", points.size(), all),
                        report::Paint::bad, style);
  const auto width = [&](const Axis& a) { return std::max(columns.axis_width, a.name.size() + 2); };
  for (const Axis& a : axes) head += fmt::format("{:<{}}", a.name, width(a));
  out += report::painted(head + columns.head + "\n", report::Paint::bold, style);
  std::vector<std::string> hints;  // each once
  for (std::size_t i = 0; i < points.size(); ++i) {
    const SweptPoint& p = points[i];
    const std::vector<std::string> values = point_of(axes, i);
    for (std::size_t a = 0; a < axes.size(); ++a) out += fmt::format("{:<{}}", values[a], width(axes[a]));
    out += p.problem.empty() ? columns.row(p.total, style)
                             : report::painted(report::shortened(p.problem, 90), report::Paint::dim, style);
    out += "\n";
    if (!p.hint.empty() && std::ranges::find(hints, p.hint) == hints.end()) hints.push_back(p.hint);
  }
  for (const std::string& hint : hints)
    out += report::painted("hint: " + hint + "\n", report::Paint::dim, style);
  return out;
}

std::string Table::csv() const {
  std::string out;
  for (const Axis& a : axes) out += a.name + ",";
  for (const std::string& metric : columns.csv) out += metric + ",";
  out += "problem\n";
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (const std::string& value : point_of(axes, i)) out += value + ",";
    for (const std::string& metric : columns.csv) {
      const auto value = points[i].problem.empty() ? columns.value(points[i].total, metric) : std::nullopt;
      out += value ? fmt::format("{},", *value) : ",";
    }
    out += points[i].problem.empty() ? "\n" : fmt::format("\"{}\"\n", points[i].problem);
  }
  return out;
}

std::string Table::json() const {
  Json document = {{"schema", result::json_schema}, {"sweep", Json::array()}};
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::vector<std::string> values = point_of(axes, i);
    Json entry = {{"point", Json::object()}};
    for (std::size_t a = 0; a < axes.size(); ++a) entry["point"][axes[a].name] = values[a];
    if (!points[i].problem.empty()) {
      entry["problem"] = points[i].problem;
      if (!points[i].hint.empty()) entry["hint"] = points[i].hint;
    } else {
      Json& total = entry["total"] = Json::object();
      const auto add = [&](const std::string& name, const Json& value) {
        total[name] = {{"value", value}, {"unit", result::find_metric(name)->unit}};
      };
      if (columns.all_in_json)
        for (const result::Metrics::Value& v : points[i].total.values())
          if (!v.name.starts_with("host.")) add(v.name, v.is_integer ? Json(v.integer) : Json(v.real));
      if (!columns.all_in_json)
        for (const std::string& metric : columns.csv)
          if (const auto value = columns.value(points[i].total, metric)) add(metric, *value);
    }
    document["sweep"].push_back(std::move(entry));
  }
  if (!whole()) document["interrupted"] = true;
  return document.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Outcome sweep_points(const Swept& what, OutputOptions output) {
  check_outputs(output);
  const auto table = std::make_shared<Table>();
  table->axes = what.axes;
  table->all = count_points(what.axes, what.error_id);
  Outcome out;
  const Signals signals(0);  // between two variants, too
  try {
    Progress progress(what.doing, output);
    for (std::size_t i = 0; i < table->all; ++i) {
      if (signals.interrupted())
        throw Error(ExitCode::interrupted, "interrupted",
                    fmt::format("interrupted after {} of {} variants", i, table->all),
                    "the table has those that were done");
      progress.at(fmt::format("{} of {} variants done", i, table->all));
      table->points.push_back(tried(what, point_of(what.axes, i)));
    }
  } catch (const Error& e) {
    if (e.code() != ExitCode::interrupted || table->points.empty()) throw;
    out.failure = e;
  }
  if (std::ranges::all_of(table->points, [](const SweptPoint& p) { return !p.problem.empty(); }))
    out.code = static_cast<int>(ExitCode::bad_input);
  table->columns = what.columns(table->points);
  out.text = [table](const report::Style& style) { return table->text(style); };
  out.csv = [table] { return table->csv(); };
  out.json = [table] { return table->json(); };
  out.output = std::move(output);
  return out;
}

}  // namespace simtlab::studies
