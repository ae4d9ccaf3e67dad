#include "cli/predict_variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "cli/axes.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "compile/launch_file.h"
#include "models/model.h"
#include "report/format.h"
#include "result/json.h"

namespace simtlab::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* sweep_hint = "block=32:1024 regs=32,64 l1.bytes=16K,48K; FIRST:LAST doubles";

// A launch that exists on the command line only.
bool has_launch(const Run& run) {
  const compile::LaunchOptions& l = run.kernel.launch;
  return !run.kernel.launch_file.empty() || l.grid || l.global || l.block;
}

Run varied(Run run, const std::vector<Axis>& axes, const std::vector<std::string>& values) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string& key = axes[i].name;
    if (key == "gpu") {
      run.given.set("gpu", values[i]);
    } else if (key == "block" || key == "grid" || key == "global" || key == "shared") {
      if (!has_launch(run))
        throw Error(ExitCode::usage, "predict-sweep",
                    fmt::format("--sweep {}: the program launches its kernels itself", key),
                    "sweep a kernel without a host program, or a device key");
      compile::LaunchOptions& l = run.kernel.launch;
      if (key == "block" && l.grid && !l.global)
        throw Error(ExitCode::usage, "predict-sweep",
                    "--sweep block: with --grid the number of threads would change with the block",
                    "--global XxYxZ in place of --grid keeps it");
      (key == "block" ? l.block : key == "grid" ? l.grid : key == "global" ? l.global : l.shared) = values[i];
    } else if (key == "regs") {
      run.given.set("regs", values[i]);
    } else {
      run.given.add("set", fmt::format("{}={}", key, with_unit(values[i])));
    }
  }
  return run;
}

struct PredictedPoint {
  result::Result result;
  std::string problem;
};

// A launch that a GPU does not take, or a value that it can't have, is a row of the table.
PredictedPoint predicted_point(const std::function<result::Result(const std::vector<std::string>&)>& at,
                               const std::vector<std::string>& values) {
  try {
    return {at(values), {}};
  } catch (const Error& e) {
    const bool goes_on = e.code() == ExitCode::bad_input &&
                         (e.id().starts_with("launch-") || e.id().starts_with("device-value") ||
                          e.id().starts_with("config-value") || e.id() == "counts-contradiction");
    if (!goes_on) throw;
    return {{}, e.diagnostics().front().message};
  }
}

std::optional<double> time_of(const result::Result& r, const std::string& model) {
  return r.total.get(fmt::format("predict.{}.time", model));
}

// Models that answered in some point, in their usual order.
std::vector<std::string> answered(const std::vector<PredictedPoint>& points) {
  std::vector<std::string> out;
  for (const std::string& model : models::model_names())
    if (std::ranges::any_of(points,
                            [&](const PredictedPoint& p) { return time_of(p.result, model).has_value(); }))
      out.push_back(model);
  return out;
}

struct Printed {
  std::string text, csv;
  Json document;
};

Printed printed(const std::vector<Axis>& axes, const std::vector<PredictedPoint>& points,
                const report::Style& style) {
  const std::vector<std::string> models = answered(points);
  Printed out;
  out.document = {{"schema", result::json_schema}, {"sweep", Json::array()}};
  std::string header;
  for (const Axis& a : axes) header += fmt::format("{:<16}", a.name), out.csv += a.name + ",";
  for (const std::string& m : models)
    header += fmt::format("{:>14}", m), out.csv += fmt::format("predict.{}.time,", m);
  out.text = report::painted(header + "\n", report::Paint::bold, style);
  out.csv += "problem\n";
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::vector<std::string> values = point_of(axes, i);
    Json entry = {{"point", Json::object()}};
    for (std::size_t a = 0; a < axes.size(); ++a) {
      entry["point"][axes[a].name] = values[a];
      out.text += fmt::format("{:<16}", values[a]);
      out.csv += values[a] + ",";
    }
    const PredictedPoint& p = points[i];
    if (!p.problem.empty()) {
      out.text += report::painted(report::shortened(p.problem, 90), report::Paint::dim, style) + "\n";
      out.csv += std::string(models.size(), ',') + fmt::format("\"{}\"\n", p.problem);
      entry["problem"] = p.problem;
    } else {
      for (const std::string& m : models) {
        const auto time = time_of(p.result, m);
        out.text += fmt::format("{:>14}", time ? report::format_time(*time) : "-");
        out.csv += fmt::format("{},", time ? fmt::format("{}", *time) : "");
        if (time) entry["total"][fmt::format("predict.{}.time", m)] = {{"value", *time}, {"unit", "ns"}};
      }
      out.text += "\n";
      out.csv += "\n";
    }
    out.document["sweep"].push_back(std::move(entry));
  }
  return out;
}

}  // namespace

std::vector<Axis> predicted_axes(const RunOptions& given, const std::vector<std::string>& texts) {
  std::vector<Axis> out;
  if (const auto gpu = given.get("gpu"); gpu && gpu->find(',') != std::string::npos)
    out.push_back(parse_axis("gpu=" + *gpu, "predict-sweep", "--gpu h100,a100,gtx480"));
  for (const std::string& text : texts) out.push_back(parse_axis(text, "predict-sweep", sweep_hint));
  return out;
}

int predict_points(const std::vector<Axis>& axes, OutputOptions output,
                   const std::function<result::Result(const std::vector<std::string>&)>& at) {
  check_outputs(output);
  const std::size_t count = count_points(axes, "predict-sweep");
  std::vector<PredictedPoint> points;
  std::optional<Error> stopped;
  const Signals signals(0);  // between two variants, too
  try {
    Progress progress("predicting", output);
    for (std::size_t i = 0; i < count; ++i) {
      if (signals.interrupted())
        throw Error(ExitCode::interrupted, "interrupted",
                    fmt::format("interrupted after {} of {} variants", i, count),
                    "the table has those that were done");
      progress.at(fmt::format("{} of {} variants done", i, count));
      points.push_back(predicted_point(at, point_of(axes, i)));
    }
  } catch (const Error& e) {
    if (e.code() != ExitCode::interrupted || points.empty()) throw;
    stopped = e;
  }
  const report::Style style = style_for(1, output.color);
  Printed out = printed(axes, points, style);
  if (stopped) {
    out.document["interrupted"] = true;
    out.text = report::painted(
                   fmt::format("INCOMPLETE: interrupted after {} of {} variants\n", points.size(), count),
                   report::Paint::bad, style) +
               out.text;
  }
  Writing writing;
  if (!output.csv.empty()) writing([&] { write_to(output.csv, out.csv); });
  if (!output.json.empty())
    writing([&] {
      write_to(output.json,
               out.document.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    });
  write_text(writing, output, out.text);
  writing.end();
  if (stopped) throw *stopped;
  return std::ranges::all_of(points, [](const PredictedPoint& p) { return !p.problem.empty(); })
             ? static_cast<int>(ExitCode::bad_input)
             : 0;
}

int predict_variants(const Run& run, const Target& target, const std::vector<std::string>& texts) {
  const std::vector<Axis> axes = predicted_axes(run.given, texts);
  // The program prints what it prints once, not once for each point: it is one program.
  bool heard = false;
  return predict_points(axes, run.output, [&](const std::vector<std::string>& values) {
    Run point = varied(run, axes, values);
    point.mute = point.mute || heard;
    result::Result result = study_result(std::move(point), target);
    heard = true;
    return result;
  });
}

}  // namespace simtlab::cli
