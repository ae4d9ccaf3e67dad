// simtlab validate predict: the analytical models beside what was published of them.
#include "studies/validate/areas/predict.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "device/catalogue.h"
#include "gpu/gpu.h"
#include "models/model.h"
#include "result/json.h"
#include "studies/common/command.h"
#include "studies/common/manifest.h"
#include "studies/validate/areas/examples.h"
#include "studies/validate/areas/loops.h"
#include "studies/validate/predict_resios.h"

namespace simtlab::studies {
namespace {

constexpr double most_precision_error = 0.5;  // of a ratio of table 7.1 from the thesis's
constexpr double most_chain_error = 0.25;  // of the rate of a chain of multiply-adds from the simulated one

// Devices that nobody looked at when the constants of models were chosen; the others were.
const std::vector<std::string> held_out = {"a100", "h200", "gtx460"};
constexpr double most_mean_error = 0.25;  // of the best model over all launches

struct PredictValidation : ValidationOptions {
  std::vector<std::string> gpus;
  std::string examples, results;
};

class ModelValidation {
 public:
  explicit ModelValidation(const volatile bool* stop)
      : stop_(stop),
        ptx_(read_file(device::data_directory() / "probes" / "resios.ptx", 1 << 20, "probe kernels")),
        device_(device::load_device("gtx460").device),
        published_(studies::validate::Table::read(device::data_directory() / "measured" / "resios.csv")) {
    device_.l1_caches_global = false;  // the thesis measures with -dlcm=cs
  }

  void run(bool quick) {
    points();
    kernels(quick);
  }

  // The examples, or the programs of result files, beside the cycle-level simulator.
  void beside(const std::vector<ModelledLaunch>& launches, const std::string& what, bool all) {
    text_ += fmt::format(
        "\n## {}: models over cycle-level simulation\n\nMean absolute error of the cycles of a launch, and "
        "rank correlation over launches.\n\n{}",
        what, text_of(launches, held_out, all));
    double best = 1e300;
    std::string name;
    for (const std::string& model : models::model_names())
      if (const ModelError e = error_of(launches, model, {}); e.launches != 0 && e.mean < best)
        best = e.mean, name = model;
    text_ +=
        fmt::format("\nBest: {}, {:.1f} % (target {:.0f} %).\n", name, 100 * best, 100 * most_mean_error);
    launch_rows(launches, what, name);
    if (best > most_mean_error)
      misses_.push_back(
          fmt::format("{}: the best model ({}) is {:.1f} % off in the mean", what, name, 100 * best));
  }

  void nests(const std::vector<ModelledNest>& nests) {
    text_ += "\n" + text_of(nests);
    for (studies::validate::Row& row : rows_of(nests)) rows_.push_back(std::move(row));
  }

  void leave_out(const std::string& folder) {
    text_ += fmt::format(
        "\n## Examples: left out\n\n{} has no example programs; --examples DIR names the examples/ of a "
        "source tree.\n",
        folder);
  }

  void leave_out_nests(const std::string& folder) {
    text_ += fmt::format(
        "\n## Loop nests: left out\n\nThey need the programs of {}/loops, clang 19 and simtlab-loops "
        "(`simtlab doctor`).\n",
        folder);
  }

  std::string text() const { return text_; }
  const result::Result& result() const { return result_; }
  const std::vector<std::string>& misses() const { return misses_; }
  const std::vector<studies::validate::Row>& rows() const { return rows_; }

 private:
  // The devices, and all of them together: that of the best model has the target.
  void launch_rows(const std::vector<ModelledLaunch>& launches, const std::string& what,
                   const std::string& best) {
    std::vector<std::string> gpus = gpus_of(launches);
    if (gpus.size() > 1) gpus.emplace_back();
    for (const std::string& gpu : gpus)
      for (const std::string& model : models::model_names()) {
        const ModelError e = error_of(launches, model, gpu);
        if (e.launches == 0) continue;
        studies::validate::Row& row = rows_.emplace_back();
        row.group = what == "Programs" ? "programs" : "examples", row.device = gpu.empty() ? "all" : gpu,
        row.quantity = model;
        row.over = fmt::format("mean of {} launches", e.launches);
        row.source = "cycle-level model";
        row.error = e.mean, row.worst = e.worst;
        if (gpus.back() == gpu && model == best) row.target = most_mean_error;
        row.role = std::ranges::find(held_out, gpu) != held_out.end() ? studies::validate::Role::held_out
                                                                      : studies::validate::Role::tuned;
        row.note = fmt::format("rank correlation {:.2f}", e.rank);
      }
  }

  void points() {
    text_ +=
        "## Resios: formulas at the points that the thesis gives\n\n| | place | quantity | published | ours "
        "| |\n|---|---|---|---|---|---|\n";
    for (const studies::validate::ResiosPoint& p : studies::validate::resios_points(published_)) {
      text_ += fmt::format("| {} | {} | {} | {:g} | {:.6g} | {} |\n", p.id, p.place, p.what, p.published,
                           p.ours, p.agrees() ? "met" : "missed");
      studies::validate::Row& row = rows_.emplace_back(studies::validate::value_row(
          "formulas of Resios", p.place, fmt::format("{}: {}", p.id, p.what), "1", p.published, p.ours));
      // The last digit that is published
      row.target = p.published < 100 && p.published > 10 ? std::max(1e-4, 5e-3 / p.published) : 1e-4;
      row.role = studies::validate::Role::by_construction, row.source = "data/measured/resios.csv";
      if (!p.agrees())
        misses_.push_back(fmt::format("{} ({}): {:.6g}, not {:g}", p.id, p.what, p.ours, p.published));
    }
  }

  // Table 7.1: model over cycle-level simulation; the thesis has model over hardware.
  void kernels(bool quick) {
    const auto variants = studies::validate::resios_variants();
    text_ +=
        "\n## Resios: model over cycle-level simulation, GTX 460 without L1, time of the kernel alone (table "
        "7.1)\n\n| kernel | cycles | thesis, on hardware |";
    std::string line = "|---|---|---|";
    for (const studies::validate::ResiosVariant& v : variants) {
      text_ += fmt::format(" {} |", v.name);
      line += "---|";
    }
    text_ += fmt::format(" target |\n{}---|\n", line);
    for (const studies::validate::ResiosKernel& k : studies::validate::resios_kernels())
      if (!quick || !k.slow) kernel(k, variants);
    figure_4_3();
  }

  void kernel(const studies::validate::ResiosKernel& k,
              const std::vector<studies::validate::ResiosVariant>& variants) {
    const double published = studies::validate::published_precision(published_, k.name);
    const double cycles = launch(k, gpu::Mode::timing).metrics.get("gpu.cycles").value_or(0);
    text_ += fmt::format("| {} ({}) | {:.0f} | {:.2f} |", k.name, k.what, cycles, published);
    bool met = true;
    for (const studies::validate::ResiosVariant& v : variants) {
      result::KernelResult predicted = launch(k, gpu::Mode::predict, v.parameters);
      const double precision = predicted.metrics.get("predict.resios.cycles").value_or(0) / cycles;
      text_ += fmt::format(" {:.2f} |", precision);
      kernel_row(k, v, precision, published, cycles, &v == variants.data());
      if (&v != variants.data()) continue;
      met = std::abs(precision / published - 1) <= most_precision_error;
      if (!met)
        misses_.push_back(fmt::format("{}: {:.2f} times the simulated cycles; the thesis has {:.2f}",
                                      title_of(k), precision, published));
      predicted.metrics.set("gpu.cycles", static_cast<std::uint64_t>(cycles));
      predicted.name = predicted.demangled = title_of(k);
      result_.kernels.push_back(std::move(predicted));
    }
    text_ += fmt::format(" {} |\n", met ? "met" : "missed");
  }

  static std::string title_of(const studies::validate::ResiosKernel& k) {
    return k.size.empty() ? std::string(k.name) : fmt::format("{} {}", k.name, k.size);
  }

  void kernel_row(const studies::validate::ResiosKernel& k, const studies::validate::ResiosVariant& v,
                  double precision, double published, double cycles, bool of_the_table) {
    studies::validate::Row row = studies::validate::value_row(
        "kernels of Resios", "gtx460", fmt::format("{}: model over time, {}", title_of(k), v.name), "times",
        of_the_table ? published : 1, precision);
    if (of_the_table) row.target = most_precision_error;
    row.role = studies::validate::Role::independent;
    row.source = of_the_table ? "data/measured/resios.csv, table 7.1" : "cycle-level model";
    row.note = of_the_table
                   ? fmt::format("the thesis's ratio is to hardware, ours to {:.0f} simulated cycles; {}",
                                 cycles, k.what)
                   : "";
    rows_.push_back(std::move(row));
  }

  // Figure 4.3: a chain of multiply-adds on one SM, by the number of its warps.
  void figure_4_3() {
    text_ +=
        "\n## Resios: a chain of multiply-adds by warps, GTX 460 (figure 4.3)\n\nOperations of an SM a "
        "cycle.\n\n"
        "| warps | simulated | model | |\n|---|---|---|---|\n";
    for (const std::uint32_t warps : studies::validate::figure_4_3_warps) {
      studies::validate::ResiosKernel k = studies::validate::resios_kernels()[1];
      k.grid = {1, 1, 1}, k.block = {32 * warps, 1, 1};
      const double simulated = launch(k, gpu::Mode::timing).metrics.get("gpu.cycles").value_or(0),
                   model = launch(k, gpu::Mode::predict, "").metrics.get("predict.resios.cycles").value_or(0);
      constexpr double chain = 1024;
      const double operations = chain * 32 * warps;
      studies::validate::Row row = studies::validate::value_row(
          "kernels of Resios", "gtx460", fmt::format("figure 4.3, {} warps: operations a cycle", warps),
          "ops/cycle", operations / simulated, operations / model);
      row.role = studies::validate::Role::independent, row.source = "cycle-level model";
      row.target = most_chain_error;
      const bool met = std::abs(simulated / model - 1) <= most_chain_error;
      text_ += fmt::format("| {} | {:.1f} | {:.1f} | {} |\n", warps, operations / simulated,
                           operations / model, met ? "met" : "missed");
      if (!met)
        misses_.push_back(fmt::format("figure 4.3, {} warps: {:.1f} operations a cycle, not {:.1f}", warps,
                                      operations / model, operations / simulated));
      rows_.push_back(std::move(row));
    }
  }

  result::KernelResult launch(const studies::validate::ResiosKernel& k, gpu::Mode mode,
                              const std::string& parameters = "") {
    gpu::Options options;
    options.mode = mode;
    options.interrupt = stop_;
    options.predict.model = "resios";
    options.predict.resios = parameters;
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
  studies::validate::Table published_;
  std::string text_;
  result::Result result_;
  std::vector<std::string> misses_;
  std::vector<studies::validate::Row> rows_;
};

std::vector<std::string> chosen_gpus(const PredictValidation& o) {
  if (!o.gpus.empty()) return o.gpus;
  return o.quick ? std::vector<std::string>{"gtx480", "v100"} : device::list_devices();
}

// Beside the data files in a source tree.
std::string examples_folder(const PredictValidation& o) {
  return o.examples.empty() ? (device::data_directory() / ".." / "examples").lexically_normal().string()
                            : o.examples;
}

AreaReport run_predict(const Command& app, const PredictValidation& o, const volatile bool* stop) {
  ModelValidation validation(stop);
  if (o.results.empty()) {
    validation.run(o.quick);
    const std::string folder = examples_folder(o);
    // An installation may lack them; then that is said.
    if (o.examples.empty() && !has_examples(folder))
      validation.leave_out(folder);
    else
      validation.beside(run_examples(app, folder, chosen_gpus(o)), "Examples", o.output.all);
    if (has_nests(folder))
      validation.nests(run_nests(folder, o.quick));
    else
      validation.leave_out_nests(folder);
  } else {
    validation.beside(read_pairs(o.results), "Programs", o.output.all);
  }
  AreaReport out{"predict", validation.text() + misses_text(validation.misses()), validation.result(),
                 validation.misses(), validation.rows()};
  out.result.manifest.mode = "predict";
  out.result.manifest.device = "gtx460";
  return out;
}

Outcome validate_predict(const Command& app, PredictValidation o) {
  const RunClock clock;
  o.recorded = !o.results.empty() && o.update;
  check_validation(o, {"predict"},
                   o.recorded            ? std::nullopt
                   : !o.gpus.empty()     ? std::optional<std::string>("--gpu")
                   : !o.examples.empty() ? std::optional<std::string>("--examples")
                   : !o.results.empty()  ? std::optional<std::string>("--results")
                                         : std::nullopt);
  if (!o.results.empty() && (!o.gpus.empty() || o.quick || !o.examples.empty()))
    throw Error(
        ExitCode::usage, "option-conflict",
        "--results compares programs that were run before; --gpu, --quick and --examples choose what is run",
        "leave one of them out");
  return validated(o, clock, [&](const volatile bool* stop) { return run_predict(app, o, stop); });
}

}  // namespace

AreaReport predict_area(const Command& app, bool quick, const volatile bool* stop) {
  PredictValidation o;
  o.quick = quick;
  return run_predict(app, o, stop);
}

void add_validate_predict(Command& validate) {
  Command* sub = validate.add_subcommand(
      "predict",
      "The analytical models: published figures, the cycle-level model on the examples and their loop nests");
  const auto o = std::make_shared<PredictValidation>();
  sub->add_option("--gpu", o->gpus, "Examples only on this device (default: all); may be repeated")
      ->check(not_empty())
      ->type_name("NAME")
      ->one_at_a_time();
  sub->add_option("--examples", o->examples,
                  "Folder of the example programs (default: that of the source tree)")
      ->check(not_empty())
      ->type_name("DIR");
  sub->add_option("--results", o->results,
                  "Instead, pairs NAME.json of `simtlab run` and NAME.predict.json of `simtlab predict` in "
                  "this folder")
      ->check(not_empty())
      ->type_name("DIR");
  add_validation_options(*sub, *o, "Examples on two devices, the small loop nests");
  sub->action([o](const Call& call) { return validate_predict(call.command, *o); });
}

}  // namespace simtlab::studies
