#include "studies/predict/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/sizes.h"
#include "compile/launch_file.h"
#include "models/model.h"
#include "report/format.h"
#include "result/json.h"
#include "studies/common/axes.h"
#include "studies/common/output.h"
#include "studies/common/progress.h"
#include "studies/common/signals.h"

namespace simtlab::studies {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* sweep_hint =
    "block=32:1024 regs=32,64 l1.bytes=16K,48K resios.memory-units=1,8; FIRST:LAST doubles";

// A launch that exists on the command line only.
bool has_launch(const Run& run) {
  const compile::LaunchOptions& l = run.kernel.launch;
  return !run.kernel.launch_file.empty() || l.grid || l.global || l.block;
}

Run varied(Run run, const std::vector<Axis>& axes, const std::vector<std::string>& values) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string& key = axes[i].name;
    gpu::PredictOptions model = gpu::parse_predict_options(run.given.get("predict").value_or(""));
    if (vary_model(model, key, values[i])) {
      run.given.set("predict", gpu::to_text(model));
    } else if (key == "gpu") {
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

// The points of a sweep that are done.
struct Predicted {
  std::vector<Axis> axes;
  std::vector<PredictedPoint> points;
  std::size_t all = 0;

  bool whole() const { return points.size() == all; }
  std::string text(const report::Style& style) const;
  std::string csv() const;
  std::string json() const;
};

std::string Predicted::text(const report::Style& style) const {
  std::string out;
  if (!whole())
    out =
        report::painted(fmt::format("INCOMPLETE: interrupted after {} of {} variants\n", points.size(), all),
                        report::Paint::bad, style);
  const std::vector<std::string> models = answered(points);
  std::string header;
  std::vector<std::size_t> widths;
  for (const Axis& a : axes) {
    widths.push_back(std::max<std::size_t>(16, a.name.size() + 2));
    header += fmt::format("{:<{}}", a.name, widths.back());
  }
  for (const std::string& m : models) header += fmt::format("{:>14}", m);
  out += report::painted(header + "\n", report::Paint::bold, style);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::vector<std::string> values = point_of(axes, i);
    for (std::size_t a = 0; a < axes.size(); ++a) out += fmt::format("{:<{}}", values[a], widths[a]);
    if (points[i].problem.empty()) {
      for (const std::string& m : models) {
        const auto time = time_of(points[i].result, m);
        out += fmt::format("{:>14}", time ? report::format_time(*time) : "-");
      }
    } else {
      out += report::painted(report::shortened(points[i].problem, 90), report::Paint::dim, style);
    }
    out += "\n";
  }
  return out;
}

std::string Predicted::csv() const {
  const std::vector<std::string> models = answered(points);
  std::string out;
  for (const Axis& a : axes) out += a.name + ",";
  for (const std::string& m : models) out += fmt::format("predict.{}.time,", m);
  out += "problem\n";
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (const std::string& value : point_of(axes, i)) out += value + ",";
    if (!points[i].problem.empty()) {
      out += std::string(models.size(), ',') + fmt::format("\"{}\"\n", points[i].problem);
      continue;
    }
    for (const std::string& m : models) {
      const auto time = time_of(points[i].result, m);
      out += fmt::format("{},", time ? fmt::format("{}", *time) : "");
    }
    out += "\n";
  }
  return out;
}

std::string Predicted::json() const {
  Json document = {{"schema", result::json_schema}, {"sweep", Json::array()}};
  const std::vector<std::string> models = answered(points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::vector<std::string> values = point_of(axes, i);
    Json entry = {{"point", Json::object()}};
    for (std::size_t a = 0; a < axes.size(); ++a) entry["point"][axes[a].name] = values[a];
    if (!points[i].problem.empty()) entry["problem"] = points[i].problem;
    for (const std::string& m : models)
      if (const auto time = time_of(points[i].result, m))
        entry["total"][fmt::format("predict.{}.time", m)] = {{"value", *time}, {"unit", "ns"}};
    document["sweep"].push_back(std::move(entry));
  }
  if (!whole()) document["interrupted"] = true;
  return document.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

bool vary_model(gpu::PredictOptions& options, const std::string& key, const std::string& value) {
  constexpr std::string_view of_resios = "resios.";
  if (!key.starts_with(of_resios)) return false;
  options.resios +=
      fmt::format("{}{}={}", options.resios.empty() ? "" : ",", key.substr(of_resios.size()), value);
  models::parse_options(options.rule, options.resios);  // throws
  return true;
}

std::vector<Axis> predicted_axes(const RunOptions& given, const std::vector<std::string>& texts) {
  std::vector<Axis> out;
  if (const auto gpu = given.get("gpu"); gpu && gpu->find(',') != std::string::npos)
    out.push_back(parse_axis("gpu=" + *gpu, "predict-sweep", "--gpu h100,a100,gtx480"));
  for (const std::string& text : texts) out.push_back(parse_axis(text, "predict-sweep", sweep_hint));
  return out;
}

Outcome predict_points(const std::vector<Axis>& axes, OutputOptions output,
                       const std::function<result::Result(const std::vector<std::string>&)>& at) {
  check_outputs(output);
  const auto table = std::make_shared<Predicted>();
  table->axes = axes;
  table->all = count_points(axes, "predict-sweep");
  Outcome out;
  const Signals signals(0);  // between two variants, too
  try {
    Progress progress("predicting", output);
    for (std::size_t i = 0; i < table->all; ++i) {
      if (signals.interrupted())
        throw Error(ExitCode::interrupted, "interrupted",
                    fmt::format("interrupted after {} of {} variants", i, table->all),
                    "the table has those that were done");
      progress.at(fmt::format("{} of {} variants done", i, table->all));
      table->points.push_back(predicted_point(at, point_of(axes, i)));
      table->points.back().result.kernels.clear();  // the table is of the total
    }
  } catch (const Error& e) {
    if (e.code() != ExitCode::interrupted || table->points.empty()) throw;
    out.failure = e;
  }
  if (std::ranges::all_of(table->points, [](const PredictedPoint& p) { return !p.problem.empty(); }))
    out.code = static_cast<int>(ExitCode::bad_input);
  out.text = [table](const report::Style& style) { return table->text(style); };
  out.csv = [table] { return table->csv(); };
  out.json = [table] { return table->json(); };
  out.output = std::move(output);
  return out;
}

Outcome predict_variants(const Run& run, const Call& call, const std::vector<std::string>& texts) {
  const std::vector<Axis> axes = predicted_axes(run.given, texts);
  // The program prints what it prints once, not once for each point: it is one program.
  bool heard = false;
  return predict_points(axes, run.output, [&](const std::vector<std::string>& values) {
    Run point = varied(run, axes, values);
    point.mute = point.mute || heard;
    result::Result result = study_result(std::move(point), call);
    heard = true;
    return result;
  });
}

}  // namespace simtlab::studies
