#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.h"
#include "base/shown.h"
#include "cache/options.h"
#include "cli/output_option.h"
#include "device/main_memory.h"
#include "gpu/kernel_choice.h"
#include "gpu/sharing.h"

namespace simtlab::cli {
namespace {

using Settings = std::vector<device::Setting>;

// An option as the setting of the same name.
void add(Settings& settings, const char* key, const std::optional<std::string>& value) {
  if (value)
    settings.push_back(
        {key, *value, {"command line", fmt::format("--{} {}", key, shown(*value)), "", false}});
}

Settings settings_of(const DeviceOptions& options) {
  Settings settings;
  add(settings, "gpu", options.gpu);
  for (const std::string& text : options.set) settings.push_back(device::command_line_setting(text));
  return settings;
}

// --dram, --channels and --controller are device parameters with a name of their own, so that they reach
// programs, the manifest and `config show` as any other. The program may run in another folder.
void add_memory(Settings& settings, const RunOptions& options) {
  const auto option = [&](const char* key, const char* name, const std::optional<std::string>& value,
                          bool is_path) {
    if (!value) return;
    const device::Origin origin{"command line", fmt::format("--{} {}", name, shown(*value)), "", false};
    settings.push_back(
        {key, is_path ? device::memory_model_in(*value, std::filesystem::current_path()) : *value, origin});
  };
  if (options.dram && options.mode == "functional")
    throw Error(ExitCode::usage, "option-conflict",
                "--dram has no meaning in functional mode: it times nothing", "leave one of them out");
  option("dram.model", "dram", options.dram, true);
  option("dram.channels", "channels", options.channels, false);
  option("dram.controller", "controller", options.controller, true);
}

device::Configuration gather(const DeviceOptions& options, const Settings& settings) {
  return device::gather(device::current_process(), {options.config.begin(), options.config.end()}, settings);
}

}  // namespace

std::string refuse_empty(std::string& value) { return value.empty() ? "is empty" : ""; }

void add_device_options(CLI::App& command, DeviceOptions& options) {
  command
      .add_option("--gpu", options.gpu,
                  "The simulated GPU: a name of `simtlab list gpus` or a device file (default h100)")
      ->check(CLI::Validator(refuse_empty, ""))
      ->type_name("NAME|FILE")
      ->group("Configuration");
  command
      .add_option("--set", options.set,
                  "Change one value of the device, e.g. --set sm.count=4; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group("Configuration");
  command
      .add_option("--config", options.config,
                  "One more configuration file (TOML), read after the user's and the project's")
      ->check(CLI::Validator(refuse_empty, ""))
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("Configuration");
}

void add_study_options(CLI::App& command, RunOptions& options) {
  const auto limits = "Limits";
  command.add_option("--regs", options.registers, "Registers a thread, instead of the estimate")
      ->type_name("N")
      ->group("Configuration");
  command.add_option("--seed", options.seed, "Seed of random buffers (default 0)")
      ->type_name("N")
      ->group("Configuration");
  command
      .add_option("--kernels", options.kernels,
                  "Study these launches only: names (* and ?), numbers from 1, NAME:N; execute the rest")
      ->type_name("LIST")
      ->group(limits);
  command.add_option("--max-cycles", options.max_cycles, "Stop a kernel after N simulated cycles")
      ->type_name("N")
      ->group(limits);
  command.add_option("--max-time", options.max_time, "Stop after this wall time, e.g. 90 or \"2 s\"")
      ->type_name("TIME")
      ->group(limits);
  command
      .add_option(
          "--max-memory", options.max_memory,
          "Most host memory for device allocations, resident blocks and cache studies, e.g. \"8 GiB\"")
      ->type_name("SIZE")
      ->group(limits);
}

void add_run_options(CLI::App& command, RunOptions& options) {
  add_device_options(command, options.device);
  const auto limits = "Limits";
  command
      .add_option("--mode", options.mode,
                  "timing: cycle by cycle (default); functional: results only, no times")
      ->type_name("MODE")
      ->group("Configuration");
  command
      .add_option("--dram", options.dram,
                  "Another memory, modelled in detail: a name of `simtlab list drams`, a file, `device` (the "
                  "GPU's own) or "
                  "plugin:FILE?config=TEXT")
      ->check(CLI::Validator(refuse_empty, ""))
      ->type_name("MEMORY")
      ->group("Configuration");
  command
      .add_option("--channels", options.channels,
                  "Channels of --dram, one a memory partition (default: the GPU's partitions)")
      ->type_name("N")
      ->group("Configuration");
  command.add_option("--controller", options.controller, "Memory controller of --dram, a name or a file")
      ->check(CLI::Validator(refuse_empty, ""))
      ->type_name("NAME|FILE")
      ->group("Configuration");
  command
      .add_option("--what-if", options.what_if,
                  "Lift limits of the GPU: perfect-l1, infinite-dram-bandwidth, no-bank-conflicts, "
                  "perfect-coalescing, "
                  "double-occupancy, double-math, zero-launch-cost, alone")
      ->check(CLI::Validator(refuse_empty, ""))
      ->type_name("NAME,...")
      ->group("Configuration");
  command
      .add_option("--lowering", options.lowering,
                  "Time PTX as the machine code that it becomes: on (default) or off")
      ->check(CLI::Validator(refuse_empty, ""))
      ->type_name("on|off")
      ->group("Configuration");
  command.add_option("--threads", options.threads, "Host threads that simulate the SMs; 0 (default): all")
      ->type_name("N")
      ->group(limits);
  command
      .add_option(
          "--sharing", options.sharing,
          "How kernels of different streams share the GPU: leftover, spatial, smk, serial, or NAME=SM-SM,...")
      ->check(CLI::Validator(refuse_empty, ""))
      ->type_name("POLICY")
      ->group("Configuration");
  command
      .add_option("--sample", options.sample,
                  "Extrapolate large grids once the pace of their blocks is known so well (0.02: 2 %)")
      ->type_name("ERROR")
      ->group(limits);
  add_study_options(command, options);
}

void add_output_options(CLI::App& command, OutputOptions& options) {
  const auto group = "Output";
  command.add_option("-o,--output,--report", options.output, "Write the text report to FILE (- is stdout)")
      ->check(output_file())
      ->type_name("FILE")
      ->group(group);
  // `--json` alone is turned into `--json=-` before parsing, so that it never takes the next argument.
  command
      .add_option("--json", options.json, "Write the result as JSON to stdout, or with --json=FILE to FILE")
      ->check(output_file())
      ->type_name("[=FILE]")
      ->group(group);
  command.add_option("--csv", options.csv, "Write the metrics as CSV to stdout, or with --csv=FILE to FILE")
      ->check(output_file())
      ->type_name("[=FILE]")
      ->group(group);
  command.add_option("--color", options.color, "auto (default), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN")
      ->group(group);
  command.add_flag("--all", options.all, "Every kernel, stall reason and metric in the text report")
      ->group(group);
  command.add_flag("-q,--quiet", options.quiet, "No report on stderr, no notes, no progress; errors only")
      ->group(group);
  command
      .add_flag("-v,--verbose", options.verbose,
                "As --all, and say what is being done on stderr; twice (-vv): which files are read, and a "
                "program's environment, too")
      ->group(group);
}

void add_progress_option(CLI::App& command, OutputOptions& options) {
  command
      .add_option(
          "--progress", options.progress,
          "auto (default: a line on the terminal), plain (a line on stderr every ten seconds) or none")
      ->check(CLI::IsMember({"auto", "plain", "none"}))
      ->type_name("HOW")
      ->group("Output");
}

void add_live_option(CLI::App& command, OutputOptions& options) {
  command
      .add_option("--live", options.live,
                  "Write how far the run is to FILE as it goes on, for `simtlab view FILE`")
      ->check(output_file())
      ->type_name("FILE")
      ->group("Output");
}

std::vector<std::filesystem::path> files_of(const device::Configuration& configuration,
                                            const device::LoadedDevice& device) {
  std::vector<std::filesystem::path> files = configuration.files;
  // A device file may state no value of its own; the name of the catalogue is no file.
  const std::string& gpu = configuration.options.gpu;
  if (gpu.find('/') != std::string::npos || gpu.ends_with(".toml")) files.emplace_back(gpu);
  for (const device::Entry& e : device.entries) {
    // "file:line" of a value that a device file states; a file that it inherits from is read as well.
    std::filesystem::path file = e.origin.where.substr(0, e.origin.where.rfind(':'));
    if (e.origin.layer == "device" && std::ranges::find(files, file) == files.end())
      files.push_back(std::move(file));
  }
  return files;
}

device::Configuration resolve(const DeviceOptions& options) { return gather(options, settings_of(options)); }

device::Configuration resolve(const RunOptions& options) {
  Settings settings = settings_of(options.device);
  add_memory(settings, options);
  add(settings, "mode", options.mode);
  add(settings, "what-if", options.what_if);
  add(settings, "lowering", options.lowering);
  add(settings, "threads", options.threads);
  add(settings, "sample", options.sample);
  add(settings, "kernels", options.kernels);
  add(settings, "sharing", options.sharing);
  add(settings, "seed", options.seed);
  add(settings, "max-cycles", options.max_cycles);
  // A bare number is seconds: the option measures nothing else.
  std::optional<std::string> time = options.max_time;
  if (time && !time->empty() && time->find_first_not_of("0123456789.") == std::string::npos) *time += " s";
  add(settings, "max-time", time);
  add(settings, "max-memory", options.max_memory);
  add(settings, "regs", options.registers);
  device::Configuration configuration = gather(options.device, settings);
  if (options.cache) {
    configuration.options.mode = "cache";
    configuration.options.cache = *options.cache;
  }
  if (options.predict) {
    configuration.options.mode = "predict";
    configuration.options.predict = *options.predict;
  }
  if (configuration.options.mode == "functional" && options.max_cycles)
    throw Error(ExitCode::usage, "option-conflict",
                "--max-cycles has no meaning in functional mode: it counts no cycles",
                "--max-time stops a functional run");
  if (options.cache && options.max_cycles &&
      cache::orders_threads(cache::parse_options(*options.cache).order))
    throw Error(ExitCode::usage, "option-conflict",
                "--max-cycles has no meaning where single threads take turns: there is no time then",
                "--max-time stops such a study, --groups makes it smaller");
  gpu::KernelChoice checked(configuration.options.kernels);  // throws
  gpu::parse_sharing(configuration.options.sharing);
  if (configuration.options.sample < 0 || configuration.options.sample > 0.5)
    throw Error(ExitCode::usage, "option-value",
                fmt::format("--sample {:g} is not between 0 and 0.5", configuration.options.sample),
                "--sample 0.02 stops simulating blocks when their pace is known to 2 %");
  return configuration;
}

std::string at_place(const std::string& where) {
  return where.empty() || where == "interrupted" ? "" : (where.starts_with("in ") ? " " : " at ") + where;
}

Error time_limit(const device::ToolOptions& options, const std::string& where) {
  return {
      ExitCode::failure, "limit-time",
      fmt::format("stopped after the time limit of {:g} s{}", options.max_time_ns * 1e-9, at_place(where)),
      "raise --max-time, or a smaller problem"};
}

}  // namespace simtlab::cli
