// simtlab predict: how long a kernel takes by analytical models, from counts given by hand.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "cli/cli.h"
#include "cli/manifest.h"
#include "cli/options.h"
#include "cli/output.h"
#include "predict/model.h"
#include "predict/result.h"

namespace simtlab::cli {
namespace {

constexpr std::uint64_t max_counts_bytes = 256 * 1024;

struct PredictOptions {
  DeviceOptions device;
  OutputOptions output;
  std::string counts, model = "all";
  std::optional<std::string> rule;
  bool explain = false;
};

void check_predict(const PredictOptions& o) {
  if (o.counts.empty())
    throw Error(ExitCode::usage, "predict-what", "no counts are named", "--counts FILE; docs/models.md lists its keys");
  if (!o.device.gpu && (!o.device.set.empty() || !o.device.config.empty()))
    throw Error(ExitCode::usage, "option-conflict", "--set and --config describe a GPU, and none is named", "add --gpu NAME, or leave them out");
  if (o.rule && o.model != "mwp-cwp" && o.model != "all")
    throw Error(ExitCode::usage, "option-conflict", fmt::format("--rule is about the cases of mwp-cwp; {} has none", o.model), "leave it out, or --model mwp-cwp");
}

struct ChosenDevice {
  std::optional<device::LoadedDevice> loaded;
  std::vector<std::filesystem::path> files;
};

// Only a GPU that the command line names: a default would answer for a machine that nobody asked about.
ChosenDevice device_of(const PredictOptions& o) {
  ChosenDevice out;
  if (!o.device.gpu) return out;
  const device::Configuration configuration = resolve(o.device);
  out.loaded = device::load_device(configuration);
  out.files = files_of(configuration, *out.loaded);
  return out;
}

// A model that is named must be answered; of all models those for which the counts suffice.
void evaluate(const PredictOptions& o, const predict::Inputs& inputs, result::Result& result) {
  const predict::Rule rule = o.rule == "paper" ? predict::Rule::paper : predict::Rule::order;
  std::vector<predict::Prediction> predictions;
  std::vector<predict::Skipped> skipped;
  for (const predict::Model* model : predict::models()) {
    if (o.model == model->name()) predict::require(inputs, *model);
    if (o.model != "all" && o.model != model->name()) continue;
    const auto lacking = predict::missing(inputs, *model);
    if (lacking.empty())
      predictions.push_back(predict::predict(*model, inputs.counts, rule));
    else
      skipped.push_back({std::string(model->name()), fmt::format("Not evaluated, for want of {}.", fmt::join(lacking, ", "))});
  }
  if (predictions.empty()) {
    std::vector<Diagnostic> all;
    for (const predict::Skipped& s : skipped) {
      Diagnostic d;
      d.message = fmt::format("model {}: {}", s.model, s.reason.substr(0, s.reason.size() - 1));
      d.pos = {inputs.file, static_cast<std::uint32_t>(std::max<std::size_t>(inputs.lines, 1)), 1};
      d.hint = fmt::format("--model {} says what each of them is", s.model);
      all.push_back(std::move(d));
    }
    throw Error(ExitCode::bad_input, "counts-missing", std::move(all));
  }
  const std::string name = o.counts == "-" ? "counts" : std::filesystem::path(o.counts).stem().string();
  result.kernels.push_back(predict::to_result(name, inputs.counts, predictions, skipped));
  result.total = result.kernels.back().metrics;
}

int run_predict(PredictOptions o) {
  const RunClock clock;
  check_predict(o);
  check_outputs(o.output);
  if (o.explain) o.output.all = true;
  const ChosenDevice device = device_of(o);
  const std::string file = o.counts == "-" ? "/dev/stdin" : o.counts;
  std::vector<std::filesystem::path> read = device.files;
  read.emplace_back(file);
  check_inputs(o.output, read);

  predict::Inputs inputs = predict::parse_counts(read_file(file, max_counts_bytes, "counts file"), file);
  predict::complete(inputs, device.loaded ? &device.loaded->device : nullptr);
  result::Result result;
  evaluate(o, inputs, result);
  result::Manifest& m = result.manifest;
  m.mode = "predict";
  m.device = device.loaded ? device.loaded->device.name : "the machine of the counts";
  m.configuration = predict::to_configuration(inputs);
  std::error_code ignored;
  if (std::filesystem::is_regular_file(file, ignored)) m.inputs = hash_inputs({file});
  clock.finish(result);
  write_outputs(result, o.output, STDOUT_FILENO);
  return 0;
}

std::vector<std::string> model_choices() {
  std::vector<std::string> out = predict::model_names();
  out.emplace_back("all");
  return out;
}

}  // namespace

void add_predict(CLI::App& app, Action& chosen) {
  CLI::App* sub = app.add_subcommand("predict", "How long a kernel takes by analytical models, from counts given by hand");
  const auto o = std::make_shared<PredictOptions>();
  const auto group = "Prediction";
  sub->add_option("--counts", o->counts, "Counts of the kernel, its launch and the machine (TOML); - is stdin")
      ->check(CLI::Validator(refuse_empty, ""))
      ->type_name("FILE")
      ->group(group);
  sub->add_option("--model", o->model, "A model's name or all (default): those for which the counts suffice")
      ->check(CLI::IsMember(model_choices()))
      ->type_name("NAME")
      ->group(group);
  sub->add_option("--rule", o->rule, "Cases of mwp-cwp: order (default), or paper, as printed, even where the answer is impossible")
      ->check(CLI::IsMember({"order", "paper"}))
      ->type_name("RULE")
      ->group(group);
  sub->add_flag("--explain", o->explain, "Every intermediate value, and where each count is from")->group(group);
  add_device_options(*sub, o->device);
  sub->get_option("--gpu")->description("Fill in what the counts do not say of the machine: a name of `simtlab list gpus` or a device file");
  add_output_options(*sub, o->output);
  sub->footer(
      "Forms: simtlab predict --counts counts.toml\n"
      "       simtlab predict --counts counts.toml --gpu v100 --model mwp-cwp --explain\n"
      "Counts are not taken from a kernel yet; docs/models.md lists the keys.");
  sub->callback([&chosen, o] { chosen = [o] { return run_predict(*o); }; });
}

}  // namespace simtlab::cli
