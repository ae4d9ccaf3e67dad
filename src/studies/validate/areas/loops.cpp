#include "studies/validate/areas/loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "compile/toolchain.h"
#include "models/model.h"
#include "studies/predict/loop.h"
#include "studies/predict/nest_simulation.h"
#include "studies/validate/areas/rank_correlation.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;

constexpr const char* nest_device = "v100";

// As docs/lab/loops.md says how good the models are: sizes at which the kernel fills the GPU.
struct NestExample {
  const char *file, *arguments;
  bool quick;
};
constexpr NestExample nest_examples[] = {{"copy.c", "1000000", true},
                                         {"saxpy.c", "1000000", true},
                                         {"transpose.c", "1024 1024", false},
                                         {"convolution.c", "512 384", false},
                                         {"matmul.c", "", true},
                                         {"stencil3d.c", "96", false},
                                         {"nbody.c", "2048", false},
                                         {"black_scholes.c", "200000", true},
                                         {"mandelbrot.c", "384 256 200", false}};

fs::path nest_file(const std::string& examples, const char* name) {
  return fs::path(examples) / "loops" / name;
}

struct NestError {
  double mean = 0, worst = 0, rank = 0;
  std::size_t nests = 0;
};

NestError nest_error(const std::vector<ModelledNest>& nests, const std::string& model) {
  NestError out;
  std::vector<double> simulated, predicted;
  for (const ModelledNest& n : nests) {
    const auto found = n.predicted.find(model);
    if (found == n.predicted.end()) continue;
    const double error = std::abs(found->second / n.cycles - 1);
    out.mean += error, out.worst = std::max(out.worst, error);
    simulated.push_back(n.cycles), predicted.push_back(found->second);
  }
  out.nests = simulated.size();
  if (out.nests == 0) return out;
  out.mean /= static_cast<double>(out.nests);
  out.rank = rank_correlation(simulated, predicted);
  return out;
}

}  // namespace

bool has_nests(const std::string& examples) {
  try {
    compile::find_loop_toolchain();
  } catch (const Error& e) {
    if (e.code() != ExitCode::unavailable) throw;
    return false;
  }
  std::error_code ignored;
  return std::ranges::all_of(
      nest_examples, [&](const NestExample& e) { return fs::exists(nest_file(examples, e.file), ignored); });
}

std::vector<ModelledNest> run_nests(const std::string& examples, bool quick) {
  std::vector<ModelledNest> out;
  RunOptions run;
  run.set("gpu", nest_device);
  for (const NestExample& e : nest_examples) {
    if (quick && !e.quick) continue;
    LoopOptions options;
    options.run = e.arguments;
    options.simulate = true;
    OutputOptions silent;
    silent.quiet = true;
    const result::Result result = loop_result(options, run, {}, nest_file(examples, e.file).string(), silent);
    ModelledNest nest{nest_device,
                      fs::path(e.file).stem().string(),
                      e.arguments,
                      result.total.get("predict.nest.simulated.cycles").value_or(0),
                      result.total.get("predict.nest.difference").value_or(0),
                      {}};
    for (const std::string& model : models::model_names())
      if (const auto cycles = result.total.get(fmt::format("predict.{}.cycles", model)))
        nest.predicted[model] = *cycles;
    out.push_back(std::move(nest));
  }
  return out;
}

std::string text_of(const std::vector<ModelledNest>& nests) {
  std::string
      out = "## Loop nests: models over cycle-level simulation, V100\n\n| program | run | cycles | results |",
      line = "|---|---|---|---|";
  for (const std::string& m : models::model_names()) out += fmt::format(" {} |", m), line += "---|";
  out += fmt::format("\n{}\n", line);
  for (const ModelledNest& n : nests) {
    out += fmt::format("| {} | {} | {:.0f} | {} |", n.program, n.arguments, n.cycles,
                       n.difference == 0 ? "equal" : fmt::format("{:.0e}", n.difference));
    for (const std::string& m : models::model_names()) {
      const auto found = n.predicted.find(m);
      out += found == n.predicted.end() ? " - |" : fmt::format(" {:.2f} |", found->second / n.cycles);
    }
    out += "\n";
  }
  return out;
}

std::vector<studies::validate::Row> rows_of(const std::vector<ModelledNest>& nests) {
  std::vector<studies::validate::Row> out;
  const auto with_origin = [](studies::validate::Row row) {
    // Rules for reuse and latencies were chosen with these programs in sight
    row.group = "loop nests", row.source = "cycle-level model", row.role = studies::validate::Role::tuned;
    return row;
  };
  for (const ModelledNest& n : nests) {
    for (const auto& [model, cycles] : n.predicted) {
      studies::validate::Row& row = out.emplace_back(with_origin(studies::validate::value_row(
          "", n.gpu, fmt::format("{}: {}", n.program, model), "cycles", n.cycles, cycles)));
      row.note = n.arguments;
    }
    studies::validate::Row& row = out.emplace_back(with_origin(studies::validate::value_row(
        "", n.gpu, fmt::format("{}: largest difference of the results", n.program), "1", 0, n.difference)));
    row.target = single_tolerance;
    row.source = "the sequential program", row.role = studies::validate::Role::by_construction;
  }
  for (const std::string& model : models::model_names()) {
    const NestError e = nest_error(nests, model);
    if (e.nests == 0) continue;
    studies::validate::Row row;
    row.device = nest_device, row.quantity = "all: " + model,
    row.over = fmt::format("mean of {} nests", e.nests);
    row.error = e.mean, row.worst = e.worst, row.note = fmt::format("rank correlation {:.2f}", e.rank);
    out.push_back(with_origin(std::move(row)));
  }
  return out;
}

}  // namespace simtlab::studies
