#include "studies/predict/variants.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/sizes.h"
#include "compile/launch_file.h"
#include "models/model.h"
#include "report/format.h"
#include "studies/common/axes.h"
#include "studies/common/points.h"

namespace simtlab::studies {
namespace {

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

// A launch that a GPU does not take, or a value that it can't have, is a row of the table.
bool is_row(const Error& e) {
  return e.code() == ExitCode::bad_input &&
         (e.id().starts_with("launch-") || e.id().starts_with("device-value") ||
          e.id().starts_with("config-value") || e.id() == "counts-contradiction");
}

// The times of the models that answered at some point, in their usual order.
SweptColumns times(const std::vector<SweptPoint>& points) {
  SweptColumns out;
  out.axis_width = 16;
  for (const std::string& model : models::model_names()) {
    const std::string metric = fmt::format("predict.{}.time", model);
    if (std::ranges::none_of(points, [&](const SweptPoint& p) { return p.total.get(metric).has_value(); }))
      continue;
    out.csv.push_back(metric);
    out.head += fmt::format("{:>14}", model);
  }
  out.row = [metrics = out.csv](const result::Metrics& total, const report::Style&) {
    std::string row;
    for (const std::string& metric : metrics) {
      const auto time = total.get(metric);
      row += fmt::format("{:>14}", time ? report::format_time(*time) : "-");
    }
    return row;
  };
  out.value = [](const result::Metrics& total, const std::string& metric) { return total.get(metric); };
  return out;
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
  return sweep_points({axes, "predict-sweep", "predicting", at, is_row, times}, std::move(output));
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
