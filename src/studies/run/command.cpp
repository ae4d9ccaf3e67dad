// simtlab run: a CUDA source, an executable or a bare kernel (PTX, OpenCL C) on the simulated GPU.
#include "studies/common/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/shown.h"
#include "compile/frontend.h"
#include "compile/nvcc_options.h"
#include "compile/opencl.h"
#include "options/run_file.h"
#include "studies/common/compile.h"
#include "studies/common/manifest.h"
#include "studies/common/output.h"
#include "studies/common/signals.h"
#include "studies/common/studies.h"
#include "studies/common/temporary.h"
#include "studies/run/checkpoint.h"
#include "studies/run/kernel.h"
#include "studies/run/observe.h"
#include "studies/run/program.h"
#include "studies/run/program_results.h"
#include "studies/run/replay.h"
#include "studies/run/run.h"
#include "timing/main_memory.h"

namespace simtlab::studies {
namespace {

// A source's command line may carry nvcc's options; other words with two dashes are taken for ours.
bool is_compiler_option(const std::string& argument) {
  return !argument.starts_with("--") || compile::is_nvcc_option(argument);
}

Error no_gpu_use(const ProgramResult& r, const std::string& name) {
  if (r.exit_status != 0)
    return {ExitCode::program_failed, "program-exit",
            r.signal != 0
                ? fmt::format("{} was ended by signal {} before it used the GPU", name, r.signal)
                : fmt::format("{} ended with status {} before it used the GPU", name, r.exit_status),
            "the program's own messages are above"};
  return {
      ExitCode::bad_input, "program-no-cuda",
      fmt::format("{} ran, but did not use the CUDA runtime library or the OpenCL library of simtlab: no "
                  "kernel was launched",
                  name),
      "simtlab sees programs that are linked with the CUDA runtime (by nvcc, or simtlab build), libcuda.so "
      "or libOpenCL.so"};
}

// What ended the run becomes part of the manifest before it is written.
void note_ending(ProgramResult& r, const options::Options& o, const std::string& name) {
  result::Manifest& m = r.result.manifest;
  if (!r.timed_out && r.interrupted) m.interrupted = true;
  std::optional<Error> error;
  if (r.timed_out)
    error = time_limit(o, m.stopped_at);
  else if (!r.interrupted && m.failure.empty())
    error = what_is_lost(r, name, o);
  if (!error) return;
  m.interrupted = false;
  m.failure = error->format();
  m.failure_id = error->id();
  m.failure_code = static_cast<int>(error->code());
}

// What is to be said when the report is written.
void conclude(const ProgramResult& r, const std::string& name, Outcome& out) {
  const result::Manifest& m = out.result->manifest;
  if (m.interrupted) {
    out.failure.emplace(ExitCode::interrupted, "interrupted", "interrupted" + at_place(m.stopped_at),
                        "the result covers what ran until then");
  } else if (!m.failure.empty()) {
    out.verdict = m.failure;
    out.code = m.failure_code == 0 ? static_cast<int>(ExitCode::program_failed) : m.failure_code;
  } else if (r.exit_status != 0) {
    out.failure.emplace(ExitCode::program_failed, "program-exit",
                        fmt::format("{} ended with status {}", name, r.exit_status),
                        "the program's own messages are above");
  }
}

// name: what the user called it. inputs: hashed into the manifest.
Outcome program(const Run& options, const std::string& name, const std::vector<std::string>& command,
                const std::vector<std::filesystem::path>& inputs) {
  const RunClock clock;
  const options::Configuration configuration = resolve(options.given);
  const device::LoadedDevice device =
      options::load_device(configuration);  // its errors before the program runs
  if (configuration.options.mode == "timing") timing::check_main_memory(device.device);
  check_inputs(options.output, inputs);
  check_inputs(options.output, files_of(configuration, device));
  narrate_setup(options.output, configuration, device,
                options.output.verbose > 1 ? hash_inputs(inputs) : std::vector<result::InputHash>{});
  ProgramResult r = run_program({command, options::run_file(configuration), options.mute,
                                 data_on_stdout(options.output), options.output, device.device.name});
  if (options.processes != nullptr) *options.processes = r.processes;
  // A program that is linked with CUDA and gives it nothing to do has an empty result.
  const bool empty = !r.used_gpu && r.linked && r.exit_status == 0;
  if (!r.used_gpu && !r.interrupted && !r.timed_out && !empty) throw no_gpu_use(r, name);
  note_ending(r, configuration.options, name);
  result::Manifest& m = r.result.manifest;
  m.device = device.device.name;
  m.mode = configuration.options.mode;
  m.seed = configuration.options.seed;
  m.inputs = hash_inputs(inputs);
  m.configuration = configuration_of(configuration, device);
  clock.finish(r.result);
  add_source_texts(r.result);
  Outcome out(std::move(r.result), options.output);
  out.beside_program = true;
  conclude(r, name, out);
  return out;
}

Outcome source(const Run& options, const std::vector<std::string>& arguments,
               const std::vector<std::string>& program_arguments) {
  const TemporaryDirectory folder;
  const std::string first = *std::ranges::find_if(arguments, is_source);
  std::vector<std::string> flags = arguments;
  if (options.output.verbose) flags.push_back("-v");
  const device::Device device = options::load_device(resolve(options.given)).device;
  const Signals signals(0);  // Ctrl-C ends the compiler, too
  const std::filesystem::path executable = [&] {
    try {
      return build_sources(flags, folder.path() / std::filesystem::path(first).stem(), options.output,
                           compile::architecture_for(device.cc_major, device.cc_minor));
    } catch (const Error&) {
      if (signals.interrupted())
        throw Error(ExitCode::interrupted, "interrupted", "interrupted while " + first + " was compiled",
                    "nothing was run");
      throw;
    }
  }();
  std::vector<std::string> command = {executable.string()};
  command.insert(command.end(), program_arguments.begin(), program_arguments.end());
  std::vector<std::filesystem::path> inputs;
  std::error_code ignored;
  for (const std::string& a : arguments)
    if (is_source(a) && std::filesystem::exists(a, ignored)) inputs.emplace_back(a);
  return program(options, first, command, inputs);
}

bool has_launch_options(const compile::LaunchOptions& o) {
  return o.kernel || o.grid || o.global || o.block || o.offset || o.shared || !o.args.empty();
}

}  // namespace

void add_kernel_options(Command& command, KernelRun& run) {
  const auto group = "Kernel without a host program";
  command.add_option("--launch", run.launch_file, "Launch file (docs/reference/launch-file.md)")
      ->check(not_empty())
      ->type_name("FILE")
      ->group(group);
  command
      .add_option(
          "--link", run.links,
          "An object of nvcc -rdc=true (.cubin, .fatbin, .o, .a) that the kernel needs; may be given again")
      ->type_name("FILE")
      ->one_at_a_time()
      ->group(group);
  command.add_option("--kernel", run.launch.kernel, "The kernel, if the module has several")
      ->type_name("NAME")
      ->group(group);
  command.add_option("--grid", run.launch.grid, "Blocks, e.g. 64x64")->type_name("XxYxZ")->group(group);
  command.add_option("--global", run.launch.global, "Threads instead of blocks")
      ->type_name("XxYxZ")
      ->group(group);
  command.add_option("--block,--local", run.launch.block, "Threads a block, e.g. 16x16")
      ->type_name("XxYxZ")
      ->group(group);
  command.add_option("--offset", run.launch.offset, "OpenCL: offset of the global ids")
      ->type_name("XxYxZ")
      ->group(group);
  command.add_option("--shared", run.launch.shared, "Dynamic shared memory a block")
      ->type_name("BYTES")
      ->group(group);
  command
      .add_option("--arg", run.launch.args,
                  "Next argument: buffer:64x64:f32:iota, f32:1.5, f32:1,2,3,4, u32:64, local:4096")
      ->type_name("ARG")
      ->one_at_a_time()
      ->group(group);
}

namespace {

// "simtlab run" or "simtlab cache", for hints.
std::string command_of(const Command& app) { return app.path(); }

// What is no source, kernel or trace may be a program.
Error cannot_run(const std::string& command, const std::vector<std::string>& rest) {
  const std::string what = fmt::format("cannot run '{}'", shown(rest.front()));
  std::error_code ignored;
  if (std::filesystem::is_regular_file(rest.front(), ignored) && ::access(rest.front().c_str(), X_OK) == 0)
    return {ExitCode::usage, "run-what", what + ": a program stands behind --",
            fmt::format("{} -- {}{}", command, rest.front().find('/') == std::string::npos ? "./" : "",
                        shown(fmt::format("{}", fmt::join(rest, " "))))};
  return {ExitCode::usage, "run-what", what,
          "a source (app.cu), a kernel (kernel.ptx or kernel.cl, --launch FILE), or -- and a program with "
          "its arguments"};
}

// `run TRACE` and `run --trace TRACE`.
Outcome run_trace(const Command& app, const Run& options, const std::vector<std::string>& rest, bool more) {
  const std::string file = options.trace.empty() ? rest.front() : options.trace;
  if (more || rest.size() > (options.trace.empty() ? 1u : 0u) || !options.kernel.launch_file.empty() ||
      !options.kernel.links.empty() || has_launch_options(options.kernel.launch))
    throw Error(ExitCode::usage, "run-what", "a trace is run alone: it says itself what was launched",
                command_of(app) + " FILE.simt --gpu NAME");
  return run_trace(file, options.given, options.output);
}

void add_trace_options(Command& command, Run& run) {
  const auto group = "Traces";
  command.add_option("--trace", run.trace, "Run this trace, ours or Accel-Sim's, whatever its name")
      ->check(not_empty())
      ->type_name("FILE")
      ->group(group);
}

void add_board_options(Command& command, BoardWish& wish) {
  const auto group = "Kernel without a host program";
  command
      .add_option("--device", wish.device,
                  "The same launch on this real board, too: index or UUID of `simtlab doctor`; values are "
                  "compared, times stand beside each other")
      ->check(not_empty())
      ->type_name("N|UUID")
      ->group(group);
  command.add_option("--repeat", wish.repeat, "Launches on the board that are timed (default 20)")
      ->needs("--device")
      ->check(in_range(1u, 100000u))
      ->type_name("N")
      ->group(group);
  command
      .add_option(
          "--tolerance", wish.tolerance,
          "Of floating-point values on the board, relative to max(1, |value|) (default 1e-5, f64 1e-12)")
      ->needs("--device")
      ->check(in_range(0.0, 1.0))
      ->type_name("SHARE")
      ->group(group);
}

// A real board runs what has no host program.
void check_board(const Command& app, const BoardWish& wish, bool is_ptx) {
  if (wish.device.empty() || is_ptx) return;
  throw Error(
      ExitCode::usage, "run-what",
      "--device is for the launch of one PTX kernel: the simulated libraries do not hand a program's "
      "launches to a real board",
      command_of(app) + " kernel.ptx --launch FILE --device 0; simtlab build app.cu -ptx makes the PTX");
}

// `run kernel.cl [BUILD OPTIONS]`.
Outcome opencl_kernel(const Command& app, const Run& options, const std::vector<std::string>& rest,
                      bool more) {
  KernelRun kernel = options.kernel;
  for (const std::string& a : rest) {
    if (a.starts_with("--")) unexpected_argument(app, a);
    if (!compile::is_opencl_source(a))
      kernel.options.push_back(a);
    else if (kernel.file.empty())
      kernel.file = a;
    else
      throw Error(ExitCode::usage, "run-what",
                  fmt::format("{} and {}: one OpenCL C file is run at a time", shown(kernel.file), shown(a)),
                  "#include the other one");
  }
  if (more)
    throw Error(
        ExitCode::usage, "run-what", "a kernel without a host program takes no arguments after --",
        fmt::format("--arg gives a kernel's arguments; {} -- ./app runs an OpenCL program", command_of(app)));
  return run_kernel(kernel, options.given, options.output);
}

}  // namespace

options::Study study_of(const Run& options, const Call& call) {
  const std::vector<std::string>& rest = call.rest;
  const std::optional<std::vector<std::string>>& after_dashes = call.after_dashes;
  using enum options::Study;
  const std::string mode = resolve(options.given).options.mode;
  const auto chosen = [&](options::Study timing, options::Study functional, options::Study cache,
                          options::Study predict) {
    return mode == "cache" ? cache : mode == "predict" ? predict : mode == "functional" ? functional : timing;
  };
  const bool cl = std::ranges::any_of(rest, compile::is_opencl_source);
  const bool cuda = !cl && std::ranges::any_of(rest, is_source);
  if (!cl && !cuda && (!options.trace.empty() || (!rest.empty() && is_trace(rest.front()))))
    return chosen(time_trace, time_trace, cache_trace, predict_trace);
  const bool kernel = cl || (!cuda && !after_dashes && rest.size() == 1);
  if (options.given.has("check")) return kernel ? check_kernel : check_program;
  return kernel ? chosen(time_kernel, execute_kernel, cache_kernel, predict_kernel)
                : chosen(time_program, execute_program, cache_program, predict_program);
}

Outcome run_command(const Call& call, Run options) {
  const Command& app = call.command;
  const std::vector<std::string>& rest = call.rest;
  const std::optional<std::vector<std::string>>& after_dashes = call.after_dashes;
  std::vector<std::string> files;
  files.reserve(4);  // `more` keeps their addresses
  for (const char* name : {"--record", "--timeline", "--checkpoint", "--schedule"})
    if (const std::optional<std::string> file = options.given.get(name + 2))
      options.output.more.push_back({name, &files.emplace_back(*file)});
  if (!options.output.live.empty()) options.output.more.push_back({"--live", &options.output.live});
  if (options.output.live == "-")
    throw Error(ExitCode::usage, "option-value", "--live - is no file: it is written as the run goes on",
                "--live=FILE, and `simtlab view FILE` in another terminal");
  check_observation(options.given);
  check_checkpoint(options.given);
  if (const std::optional<std::string> file = options.given.get("resume"))
    check_inputs(options.output, {*file});
  check_outputs(options.output);
  if (std::ranges::any_of(rest, compile::is_opencl_source))
    return opencl_kernel(app, options, rest, after_dashes.has_value());
  if (std::ranges::any_of(rest, is_source)) {
    for (const std::string& a : rest)
      if (!is_compiler_option(a)) unexpected_argument(app, a);
    return source(options, rest, after_dashes.value_or(std::vector<std::string>{}));
  }
  for (const std::string& a : rest)
    if (a.starts_with("-")) unexpected_argument(app, a);
  if (!options.trace.empty() || (!rest.empty() && is_trace(rest.front())))
    return run_trace(app, options, rest, after_dashes.has_value());
  const bool launch_described = !options.kernel.launch_file.empty() || !options.kernel.links.empty() ||
                                has_launch_options(options.kernel.launch);
  if (rest.size() == 1 && !after_dashes &&
      (rest.front().ends_with(".ptx") || rest.front().ends_with(".cubin") || launch_described)) {
    KernelRun kernel = options.kernel;
    kernel.file = rest.front();
    return run_kernel(kernel, options.given, options.output);
  }
  if (launch_described)
    throw Error(ExitCode::usage, "run-what",
                "--launch, --kernel, --grid, --block, --shared and --arg describe the launch of one PTX or "
                "OpenCL C file",
                command_of(app) + " kernel.ptx --launch FILE");
  if (!rest.empty()) throw cannot_run(command_of(app), rest);
  if (!after_dashes || after_dashes->empty())
    throw Error(
        ExitCode::usage, "run-what", "nothing to run",
        fmt::format("{0} app.cu, {0} kernel.ptx --launch FILE, or {0} -- ./app ARGS", command_of(app)));
  return program(options, after_dashes->front(), *after_dashes, {find_program(after_dashes->front())});
}

result::Result study_result(Run options, const Call& call) {
  options.output.quiet = true;
  Outcome out = run_command(call, std::move(options));
  if (out.failure) throw Error(*out.failure);
  if (!out.verdict.empty()) talk_error(out.verdict, out.output.color);
  if (out.code != 0)
    throw Error(static_cast<ExitCode>(out.code), "cache-variant",
                "a study of the table failed; what it said is above");
  return std::move(*out.result);
}

void add_run(Command& app) {
  Command* sub =
      app.add_subcommand("run", "Run a program or a kernel on the simulated GPU and report its time");
  const auto options = std::make_shared<Run>();
  sub->allow_extras();
  sub->footer(
      "Forms: simtlab run [OPTIONS] app.cu [MORE SOURCES AND NVCC FLAGS] [-- ARGUMENTS]\n"
      "       simtlab run [OPTIONS] -- ./app [ARGUMENTS]\n"
      "       simtlab run [OPTIONS] kernel.ptx|kernel.cubin --launch FILE\n"
      "       simtlab run [OPTIONS] kernel.cl [-D -I -cl-...] --global 160x160 --local 16x16 --arg ...\n"
      "       simtlab run [OPTIONS] TRACE.simt | kernelslist.g | ACCESSES.trace");
  const options::Studies of_kernels = options::Study::time_kernel | options::Study::execute_kernel;
  add_options(*sub, options::runs, options->given);
  add_trace_options(*sub, *options);
  {
    const ReadBy kernels(*sub, of_kernels);
    add_kernel_options(*sub, options->kernel);
    add_board_options(*sub, options->kernel.board);
  }
  add_output_options(*sub, options->output);
  add_progress_option(*sub, options->output);
  add_live_option(*sub, options->output);
  sub->takes_program();
  sub->embeds();
  sub->action([options](const Call& call) {
    check_board(call.command, options->kernel.board,
                !call.after_dashes && call.rest.size() == 1 && call.rest.front().ends_with(".ptx"));
    refuse_unread(call.command, study_of(*options, call));
    return run_command(call, *options);
  });
}

}  // namespace simtlab::studies
