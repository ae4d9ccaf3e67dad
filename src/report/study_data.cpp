// A study for other tools: CSV, JSON, Markdown, timeline.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/csv_cell.h"
#include "report/study.h"
#include "result/json.h"

namespace simtlab::report {
namespace {

using result::Study;
using result::StudyMetric;
using result::StudyPoint;
using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json combination(const Study& s, const result::StudyCombination& c) {
  Json out = {{"first_point", c.first_point},
              {"repeats", c.repeats},
              {"front", c.on_front},
              {"values", Json::object()},
              {"metrics", Json::object()}};
  for (std::size_t a = 0; a < s.axes.size(); ++a) out["values"][s.axes[a]] = c.values[a];
  for (std::size_t m = 0; m < s.metrics.size(); ++m)
    if (const result::StudyFigure& f = c.figures[m]; std::isfinite(f.median)) {
      Json& figure = out["metrics"][s.metrics[m].name];
      figure = {{"value", f.median}, {"unit", s.metrics[m].unit}};
      if (!std::isfinite(f.deviation)) continue;
      figure["mean"] = f.mean, figure["deviation"] = f.deviation, figure["spread"] = number(f.spread());
      figure["lowest"] = f.low, figure["highest"] = f.high;
    }
  return out;
}

Json point(const Study& s, const StudyPoint& p) {
  Json out = {{"id", p.id},       {"combination", p.combination}, {"repeat", p.repeat},      {"seed", p.seed},
              {"state", p.state}, {"attempts", p.attempts},       {"values", Json::object()}};
  for (std::size_t a = 0; a < s.axes.size(); ++a) out["values"][s.axes[a]] = p.values[a];
  if (p.begun > 0)
    out["begun"] = p.begun, out["ended"] = p.ended, out["host"] = p.host, out["worker"] = p.worker;
  for (std::size_t m = 0; m < s.metrics.size(); ++m)
    if (std::isfinite(p.metrics[m])) out["metrics"][s.metrics[m].name] = p.metrics[m];
  if (p.state == "failed")
    out["exit_code"] = p.exit_code, out["error_id"] = p.error_id, out["error"] = p.error;
  return out;
}

Json effect(const Study& s, const result::StudyEffect& e) {
  Json out = {{"metric", s.metrics[e.metric].name}, {"axis", s.axes[e.axis]},
              {"share", number(e.share)},           {"rank_correlation", number(e.rank_correlation)},
              {"elasticity", number(e.elasticity)}, {"levels", Json::array()}};
  if (e.of_kernel_mean) out["of_kernel_mean"] = true;
  for (const auto& l : e.levels)
    out["levels"].push_back({{"label", l.label},
                             {"combinations", l.count},
                             {"mean", number(l.mean)},
                             {"low", number(l.low)},
                             {"high", number(l.high)}});
  return out;
}

Json comparison(const Study& s, const result::StudyComparison& c) {
  Json out = {{"metric", s.metrics[c.metric].name},
              {"baseline", c.columns[c.baseline]},
              {"ratio", c.speed_up ? "baseline/value" : "value/baseline"},
              {"columns", c.columns},
              {"kernels", Json::array()},
              {"geometric_mean", Json::array()},
              {"kernels_in_mean", c.in_mean}};
  for (const auto& row : c.rows) {
    Json ratios = Json::array();
    for (const double ratio : row.ratios) ratios.push_back(number(ratio));
    out["kernels"].push_back({{"kernel", row.kernel}, {"baseline", number(row.base)}, {"ratios", ratios}});
  }
  for (const double ratio : c.mean) out["geometric_mean"].push_back(number(ratio));
  return out;
}

// Points of one host; rows are its workers, or, of a cluster, as many as were needed at once.
class HostRows {
 public:
  std::size_t row(const StudyPoint& p, bool by_worker) {
    if (by_worker) return workers_.emplace(p.worker, workers_.size()).first->second;
    auto free = std::ranges::find_if(free_at_, [&](double at) { return at <= p.begun; });
    if (free == free_at_.end()) free = free_at_.insert(free_at_.end(), 0);
    *free = p.ended;
    return static_cast<std::size_t>(free - free_at_.begin());
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out(std::max(workers_.size(), free_at_.size()));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = fmt::format("row {}", i + 1);
    for (const auto& [name, row] : workers_) out[row] = fmt::format("worker {}", name);
    return out;
  }

 private:
  std::map<std::string, std::size_t> workers_;
  std::vector<double> free_at_;
};

std::string plain(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

// The combination that a point is a repeat of, if one of its repeats is done.
class CombinationOf {
 public:
  explicit CombinationOf(const Study& s) {
    std::map<std::uint64_t, const result::StudyCombination*> by_point;
    for (const auto& c : s.combinations) by_point[c.first_point] = &c;
    for (const StudyPoint& p : s.points)
      if (const auto at = by_point.find(p.id); at != by_point.end()) of_[p.combination] = at->second;
  }
  const result::StudyCombination* operator()(const StudyPoint& p) const {
    const auto at = of_.find(p.combination);
    return at == of_.end() ? nullptr : at->second;
  }

 private:
  std::map<std::uint64_t, const result::StudyCombination*> of_;
};

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string markdown_comparison(const Study& s, const result::StudyComparison& c) {
  const StudyMetric& metric = s.metrics[c.metric];
  const std::string base = markdown_cell(c.columns[c.baseline]);
  std::string out = fmt::format("\n{} of {} against {}\n\n| kernel | {} |", c.speed_up ? "Speed-up" : "Ratio",
                                markdown_cell(metric.name), base, base),
              rule = "|---|---:|";
  for (const std::string& column : c.columns)
    out += fmt::format(" {} |", markdown_cell(column)), rule += "---:|";
  out += "\n" + rule + "\n";
  const auto ratios = [&](const std::vector<double>& values) {
    for (const double v : values) out += std::isfinite(v) ? fmt::format(" {:.3f} |", v) : " - |";
    out += "\n";
  };
  for (const auto& row : c.rows) {
    out += fmt::format("| {} | {} |", markdown_cell(row.kernel), study_value(metric, row.base));
    ratios(row.ratios);
  }
  out += fmt::format("| geometric mean of {} | |", c.in_mean);
  ratios(c.mean);
  return out;
}

}  // namespace

std::string study_csv(const Study& s) {
  std::string out = "point,repeat,seed,state";
  for (const std::string& a : s.axes) out += "," + csv_cell(a);
  for (const StudyMetric& m : s.metrics)
    if (!m.is_axis) out += "," + csv_cell(m.name);
  out += ",attempts,begun,ended,host,worker,exit_code,error_id,error";
  const CombinationOf combination_of(s);
  std::vector<std::size_t> differ;
  for (std::size_t m = 0; m < s.metrics.size(); ++m)
    if (!s.metrics[m].is_axis && study_differs(s, m)) differ.push_back(m);
  for (const std::size_t m : differ)
    for (const char* what : {"median", "spread", "lowest", "highest"})
      out += "," + csv_cell(fmt::format("{} {}", s.metrics[m].name, what));
  out += "\r\n";
  for (const StudyPoint& p : s.points) {
    out += fmt::format("{},{},{},{}", p.id, p.repeat, p.seed, csv_cell(p.state));
    for (const std::string& v : p.values) out += "," + csv_cell(v);
    for (std::size_t m = 0; m < s.metrics.size(); ++m)
      if (!s.metrics[m].is_axis) out += "," + plain(p.metrics[m]);
    out += fmt::format(",{}", p.attempts);
    out += p.begun > 0 && p.ended > 0 ? fmt::format(",{:.6f},{:.6f}", p.begun, p.ended) : ",,";
    out += fmt::format(",{},{},{},{},{}", csv_cell(p.host), csv_cell(p.worker),
                       p.state == "failed" || p.state == "done" ? fmt::format("{}", p.exit_code) : "",
                       csv_cell(p.error_id), csv_cell(p.error));
    for (const std::size_t m : differ) {
      const result::StudyCombination* const c = combination_of(p);
      const result::StudyFigure f = c == nullptr ? result::StudyFigure() : c->figures[m];
      for (const double v : {f.median, f.spread(), f.low, f.high}) out += "," + plain(v);
    }
    out += "\r\n";
  }
  return out;
}

std::string study_json(const Study& s) {
  Json out = {{"schema", result::json_schema},
              {"study",
               {{"name", s.name},
                {"created", s.created},
                {"points", s.points.size()},
                {"done", s.done},
                {"failed", s.failed},
                {"pending", s.pending + s.running},
                {"axes", s.axes},
                {"metrics", Json::array()},
                {"notes", s.notes}}}};
  for (const StudyMetric& m : s.metrics)
    out["study"]["metrics"].push_back({{"name", m.name},
                                       {"unit", m.unit},
                                       {"goal", m.goal == StudyMetric::Goal::minimise   ? "minimise"
                                                : m.goal == StudyMetric::Goal::maximise ? "maximise"
                                                                                        : "none"}});
  for (const char* list : {"combinations", "front", "effects", "points"}) out[list] = Json::array();
  for (const auto& c : s.combinations) {
    out["combinations"].push_back(combination(s, c));
    if (c.on_front) out["front"].push_back(c.first_point);
  }
  for (const auto& e : s.effects) out["effects"].push_back(effect(s, e));
  for (const auto& c : s.comparisons) out["comparisons"].push_back(comparison(s, c));
  for (const StudyPoint& p : s.points) out["points"].push_back(point(s, p));
  return out.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

std::string study_markdown(const Study& s) {
  const auto cell = markdown_cell;
  std::string head = "| point |", rule = "|---|",
              out = fmt::format("# Study {}\n\n{} points: {} done, {} failed, {} to run\n\n", cell(s.name),
                                s.points.size(), s.done, s.failed, s.pending + s.running);
  for (const std::string& a : s.axes) head += fmt::format(" {} |", cell(a)), rule += "---|";
  for (const StudyMetric& m : s.metrics)
    if (!m.is_axis) head += fmt::format(" {} |", cell(m.name)), rule += "---|";
  out += head + " front |\n" + rule + "---|\n";
  for (const result::StudyCombination* c : best_first(s, s.combinations.size())) {
    out += fmt::format("| {} |", c->first_point);
    for (const std::string& v : c->values) out += fmt::format(" {} |", cell(v));
    for (std::size_t m = 0; m < s.metrics.size(); ++m)
      if (!s.metrics[m].is_axis) out += fmt::format(" {} |", study_value(s.metrics[m], c->value(m)));
    out += c->on_front ? " * |\n" : " |\n";
  }
  for (const auto& c : s.comparisons) out += markdown_comparison(s, c);
  if (!s.effects.empty())
    out +=
        "\n| metric | axis | share of the variance | rank correlation | elasticity "
        "|\n|---|---|---|---|---|\n";
  const auto figure = [](double v) { return std::isfinite(v) ? fmt::format("{:+.3f}", v) : std::string(); };
  for (const auto& e : s.effects)
    out += fmt::format("| {} | {} | {} | {} | {} |\n", cell(s.metrics[e.metric].name), cell(s.axes[e.axis]),
                       format_share(e.share), figure(e.rank_correlation), figure(e.elasticity));
  if (s.failed > 0) out += "\n| failed point | exit code | error |\n|---|---|---|\n";
  for (const StudyPoint& p : s.points)
    if (p.state == "failed")
      out +=
          fmt::format("| {} | {} | {} |\n", p.id, p.exit_code, cell(p.error.substr(0, p.error.find('\n'))));
  return out;
}

std::string study_timeline(const Study& s) {
  std::vector<const StudyPoint*> ran;
  for (const StudyPoint& p : s.points)
    if (p.begun > 0 && p.ended >= p.begun && p.ended < 1e11) ran.push_back(&p);
  if (ran.empty())
    throw Error(ExitCode::bad_input, "report-timeline",
                "no point of the study has run: there is nothing to draw");
  std::ranges::stable_sort(ran, {}, &StudyPoint::begun);
  const double zero = ran.front()->begun;
  const auto microseconds = [&](double at) {
    return static_cast<std::int64_t>(std::llround((at - zero) * 1e6));
  };
  std::map<std::string, std::pair<std::size_t, HostRows>> hosts;
  std::string events;
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> row_ends;
  for (const StudyPoint* p : ran) {
    auto& [number, rows] = hosts.emplace(p->host, std::pair(hosts.size() + 1, HostRows())).first->second;
    const std::size_t row = rows.row(*p, !s.cluster);
    std::string args = fmt::format("\"point\": {}, \"state\": {}, \"repeat\": {}, \"worker\": {}", p->id,
                                   result::json_string(p->state), p->repeat, result::json_string(p->worker));
    for (std::size_t a = 0; a < s.axes.size(); ++a)
      args += fmt::format(", {}: {}", result::json_string("axis " + s.axes[a]),
                          result::json_string(p->values[a]));
    for (std::size_t m = 0; m < s.metrics.size(); ++m)
      if (std::isfinite(p->metrics[m]))
        args +=
            fmt::format(", {}: {:.9g}", result::json_string("metric " + s.metrics[m].name), p->metrics[m]);
    if (p->state == "failed") args += fmt::format(", \"error\": {}", result::json_string(p->error));
    // A worker has one point at a time; its clock was read before and after, so that the last microsecond may
    // be counted twice.
    std::int64_t& end = row_ends[{number, row}];
    const std::int64_t from = std::max(end, microseconds(p->begun));
    end = std::max(from, microseconds(p->ended));
    events += fmt::format(
        ",\n{{\"name\": {}, \"cat\": {}, \"ph\": \"X\", \"pid\": {}, \"tid\": {}, \"ts\": {}, \"dur\": {}, "
        "\"args\": {{{}}}}}",
        result::json_string(fmt::format("point {}", p->id)), result::json_string(p->state), number, row + 1,
        from, end - from, args);
  }
  std::string head;
  for (const auto& [name, host] : hosts) {
    head += fmt::format(
        ",\n{{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": {}, \"tid\": 0, \"args\": {{\"name\": "
        "{}}}}}",
        host.first, result::json_string(name.empty() ? "unknown host" : name));
    const std::vector<std::string> names = host.second.names();
    for (std::size_t i = 0; i < names.size(); ++i)
      head += fmt::format(
          ",\n{{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": {}, \"tid\": {}, \"args\": {{\"name\": "
          "{}}}}}",
          host.first, i + 1, result::json_string(names[i]));
  }
  return "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [" + (head + events).substr(1) + "\n]}\n";
}

}  // namespace simtlab::report
