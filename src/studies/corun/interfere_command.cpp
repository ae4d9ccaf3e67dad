// simtlab corun interfere: how sensitive applications are to traffic of L2, traffic of DRAM and use of the
// functional units.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.h"
#include "corun/fast_host.h"
#include "device/catalogue.h"
#include "studies/common/command.h"
#include "studies/common/manifest.h"
#include "studies/corun/disturb.h"
#include "studies/corun/model_commands.h"
#include "studies/run/run.h"

namespace simtlab::studies {
namespace {

struct InterfereOptions {
  std::vector<std::string> applications;
  std::string profiles, model;
  unsigned steps = corun::intensities;
  RunOptions given;
  KernelRun kernel;
  OutputOptions output;
};

double load_of(const corun::Demand& d) { return d.l2 + d.dram + d.ipc; }  // all but one are 0

std::string load_text(corun::Disturbance kind, const corun::Demand& d) {
  return kind == corun::Disturbance::compute ? fmt::format("{:.1f} instructions/cycle", d.ipc)
                                             : fmt::format("{:.0f} GB/s", load_of(d) / 1e9);
}

bool is_kernel(const std::string& name) {
  return name.ends_with(".ptx") || name.ends_with(".cubin") || name.ends_with(".cl");
}

void set_point(result::Result& result, const std::string& name, double intensity, double load,
               double slowdown) {
  result::KernelResult& k = result.kernels.emplace_back();
  k.name = k.demangled = name;
  k.metrics.set("corun.interfere.intensity", intensity);
  k.metrics.set("corun.interfere.load", load);
  k.metrics.set("corun.interfere.slowdown", slowdown);
}

// A kernel beside the micro-benchmarks, both at cycle level or on a board.
Outcome interfere_kernel(InterfereOptions o) {
  check_outputs(o.output);
  o.kernel.file = o.applications.front();
  const DisturbedKernel found = o.kernel.board.device.empty()
                                    ? disturb_kernel(o.kernel, o.given, o.output, o.steps)
                                    : disturb_kernel_on_board(o.kernel, o.given, o.output, o.steps);
  result::Result result;
  result.manifest = found.manifest;
  result.manifest.mode = "corun";
  std::string text = fmt::format("{} beside micro-benchmarks on {}; alone it takes {:.3f} us.\n", found.name,
                                 found.board.empty() ? "simulated " + found.manifest.device : found.board,
                                 found.alone_ns / 1e3);
  const DisturbedPoint* lowest = nullptr;
  for (const DisturbedPoint& p : found.points) {
    if (lowest == nullptr || lowest->kind != p.kind) {
      lowest = &p;
      text += fmt::format(
          "\n## {}\n\n| busy, of {} | load | time | over the lowest | over alone |\n|---|---|---|---|---|\n",
          corun::name_of(p.kind), corun::intensities);
    }
    const std::string load = p.kind == corun::Disturbance::compute
                                 ? fmt::format("{:.2f} instructions/cycle", p.load)
                                 : fmt::format("{:.1f} GB/s", p.load / 1e9);
    text += fmt::format("| {} | {} | {:.3f} us | {:.3f} | {:.3f} |\n", p.busy, load, p.time_ns / 1e3,
                        p.time_ns / lowest->time_ns, p.time_ns / found.alone_ns);
    set_point(result, fmt::format("{}: {} {}", found.name, corun::name_of(p.kind), p.busy),
              static_cast<double>(p.busy) / corun::intensities, p.load, p.time_ns / lowest->time_ns);
  }
  Outcome out(std::move(result), o.output);
  out.text = [text = std::move(text)](const report::Style&) { return text; };
  return out;
}

Outcome interfere(InterfereOptions o) {
  const RunClock clock;
  check_outputs(o.output);
  const auto folder = device::data_directory() / "corun";
  const std::filesystem::path profile_file =
      o.profiles.empty() ? folder / "titanx-thesis.toml" : std::filesystem::path(o.profiles);
  const std::filesystem::path model_file =
      o.model.empty() ? folder / "model-titanx.toml" : std::filesystem::path(o.model);
  check_inputs(o.output, {profile_file, model_file});
  const corun::InterferenceModel model = corun::load_model(model_file);
  const std::vector<corun::Workload> workloads =
      corun::workloads(corun::load_profiles(profile_file), o.applications, 1);
  result::Result result;
  std::string text =
      "Slowdown beside a micro-benchmark, over that beside its lowest intensity (interference model, not a "
      "measurement).\n";
  for (const corun::Disturbance kind : corun::disturbances) {
    text += fmt::format("\n## {}\n\n| load |", corun::name_of(kind));
    for (const corun::Workload& w : workloads) text += " " + w.name + " |";
    text += "\n|---|";
    for (std::size_t i = 0; i < workloads.size(); ++i) text += "---|";
    text += '\n';
    for (unsigned step = 0; step < corun::intensities; ++step) {
      const corun::Demand by = corun::disturbance(model, kind, step);
      text += fmt::format("| {} |", load_text(kind, by));
      for (const corun::Workload& w : workloads) {
        const double slowdown =
            corun::disturbed(w, model, by) / corun::disturbed(w, model, corun::disturbance(model, kind, 0));
        text += fmt::format(" {:.3f} |", slowdown);
        set_point(result, fmt::format("{}: {} {}", w.name, corun::name_of(kind), step + 1),
                  static_cast<double>(step) / (corun::intensities - 1), load_of(by), slowdown);
      }
      text += '\n';
    }
  }
  result.manifest.mode = "corun";
  result.manifest.inputs = hash_inputs({profile_file, model_file});
  clock.finish(result);
  Outcome out(std::move(result), o.output);
  out.text = [text = std::move(text)](const report::Style&) { return text; };
  return out;
}

options::Study study_of(const InterfereOptions& o) {
  const bool board = !o.kernel.board.device.empty();
  if (board && !o.applications.front().ends_with(".ptx"))
    throw Error(ExitCode::usage, "run-what", "--device is for the launch of one PTX kernel",
                "simtlab corun interfere kernel.ptx --launch FILE --device 0; simtlab build app.cu -ptx "
                "makes the PTX");
  if (std::ranges::none_of(o.applications, is_kernel)) return options::Study::interfere_model;
  if (o.applications.size() > 1)
    throw Error(ExitCode::usage, "option-conflict", "one kernel at a time, and no applications beside it");
  return board ? options::Study::interfere_board : options::Study::interfere_kernel;
}

}  // namespace

void add_corun_interfere(Command& corun) {
  Command* sub = corun.add_subcommand(
      "interfere", "Sensitivity curves of applications: L2 traffic, DRAM traffic, functional units");
  const auto o = std::make_shared<InterfereOptions>();
  o->kernel.board.repeat = 5;
  sub->add_option("applications", o->applications, "Applications of the profiles")
      ->required()
      ->check(not_empty())
      ->type_name("APP...");
  const options::Studies of_kernels = options::Study::interfere_kernel | options::Study::interfere_board;
  {
    const ReadBy model(*sub, options::Study::interfere_model);
    sub->add_option("--profiles", o->profiles,
                    "Kernels and applications: TOML, CSV or SQLite (default: Table 5.1 of the SHARK thesis)")
        ->check(not_empty())
        ->type_name("FILE");
    sub->add_option("--model", o->model,
                    "Parameters of the interference model (default: data/corun/model-titanx.toml)")
        ->check(not_empty())
        ->type_name("FILE");
  }
  {
    const ReadBy kernels(*sub, of_kernels);
    sub->add_option("--steps", o->steps, "Of a kernel: intensities of each micro-benchmark (default 32)")
        ->check(in_range(1u, corun::intensities))
        ->type_name("N");
    add_kernel_options(*sub, o->kernel);
  }
  {
    const ReadBy board(*sub, options::Study::interfere_board);
    sub->add_option("--device", o->kernel.board.device,
                    "A kernel on this real board instead: its index or UUID (simtlab doctor lists them)")
        ->check(not_empty())
        ->type_name("N|UUID");
    sub->add_option("--repeat", o->kernel.board.repeat,
                    "Launches on the board whose median a point is (default 5)")
        ->check(in_range(1u, 100000u))
        ->type_name("N");
  }
  add_options(*sub, options::interferences, o->given);
  add_output_options(*sub, o->output);
  add_progress_option(*sub, o->output);
  sub->footer(
      "Forms: simtlab corun interfere HW BH                        applications of the profiles, by the "
      "interference model\n"
      "       simtlab corun interfere kernel.ptx --launch FILE     a kernel beside data/corun/interfere.ptx, "
      "simulated at cycle level\n"
      "       simtlab corun interfere kernel.ptx --launch FILE --device 0     the same on a board");
  sub->embeds();
  sub->action([o](const Call& call) {
    const options::Study study = study_of(*o);
    refuse_unread(call.command, study);
    return study == options::Study::interfere_model ? interfere(*o) : interfere_kernel(*o);
  });
}

}  // namespace simtlab::studies
