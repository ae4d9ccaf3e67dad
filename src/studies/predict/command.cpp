// simtlab predict: how long a kernel takes by analytical models, from its execution or from counts given by
// hand.
#include "studies/common/command.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "base/sizes.h"
#include "gpu/prediction.h"
#include "hosts/cuda/launch_runner.h"
#include "models/answer.h"
#include "models/result.h"
#include "studies/common/axes.h"
#include "studies/common/manifest.h"
#include "studies/common/output.h"
#include "studies/common/studies.h"
#include "studies/predict/loop.h"
#include "studies/predict/variants.h"
#include "studies/run/kernel_source.h"

namespace simtlab::studies {
namespace {

constexpr std::uint64_t max_counts_bytes = 256 * 1024;

struct PredictRun {
  Run run;
  LoopOptions loop;
  std::string counts, model = "all", resios;
  std::optional<std::string> rule;
  std::vector<std::string> sweep;
  bool explain = false, whole = false, not_executed = false;
  std::optional<double> trips;  // 10
};

gpu::PredictOptions options_of(const PredictRun& o) {
  gpu::PredictOptions out;
  out.model = o.model;
  out.rule = o.rule.value_or("order");
  out.whole = o.whole;
  out.resios = o.resios;
  return out;
}

void check_predict(const PredictRun& o) {
  models::parse_options(o.rule.value_or("order"), o.resios);  // throws
  if (o.rule && o.model != "all" && o.model != "mwp-cwp")
    throw Error(ExitCode::usage, "option-conflict",
                fmt::format("--rule is about the cases of mwp-cwp; {} has none", o.model),
                "leave it out, or --model mwp-cwp");
  if (!o.resios.empty() && o.model != "all" && o.model != "resios")
    throw Error(ExitCode::usage, "option-conflict",
                fmt::format("--resios has parameters of resios; {} has none of them", o.model),
                "leave it out, or --model resios");
}

std::string counts_name(const std::string& counts) { return counts == "-" ? "/dev/stdin" : counts; }

// Counts beside what is executed or evaluated.
gpu::PredictOptions with_counts(const PredictRun& o) {
  gpu::PredictOptions options = options_of(o);
  if (o.counts.empty()) return options;
  options.counts_file = counts_name(o.counts);
  options.counts = read_file(options.counts_file, max_counts_bytes, "counts file");
  check_inputs(o.run.output, {options.counts_file});
  models::parse_counts(options.counts, options.counts_file);  // throws
  return options;
}

// ---- a kernel that exists only on paper

struct ChosenDevice {
  std::optional<device::LoadedDevice> loaded;
  std::vector<std::filesystem::path> files;
};

// Only a GPU that the command line names: a default would answer for a machine that nobody asked about.
ChosenDevice device_of(const RunOptions& given) {
  ChosenDevice out;
  if (!given.has("gpu")) return out;
  const options::Configuration configuration = resolve(given);
  out.loaded = options::load_device(configuration);
  out.files = files_of(configuration, *out.loaded);
  return out;
}

// A value in the place of what the counts file says.
void replace(models::Inputs& inputs, const std::string& key, const std::string& value) {
  const models::Inputs one = models::parse_counts(fmt::format("{} = {}\n", key, value), "--sweep");
  for (const models::Symbol& s : models::symbols())
    if (one.has(s.member)) inputs.set(s.member, one.counts.*s.member, {"--sweep"});
  for (const models::MixSymbol& s : models::mix_symbols())
    for (std::size_t c = 0; c < device::op_class_names.size(); ++c)
      if (const double v = (one.counts.mix.*s.column)[c]; !std::isnan(v))
        inputs.set_mix(s, c, v, {"--sweep"});
}

result::Result paper_result(const PredictRun& o, const models::Inputs& given, const ChosenDevice& device,
                            const gpu::PredictOptions& options) {
  models::Inputs inputs = given;
  models::complete(inputs, device.loaded ? &device.loaded->device : nullptr);
  result::Result result;
  const std::string name = o.counts == "-" ? "counts" : std::filesystem::path(o.counts).stem().string();
  result.kernels.push_back(
      models::answer(name, inputs, options.model, models::parse_options(options.rule, options.resios)));
  result.total = result.kernels.back().metrics;
  result::Manifest& m = result.manifest;
  m.mode = "predict";
  m.device = device.loaded ? device.loaded->device.name : "the machine of the counts";
  m.configuration = models::to_configuration(inputs);
  std::error_code ignored;
  const std::string file = counts_name(o.counts);
  if (std::filesystem::is_regular_file(file, ignored)) m.inputs = hash_inputs({file});
  return result;
}

// An axis is the GPU, a parameter of resios, a symbol of the counts, or a device key.
Outcome papers(const PredictRun& o, const std::vector<Axis>& axes, const models::Inputs& given) {
  return predict_points(axes, o.run.output, [&](const std::vector<std::string>& values) {
    RunOptions there = o.run.given;
    models::Inputs inputs = given;
    gpu::PredictOptions options = options_of(o);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::string& key = axes[i].name;
      if (key == "gpu")
        there.set("gpu", values[i]);
      else if (vary_model(options, key, values[i]))
        continue;
      else if (key.find('.') == std::string::npos || key.starts_with("class."))
        replace(inputs, key, values[i]);
      else
        there.add("set", fmt::format("{}={}", key, with_unit(values[i])));
    }
    if (!there.has("gpu") && there.has("set"))
      throw Error(ExitCode::usage, "option-conflict",
                  "--sweep of a device key describes a GPU, and none is named", "add --gpu NAME");
    return paper_result(o, inputs, device_of(there), options);
  });
}

Outcome on_paper(PredictRun o) {
  const RunClock clock;
  const RunOptions& wished = o.run.given;
  if (!wished.has("gpu") && (wished.has("set") || wished.has("config")))
    throw Error(ExitCode::usage, "option-conflict", "--set and --config describe a GPU, and none is named",
                "add --gpu NAME, or leave them out");
  OutputOptions& output = o.run.output;
  check_outputs(output);
  const std::vector<Axis> axes = predicted_axes(wished, o.sweep);
  const ChosenDevice device = axes.empty() ? device_of(wished) : ChosenDevice{};
  const std::string file = counts_name(o.counts);
  std::vector<std::filesystem::path> read = device.files;
  read.emplace_back(file);
  check_inputs(output, read);
  const models::Inputs inputs = models::parse_counts(read_file(file, max_counts_bytes, "counts file"), file);
  if (!axes.empty()) return papers(o, axes, inputs);
  result::Result result = paper_result(o, inputs, device, options_of(o));
  clock.finish(result);
  return {std::move(result), std::move(output)};
}

// ---- a kernel whose arguments are unknown

Outcome unexecuted(PredictRun o, const gpu::PredictOptions& options, const std::vector<std::string>& rest) {
  const RunClock clock;
  const compile::LaunchOptions& launch = o.run.kernel.launch;
  if (rest.size() != 1 || !(rest.front().ends_with(".ptx") || rest.front().ends_with(".cl")))
    throw Error(
        ExitCode::usage, "predict-what",
        "--static is about one kernel that is not executed: a .ptx or .cl file, --grid or --global, --block",
        "simtlab predict kernel.ptx --static --kernel NAME --global 65536 --block 256");
  check_outputs(o.run.output);
  const options::Configuration configuration = resolve(o.run.given);
  const device::LoadedDevice device = options::load_device(configuration);
  check_inputs(o.run.output, {rest.front()});
  check_inputs(o.run.output, files_of(configuration, device));
  compile::LaunchSpec base;
  if (!o.run.kernel.launch_file.empty()) {
    base = compile::load_launch_file(o.run.kernel.launch_file);
    base.args.clear(), base.expect.clear();
  }
  const compile::LaunchSpec spec = compile::launch_from_options(launch, std::move(base));
  const KernelSource source =
      read_kernel_source(rest.front(), {}, o.run.kernel.links, spec, device.device, o.run.output);
  gpu::Options functional;
  functional.mode = gpu::Mode::functional;
  const gpu::Ptx lowering = gpu::ptx_of(configuration.options.lowering);
  functional.ptx = lowering == gpu::Ptx::machine ? gpu::Ptx::counts : lowering;  // what is followed is PTX
  gpu::Gpu gpu(device.device, functional);
  const gpu::ModuleId module = gpu.load_module(rest.front(), source.ptx);
  const hosts::cuda::PlannedLaunch planned = hosts::cuda::plan_launch(spec, module, gpu);
  const ptx::Module& m = gpu.module(module);
  result::Result result;
  result.kernels.push_back(
      gpu::predict_static(device.device,
                          {m, m.functions[planned.kernel.function], planned.grid, planned.block,
                           spec.shared_bytes, static_cast<std::uint32_t>(configuration.options.registers),
                           o.trips.value_or(10), lowering != gpu::Ptx::off},
                          options));
  result.total = result.kernels.back().metrics;
  result.manifest.mode = "predict";
  result.manifest.device = device.device.name;
  result.manifest.configuration = configuration_of(configuration, device);
  result.manifest.inputs = hash_inputs({rest.front()});
  clock.finish(result);
  return {std::move(result), std::move(o.run.output)};
}

// ---- a kernel or a program that is executed

// What the words ask for; `rest` may name a C program.
options::Study predicted_study(const PredictRun& o, const Call& call) {
  const std::vector<std::string>& rest = call.rest;
  const std::optional<std::vector<std::string>>& after_dashes = call.after_dashes;
  if (names_c_program(rest))
    return o.loop.simulate ? options::Study::simulate_nest : options::Study::predict_nest;
  if (rest.empty() && !after_dashes && o.run.trace.empty() && !o.counts.empty())
    return options::Study::predict_counts;
  return o.not_executed ? options::Study::predict_static : study_of(o.run, call);
}

Outcome predict_command(Call call, PredictRun o) {
  std::vector<std::string>& rest = call.rest;
  check_predict(o);
  if (o.explain) o.run.output.all = true;
  take_file_of_loop(o.loop, rest);
  take_axes(rest, o.sweep);
  o.run.given.set("predict", gpu::to_text(options_of(o)));
  const options::Study study = predicted_study(o, call);
  refuse_unread(call.command, study);
  if (study == options::Study::predict_counts) return on_paper(std::move(o));
  const gpu::PredictOptions options = with_counts(o);
  o.run.given.set("predict", gpu::to_text(options));
  if (options::nests.contains(study))
    return predict_loop(o.loop, o.run.given, o.run.output, options, rest, o.sweep);
  if (rest.empty() && !call.after_dashes && o.counts.empty())
    throw Error(
        ExitCode::usage, "predict-what", "neither a kernel, a program nor counts are named",
        "simtlab predict app.cu, simtlab predict kernel.ptx --launch FILE, simtlab predict --counts FILE");
  if (study == options::Study::predict_static) return unexecuted(std::move(o), options, rest);
  const std::optional<std::string> gpu = o.run.given.get("gpu");
  if (!o.sweep.empty() || (gpu && gpu->find(',') != std::string::npos))
    return predict_variants(o.run, call, o.sweep);
  return run_command(call, o.run);
}

void add_predict_options(Command& command, PredictRun& o) {
  const auto group = "Prediction";
  command
      .add_option("--counts", o.counts,
                  "Counts of the kernel, its launch and the machine (TOML); - is stdin. With a kernel or a "
                  "program: values that take precedence over what is executed")
      ->check(not_empty())
      ->type_name("FILE")
      ->group(group);
  std::vector<std::string> names = models::model_names();
  const std::string description =
      fmt::format("{} or all (default): those for which the counts suffice", fmt::join(names, ", "));
  names.emplace_back("all");
  command.add_option("--model", o.model, description)->check(one_of(names))->type_name("NAME")->group(group);
  command
      .add_option(
          "--rule", o.rule,
          "Cases of mwp-cwp: order (default), or paper, as printed, even where the answer is impossible")
      ->check(one_of({"order", "paper"}))
      ->type_name("RULE")
      ->group(group);
  std::vector<std::string_view> parameters;
  for (const models::ResiosParameter& p : models::resios_parameters()) parameters.push_back(p.name);
  command
      .add_option(
          "--resios", o.resios,
          fmt::format("Parameters of resios, default those of the thesis: {} (docs/concepts/models.md)",
                      fmt::join(parameters, ", ")))
      ->type_name("NAME=VALUE,...")
      ->group(group);
  read_by(
      command
          .add_flag("--whole", o.whole, "Count every block and study its caches, not a sample of the blocks")
          ->group(group),
      options::predicted);
  {
    const ReadBy unexecuted(command, options::Study::predict_static);
    command
        .add_flag("--static", o.not_executed,
                  "Follow the code of a kernel whose arguments are unknown, without executing it "
                  "(docs/concepts/models.md)")
        ->group(group);
    command
        .add_option("--trips", o.trips,
                    "With --static: iterations of a loop whose end is unknown (default 10)")
        ->check(in_range(1.0, 1e6))
        ->type_name("N")
        ->group(group);
  }
  command.add_flag("--explain", o.explain, "Every intermediate value, and where each count is from")
      ->group(group);
  read_by(command
              .add_option("--sweep", o.sweep,
                          "A table over all combinations: block=32:1024 of a kernel without a host program, "
                          "regs=32,64, a symbol of the counts, resios.NAME or any device key")
              ->type_name("KEY=VALUES")
              ->one_at_a_time()
              ->group(group),
          options::predicted | options::nests | options::Study::predict_counts);
}

}  // namespace

void add_predict(Command& app) {
  Command* sub = app.add_subcommand(
      "predict",
      "How long a kernel takes by analytical models: from its execution, or from counts given by hand");
  const auto options = std::make_shared<PredictRun>();
  sub->allow_extras();
  sub->footer(
      "Forms: simtlab predict [OPTIONS] app.cu [MORE SOURCES AND NVCC FLAGS] [-- ARGUMENTS]\n"
      "       simtlab predict [OPTIONS] -- ./app [ARGUMENTS]\n"
      "       simtlab predict [OPTIONS] kernel.ptx|kernel.cl --global 160x160 --local 16x16 --arg ...\n"
      "       simtlab predict [OPTIONS] TRACE.simt | kernelslist.g\n"
      "       simtlab predict [OPTIONS] --counts counts.toml\n"
      "       simtlab predict [OPTIONS] program.c --loop program.c:LINE --params N=1024\n"
      "--gpu h100,a100,gtx480 compares devices. Of a large grid a sample of the blocks is counted; "
      "docs/concepts/models.md says how.");
  add_options(*sub, options::predictions, options->run.given);
  add_predict_options(*sub, *options);
  {
    const ReadBy of_nests(*sub, options::nests);
    add_loop_options(*sub, options->loop);
  }
  {
    const ReadBy of_kernels(*sub, options::Study::predict_kernel | options::Study::predict_static);
    add_kernel_options(*sub, options->run.kernel);
    // Their values are those of an execution.
    for (const char* name : {"--arg", "--offset"})
      sub->find_option(name)->read_by(options::Study::predict_kernel);
  }
  add_output_options(*sub, options->run.output);
  add_progress_option(*sub, options->run.output);
  sub->takes_program();
  sub->embeds();
  sub->action([options](const Call& call) { return predict_command(call, *options); });
}

}  // namespace simtlab::studies
