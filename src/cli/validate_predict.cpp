// simtlab validate predict: the analytical models beside what was published of them.
#include "cli/validate_predict.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "cli/manifest.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/validate.h"
#include "cli/validate_examples.h"
#include "device/catalogue.h"
#include "gpu/gpu.h"
#include "predict/model.h"
#include "result/json.h"
#include "validate/predict_resios.h"

namespace simtlab::cli {
namespace {

constexpr double least_precision = 0.8, most_precision = 1.25;

// Devices that nobody looked at when the constants of models were chosen; the others were.
const std::vector<std::string> held_out = {"a100", "h200", "gtx460"};
constexpr double most_mean_error = 0.25;   // of the best model over all launches

struct PredictValidation {
  std::vector<std::string> gpus;
  std::string examples, results;
  bool check = false, quick = false;
  OutputOptions output;
};

// The counts that a prediction was made from, as its result has them.
predict::Inputs inputs_of(const result::KernelResult& k) {
  predict::Inputs in;
  in.sources.resize(predict::symbols().size());
  const result::Table* table = result::find(k.tables, "counts");
  SIMTLAB_ASSERT(table != nullptr, "a prediction has its counts");
  for (const auto& row : table->rows) {
    const std::string key = std::get<std::string>(row[result::column("counts", "key")]);
    const double value = result::number(row[result::column("counts", "value")]);
    for (const predict::Symbol& s : predict::symbols())
      if (s.key == key) in.set(s.member, value, {});
    for (std::size_t c = 0; c < device::op_class_names.size(); ++c)
      if (key == fmt::format("class.{}.insts", device::op_class_names[c])) in.set_insts(c, value, {});
  }
  return in;
}

class ModelValidation {
 public:
  explicit ModelValidation(const volatile bool* stop)
      : stop_(stop),
        ptx_(read_file(device::data_directory() / "probes" / "resios.ptx", 1 << 20, "probe kernels")),
        device_(device::load_device("gtx460").device),
        published_(validate::Table::read(device::data_directory() / "measured" / "resios.csv")) {}

  void run() {
    points();
    kernels();
  }

  // The examples, or the programs of result files, beside the cycle-level simulator.
  void beside(const std::vector<ModelledLaunch>& launches, const std::string& what, bool all) {
    text_ += fmt::format("\n## {}: models over cycle-level simulation\n\nMean absolute error of the cycles of a launch, and rank correlation over launches.\n\n{}", what,
                         text_of(launches, held_out, all));
    double best = 1e300;
    std::string name;
    for (const std::string& model : predict::model_names())
      if (const ModelError e = error_of(launches, model, {}); e.launches != 0 && e.mean < best) best = e.mean, name = model;
    text_ += fmt::format("\nBest: {}, {:.1f} % (target {:.0f} %).\n", name, 100 * best, 100 * most_mean_error);
    if (best > most_mean_error) misses_.push_back(fmt::format("{}: the best model ({}) is {:.1f} % off in the mean", what, name, 100 * best));
  }

  void leave_out(const std::string& folder) { text_ += fmt::format("\n## Examples: left out\n\n{} has no example programs; --examples DIR names the examples/ of a source tree.\n", folder); }

  std::string text() const { return text_; }
  const result::Result& result() const { return result_; }
  const std::vector<std::string>& misses() const { return misses_; }

 private:
  void points() {
    text_ += "## Resios: formulas at the points that the thesis gives\n\n| | place | quantity | published | ours | |\n|---|---|---|---|---|---|\n";
    for (const validate::ResiosPoint& p : validate::resios_points(published_)) {
      text_ += fmt::format("| {} | {} | {} | {:g} | {:.6g} | {} |\n", p.id, p.place, p.what, p.published, p.ours, p.agrees() ? "met" : "missed");
      if (!p.agrees()) misses_.push_back(fmt::format("{} ({}): {:.6g}, not {:g}", p.id, p.what, p.ours, p.published));
    }
  }

  // Model over cycle-level simulation; the thesis has model over hardware.
  void kernels() {
    const auto variants = validate::resios_variants();
    text_ += "\n## Resios: model over cycle-level simulation, GTX 460, time of the kernel alone\n\n| kernel | cycles | thesis, on hardware |";
    std::string line = "|---|---|---|";
    for (const validate::ResiosVariant& v : variants) {
      text_ += fmt::format(" {} |", v.name);
      line += "---|";
    }
    text_ += fmt::format(" target |\n{}---|\n", line);
    for (const validate::ResiosKernel& k : validate::resios_kernels()) kernel(k, variants);
  }

  void kernel(const validate::ResiosKernel& k, const std::vector<validate::ResiosVariant>& variants) {
    const result::KernelResult timed = launch(k, gpu::Mode::timing);
    result::KernelResult predicted = launch(k, gpu::Mode::predict);
    const double cycles = timed.metrics.get("gpu.cycles").value_or(0);
    predict::Inputs in = inputs_of(predicted);
    predict::complete(in, &device_);
    predict::require(in, predict::resios_model());
    text_ += fmt::format("| {} ({}) | {:.0f} | {:.2f} |", k.name, k.what, cycles, validate::published_precision(published_, k.name));
    bool met = true;
    for (const validate::ResiosVariant& v : variants) {
      const double precision = predict::predict(predict::resios_model(), in.counts, v.options).cycles / cycles;
      text_ += fmt::format(" {:.2f} |", precision);
      if (&v != variants.data()) continue;
      met = precision >= least_precision && precision <= most_precision;
      if (!met) misses_.push_back(fmt::format("{}: {:.2f} times the simulated cycles, not {:g} to {:g}", k.name, precision, least_precision, most_precision));
    }
    text_ += fmt::format(" {} |\n", met ? "met" : "missed");
    predicted.metrics.set("gpu.cycles", static_cast<std::uint64_t>(cycles));
    predicted.name = predicted.demangled = std::string(k.name);
    result_.kernels.push_back(std::move(predicted));
  }

  result::KernelResult launch(const validate::ResiosKernel& k, gpu::Mode mode) {
    gpu::Options options;
    options.mode = mode;
    options.interrupt = stop_;
    options.predict.model = "resios";
    gpu::Gpu gpu(device_, options);
    const gpu::ModuleId module = gpu.load_module("resios.ptx", ptx_);
    const auto kernel = gpu.find_kernel(module, k.entry);
    SIMTLAB_ASSERT(kernel.has_value(), "the probe file has the kernels of the thesis");
    const auto params = k.arguments([&](std::uint64_t bytes) {
      const std::uint64_t address = gpu.allocate(bytes, "buffer").value();
      gpu.fill(address, std::byte{0}, bytes, 0, false);
      return address;
    });
    gpu.launch(*kernel, k.grid, k.block, 0, params, 0);
    gpu.synchronize();
    return gpu.result().kernels.front();
  }

  const volatile bool* stop_;
  std::string ptx_;
  device::Device device_;
  validate::Table published_;
  std::string text_;
  result::Result result_;
  std::vector<std::string> misses_;
};

std::vector<std::string> chosen_gpus(const PredictValidation& o) {
  if (!o.gpus.empty()) return o.gpus;
  return o.quick ? std::vector<std::string>{"gtx480", "v100"} : device::list_devices();
}

// Beside the data files in a source tree.
std::string examples_folder(const PredictValidation& o) { return o.examples.empty() ? (device::data_directory() / ".." / "examples").lexically_normal().string() : o.examples; }

int validate_predict(const CLI::App& app, PredictValidation o) {
  const RunClock clock;
  check_outputs(o.output);
  if (!o.results.empty() && (!o.gpus.empty() || o.quick || !o.examples.empty()))
    throw Error(ExitCode::usage, "option-conflict", "--results compares programs that were run before; --gpu, --quick and --examples choose what is run", "leave one of them out");
  const Signals signals(0);
  ModelValidation validation(signals.flag());
  {
    const Progress progress("validating", o.output.quiet);
    if (o.results.empty()) {
      validation.run();
      // An installation may lack them; then that is said.
      if (o.examples.empty() && !has_examples(examples_folder(o)))
        validation.leave_out(examples_folder(o));
      else
        validation.beside(run_examples(app, examples_folder(o), chosen_gpus(o)), "Examples", o.output.all);
    } else {
      validation.beside(read_pairs(o.results), "Programs", o.output.all);
    }
  }
  result::Result result = validation.result();
  result.manifest.mode = "predict";
  result.manifest.device = "gtx460";
  clock.finish(result);
  return end_validation(result, validation.text(), validation.misses(), o.check, o.output);
}

}  // namespace

void add_validate_predict(CLI::App& validate, Action& chosen) {
  CLI::App* sub = validate.add_subcommand("predict", "The analytical models: published figures, and the cycle-level model");
  const auto o = std::make_shared<PredictValidation>();
  sub->add_option("--gpu", o->gpus, "Examples only on this device (default: all); may be repeated")->check(CLI::Validator(refuse_empty, ""))->type_name("NAME")->allow_extra_args(false);
  sub->add_flag("--quick", o->quick, "Examples on two devices");
  sub->add_option("--examples", o->examples, "Folder of the example programs (default: that of the source tree)")->check(CLI::Validator(refuse_empty, ""))->type_name("DIR");
  sub->add_option("--results", o->results, "Instead, pairs NAME.json and NAME.predict.json of programs: folder that tools/rodinia/measure.py wrote")
      ->check(CLI::Validator(refuse_empty, ""))
      ->type_name("DIR");
  sub->add_flag("--check", o->check, "End with exit code 6 if a target is missed");
  add_output_options(*sub, o->output);
  sub->callback([&chosen, o, sub] { chosen = [o, sub] { return validate_predict(*sub, *o); }; });
}

}  // namespace simtlab::cli
