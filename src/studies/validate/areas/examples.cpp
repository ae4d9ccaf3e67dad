#include "studies/validate/areas/examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "gpu/prediction.h"
#include "models/model.h"
#include "result/json.h"
#include "studies/validate/areas/rank_correlation.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;

// A chase measures one latency, and device_printf prints: neither is a kernel whose time anybody would
// predict.
constexpr std::string_view left_out[] = {"pointer_chase", "device_printf"};

std::vector<fs::path> sources_in(const std::string& folder) {
  std::vector<fs::path> out;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (entry.path().extension() == ".cu" &&
        std::ranges::find(left_out, entry.path().stem().string()) == std::end(left_out))
      out.push_back(entry.path());
  return out;
}

std::vector<fs::path> programs_in(const std::string& folder) {
  std::vector<fs::path> out = sources_in(folder);
  if (out.empty())
    throw Error(ExitCode::bad_input, "validate-examples",
                fmt::format("{} has no example programs (*.cu)", folder),
                "--examples DIR names their folder: examples/ of the source tree");
  std::ranges::sort(out);
  return out;
}

void pair_up(const std::string& gpu, const std::string& program, const result::Result& timed,
             const result::Result& predicted, std::vector<ModelledLaunch>& out) {
  if (timed.kernels.size() != predicted.kernels.size())
    throw Error(ExitCode::bad_input, "validate-examples",
                fmt::format("{} launches {} kernels in one run and {} in the other", program,
                            timed.kernels.size(), predicted.kernels.size()),
                "both results must be of the same program and arguments");
  for (std::size_t i = 0; i < timed.kernels.size(); ++i) {
    const result::KernelResult &t = timed.kernels[i], &p = predicted.kernels[i];
    ModelledLaunch launch{gpu,
                          program,
                          t.demangled.substr(0, t.demangled.find('(')),
                          t.metrics.get("gpu.cycles").value_or(0),
                          {}};
    if (launch.cycles <= 0) continue;
    for (const std::string& model : models::model_names())
      if (const auto cycles = p.metrics.get(fmt::format("predict.{}.cycles", model)))
        launch.predicted[model] = *cycles;
    out.push_back(std::move(launch));
  }
}

std::string error_table(const std::vector<ModelledLaunch>& launches,
                        const std::vector<std::string>& held_out) {
  std::string out = "| device | launches |", line = "|---|---|";
  for (const std::string& m : models::model_names()) out += fmt::format(" {} |", m), line += "---|";
  out += fmt::format("\n{}\n", line);
  std::vector<std::string> gpus = gpus_of(launches);
  if (gpus.size() > 1) gpus.emplace_back();
  for (const std::string& gpu : gpus) {
    const bool unseen = std::ranges::find(held_out, gpu) != held_out.end();
    out += fmt::format("| {}{} | {} |", gpu.empty() ? "all" : gpu, unseen ? " (held out)" : "",
                       error_of(launches, models::model_names().front(), gpu).launches);
    for (const std::string& m : models::model_names()) {
      const ModelError e = error_of(launches, m, gpu);
      out += e.launches == 0 ? " - |" : fmt::format(" {:.1f} %, {:.2f} |", 100 * e.mean, e.rank);
    }
    out += "\n";
  }
  return out;
}

std::string launch_table(const std::vector<ModelledLaunch>& launches) {
  std::string out = "\n| device | program | kernel | cycles |", line = "|---|---|---|---|";
  for (const std::string& m : models::model_names()) out += fmt::format(" {} |", m), line += "---|";
  out += fmt::format("\n{}\n", line);
  for (const ModelledLaunch& l : launches) {
    out += fmt::format("| {} | {} | {} | {:.0f} |", l.gpu, l.program, l.kernel, l.cycles);
    for (const std::string& m : models::model_names()) {
      const auto found = l.predicted.find(m);
      out += found == l.predicted.end() ? " - |" : fmt::format(" {:.2f} |", found->second / l.cycles);
    }
    out += "\n";
  }
  return out;
}

}  // namespace

std::vector<std::string> gpus_of(const std::vector<ModelledLaunch>& launches) {
  std::vector<std::string> out;
  for (const ModelledLaunch& l : launches)
    if (std::ranges::find(out, l.gpu) == out.end()) out.push_back(l.gpu);
  return out;
}

ModelError error_of(const std::vector<ModelledLaunch>& launches, const std::string& model,
                    const std::string& gpu) {
  std::vector<double> simulated, predicted;
  ModelError out;
  for (const ModelledLaunch& l : launches) {
    const auto found = l.predicted.find(model);
    if ((!gpu.empty() && l.gpu != gpu) || found == l.predicted.end()) continue;
    simulated.push_back(l.cycles), predicted.push_back(found->second);
    const double error = std::abs(found->second / l.cycles - 1);
    out.mean += error;
    out.worst = std::max(out.worst, error);
  }
  out.launches = simulated.size();
  if (out.launches == 0) return out;
  out.mean /= static_cast<double>(out.launches);
  out.rank = rank_correlation(simulated, predicted);
  return out;
}

bool has_examples(const std::string& folder) { return !sources_in(folder).empty(); }

std::vector<ModelledLaunch> run_examples(const Command& app, const std::string& folder,
                                         const std::vector<std::string>& gpus) {
  std::vector<ModelledLaunch> out;
  for (const std::string& gpu : gpus)
    for (const fs::path& program : programs_in(folder)) {
      Run run;
      run.mute = true;
      run.given.set("gpu", gpu);
      const Call call{app, {program.string()}};
      const result::Result timed = study_result(run, call);
      run.given.set("predict", gpu::to_text({}));
      pair_up(gpu, program.stem().string(), timed, study_result(run, call), out);
    }
  return out;
}

std::vector<ModelledLaunch> read_pairs(const std::string& folder) {
  std::vector<ModelledLaunch> out;
  std::vector<fs::path> files;
  std::error_code failed;
  constexpr std::string_view ending = ".predict.json";
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (entry.path().string().ends_with(ending)) files.push_back(entry.path());
  std::ranges::sort(files);
  const auto read = [](const fs::path& file) { return result::read_result_file(file); };
  for (const fs::path& file : files) {
    const std::string text = file.string(), stem = text.substr(0, text.size() - ending.size());
    const result::Result timed = read(stem + ".json");
    pair_up(timed.manifest.device, fs::path(stem).filename().string(), timed, read(file), out);
  }
  if (out.empty())
    throw Error(ExitCode::bad_input, "validate-examples",
                fmt::format("{} has no pairs NAME.json and NAME.predict.json", folder),
                "simtlab run --json=NAME.json and simtlab predict --json=NAME.predict.json of the same "
                "program write them");
  return out;
}

std::string text_of(const std::vector<ModelledLaunch>& launches, const std::vector<std::string>& held_out,
                    bool all) {
  std::string out = error_table(launches, held_out);
  if (all) out += launch_table(launches);
  return out;
}

}  // namespace simtlab::studies
