#include "options/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/shown.h"
#include "device/what_if.h"

namespace simtlab::options {
namespace {

constexpr std::string_view configuration = "Configuration", limits = "Limits", observation = "Observation",
                           traces = "Traces", checkpoints = "Checkpoints";

constexpr Studies ran = timed | Study::run_suite;
constexpr Studies on_a_gpu = runs | checked | cached | predictions | Study::run_suite | Study::mix_on_sms |
                             Study::mix_cycle | Study::interfere_kernel | Study::probe_simulated |
                             Study::show_configuration;
// One kernel is launched with buffers that may be random.
constexpr Studies launched = Study::time_kernel | Study::execute_kernel | Study::check_kernel |
                             Studies(Study::cache_kernel) | Study::predict_kernel | Study::interfere_kernel |
                             Study::interfere_board;
constexpr Studies executes_kernels = Study::time_program | Study::time_kernel | executed | Study::run_suite |
                                     Study::cache_program | Study::cache_kernel | Study::predict_program |
                                     Study::predict_kernel;
constexpr Studies beside_others = Study::interfere_kernel | Studies(Study::mix_cycle);
constexpr Studies evaluated = predicted | cached;

constexpr auto all_rows = std::to_array<Row>({
    {.key = "gpu",
     .value = "NAME|FILE",
     .group = configuration,
     .read_by = on_a_gpu,
     .doc = "The simulated GPU: a name of `simtlab list gpus` or a device file",
     .default_value = "h100",
     .layered = true,
     .field = &Options::gpu},
    {.key = "set",
     .value = "KEY=VALUE",
     .group = configuration,
     .read_by = on_a_gpu,
     .doc = "Change one value of the device, e.g. --set sm.count=4; may be repeated",
     .form = Form::list},
    {.key = "config",
     .value = "FILE",
     .group = configuration,
     .read_by = on_a_gpu | Study::probe_board,
     .doc = "One more configuration file (TOML), read after the user's and the project's",
     .form = Form::list},
    {.key = "mode",
     .value = "MODE",
     .group = configuration,
     .read_by = runs | Study::run_suite,
     .doc = "timing: cycle by cycle; functional: results only, no times",
     .default_value = "timing",
     .choices = "timing|functional",
     .layered = true,
     .field = &Options::mode},
    {.key = "seed",
     .value = "N",
     .group = configuration,
     .read_by =
         launched | cached | predicted | Study::probe_simulated | Study::probe_board | Study::drive_memory,
     .doc = "Seed of random buffers, orders and traffic",
     .default_value = "0",
     .layered = true,
     .field = &Options::seed},
    {.key = "threads",
     .value = "N",
     .group = limits,
     .kind = Kind::host,
     .read_by = ran | beside_others | Study::simulate_nest | Study::probe_simulated,
     .doc =
         "Host threads that simulate the SMs; 0: all that the process may use. Results do not depend on it",
     .default_value = "0",
     .maximum = 256,
     .layered = true,
     .field = &Options::threads},
    {.key = "sample",
     .value = "ERROR",
     .group = limits,
     .read_by = ran,
     .doc = "Relative error (0.02: 2 %) at which the pace of a large grid's blocks counts as known and the "
            "rest "
            "is extrapolated; 0: never",
     .default_value = "0",
     .largest = 0.5,
     .layered = true,
     .field = &Options::sample},
    {.key = "kernels",
     .value = "LIST",
     .group = limits,
     .read_by = ran | evaluated,
     .doc = "Launches that are studied (names with * and ?, numbers from 1, NAME:N); the others are only "
            "executed",
     .default_value = "*",
     .layered = true,
     .field = &Options::kernels},
    {.key = "sharing",
     .value = "POLICY",
     .group = configuration,
     .read_by = ran | beside_others | Study::mix_on_sms,
     .doc =
         "How kernels of different streams share the GPU: leftover, spatial, smk, serial, or SMs by kernel "
         "(NAME=0-39,NAME=40-79)",
     .default_value = "leftover",
     .layered = true,
     .field = &Options::sharing},
    {.key = "max-cycles",
     .value = "N",
     .group = limits,
     .kind = Kind::limit,
     .read_by = ran | evaluated | Study::interfere_kernel | Study::drive_memory,
     .doc = "Simulated cycles after which a kernel is stopped (of `dram`: clocks of the memory); 0: never",
     .default_value = "0",
     .layered = true,
     .field = &Options::max_cycles},
    {.key = "max-time",
     .value = "TIME",
     .group = limits,
     .kind = Kind::host,
     .read_by = runs | checked | Study::run_suite | evaluated | beside_others | Study::simulate_nest |
                Study::interfere_board | Study::probe_simulated | Study::probe_board | Study::drive_memory,
     .doc = "Wall time after which a run is stopped, e.g. 90 (seconds) or \"2 min\"; 0: never",
     .default_value = "0 ns",
     .unit = Unit::nanoseconds,
     .layered = true,
     .field = &Options::max_time_ns},
    {.key = "max-memory",
     .value = "SIZE",
     .group = limits,
     .kind = Kind::host,
     .read_by = runs | checked | Study::run_suite | evaluated | Study::simulate_nest |
                Study::interfere_kernel | Study::probe_simulated,
     .doc = "Host memory for device allocations, resident blocks and the lines of cache studies; 0: three "
            "quarters "
            "of what is free",
     .default_value = "0 B",
     .unit = Unit::bytes,
     .layered = true,
     .field = &Options::max_memory},
    {.key = "regs",
     .value = "N",
     .group = configuration,
     .read_by = ran | evaluated | Study::predict_static | Study::interfere_kernel,
     .doc = "Registers of a thread; 0: the compiler's or the estimate",
     .default_value = "0",
     .maximum = 255,
     .layered = true,
     .field = &Options::registers},
    {.key = "memory-errors",
     .value = "HOW",
     .group = configuration,
     .read_by = executes_kernels,
     .doc = "What an access outside of every allocation does: stop ends the kernel; report and ignore go on, "
            "loads "
            "read zeros and stores are lost, and report tells each place once",
     .default_value = "stop",
     .choices = "stop|report|ignore",
     .layered = true,
     .field = &Options::memory_errors},
    {.key = "code",
     .value = "CODE",
     .group = configuration,
     .read_by = Study::time_program | Study::execute_program | Studies(Study::run_suite) |
                Study::cache_program | Study::predict_program,
     .doc = "What a program's kernels run as: machine code of its fat binary that fits the simulated GPU, or "
            "PTX; auto: machine code if there is some and all of it is executed, else PTX",
     .default_value = "auto",
     .choices = "auto|machine|ptx",
     .layered = true,
     .field = &Options::code},
    {.key = "cubin",
     .value = "FILE",
     .group = traces,
     .read_by = Study::time_trace | Studies(Study::cache_trace) | Study::predict_trace,
     .doc =
         "Machine code of the kernels of an Accel-Sim trace: a cubin, or an executable or library with some. "
         "It says what the trace does not: control information, predicates, constants",
     .path = true,
     .field = &Options::cubin},
    {.key = "results",
     .value = "WHEN",
     .group = configuration,
     .read_by = Study::time_program | Study::time_kernel | executed,
     .doc = "When instructions of machine code deliver their results: early: at once; late: as late as stall "
            "counts and scoreboards of the code allow; checked: as late, and a read that comes before its "
            "result, or a write before a read, ends the kernel",
     .default_value = "early",
     .choices = "early|late|checked",
     .layered = true,
     .field = &Options::results},
    {.key = "stack",
     .value = "SIZE",
     .group = configuration,
     .read_by = executes_kernels,
     .doc =
         "Stack of a thread of machine code that recurses, or calls by pointers: what cudaLimitStackSize is "
         "until the program sets it",
     .default_value = "1024 B",
     .unit = Unit::bytes,
     .maximum = 512 << 10,
     .layered = true,
     .field = &Options::stack},
    {.key = "cache-control",
     .value = "HOW",
     .group = configuration,
     .read_by = ran,
     .doc =
         "What is done with cached data before a launch: none: it stays; all: it goes, and launches run one "
         "after another, as under Nsight Compute unless it is told otherwise (its --cache-control)",
     .default_value = "none",
     .choices = "none|all",
     .layered = true,
     .field = &Options::cache_control},
    {.key = "what-if",
     .value = "NAME,...",
     .group = configuration,
     .read_by = ran | Study::interfere_kernel,
     .doc = "Limits of the GPU that are lifted: perfect-l1, infinite-dram-bandwidth, no-bank-conflicts, "
            "perfect-coalescing, double-occupancy, double-math, zero-launch-cost, alone, perfect-fetch, "
            "no-register-conflicts, unlimited-tags, wide-writes (docs/guide/explain.md)",
     .default_value = "none",
     .layered = true,
     .field = &Options::what_if},
    {.key = "lowering",
     .value = "HOW",
     .group = configuration,
     .read_by = ran | executed | evaluated | nests | Study::predict_static | Study::interfere_kernel |
                Studies(Study::mix_cycle),
     .doc =
         "What PTX runs as. machine: machine code that simtlab makes of it (Fermi to Hopper; where nothing "
         "is executed, counts); optimised: PTX that an optimiser improved, timed by counts; counts: "
         "as it stands, each instruction timed as the machine instructions that it becomes; off: as it "
         "stands, each as one (docs/concepts/assembler.md)",
     .default_value = "machine",
     .choices = "machine|optimised|counts|off",
     .layered = true,
     .field = &Options::lowering},
    {.key = "dram",
     .value = "MEMORY",
     .group = configuration,
     .read_by = ran | Study::interfere_kernel,
     .doc = "Another memory, modelled in detail: a name of `simtlab list drams`, a file, `device` (the "
            "GPU's own), plugin:FILE?config=TEXT; or `simple`: latency and bandwidth alone",
     .path = true,
     .parameter = "dram.model"},
    {.key = "channels",
     .value = "N",
     .group = configuration,
     .read_by = ran | Study::interfere_kernel,
     .doc = "Channels of --dram, one a memory partition (default: the GPU's partitions)",
     .parameter = "dram.channels"},
    {.key = "controller",
     .value = "NAME|FILE",
     .group = configuration,
     .read_by = ran | Study::interfere_kernel,
     .doc = "Memory controller of --dram, a name of `simtlab list controllers` or a file",
     .path = true,
     .parameter = "dram.controller"},
    {.key = "lines",
     .group = observation,
     .kind = Kind::observed,
     .read_by = timed,
     .doc = "Say which source lines the time goes to, where loads wait, and the stack of cycles per "
            "instruction",
     .form = Form::flag,
     .field = &Options::lines},
    {.key = "series",
     .value = "CYCLES",
     .group = observation,
     .kind = Kind::observed,
     .read_by = timed,
     .doc = "Record what happens every CYCLES cycles in the result",
     .minimum = 1,
     .field = &Options::series},
    {.key = "timeline",
     .value = "FILE",
     .group = observation,
     .kind = Kind::output,
     .read_by = timed,
     .doc = "Write what an SM does in a window of time as a picture for ui.perfetto.dev",
     .path = true,
     .field = &Options::timeline},
    {.key = "sm-timeline",
     .group = observation,
     .kind = Kind::observed,
     .read_by = timed,
     .doc = "Keep in the result what the warps of an SM do in that window: a picture of its page (simtlab "
            "report "
            "--html)",
     .form = Form::flag,
     .field = &Options::sm_timeline},
    {.key = "timeline-window",
     .value = "FROM:TO",
     .group = observation,
     .kind = Kind::observed,
     .read_by = timed,
     .doc = "The window of --timeline and --sm-timeline, in cycles since the first kernel began",
     .default_value = "0:10000",
     .field = &Options::timeline_window},
    {.key = "timeline-sm",
     .value = "N|all",
     .group = observation,
     .kind = Kind::observed,
     .read_by = timed,
     .doc = "The SM of --timeline and --sm-timeline",
     .default_value = "0",
     .field = &Options::timeline_sm},
    {.key = "record",
     .value = "FILE",
     .group = traces,
     .kind = Kind::output,
     .read_by = runs,
     .doc = "Write a trace of everything that runs (docs/reference/traces.md)",
     .path = true,
     .field = &Options::record},
    {.key = "schedule",
     .value = "FILE",
     .group = traces,
     .kind = Kind::output,
     .read_by = cached,
     .doc =
         "Write every access in the order in which the caches are asked: address R|W group warp instruction "
         "(docs/reference/traces.md)",
     .path = true,
     .field = &Options::schedule},
    {.key = "checkpoint",
     .value = "FILE",
     .group = checkpoints,
     .kind = Kind::output,
     .read_by = runs,
     .doc = "Write what launches did, to go on from later (docs/reference/checkpoints.md)",
     .path = true,
     .field = &Options::checkpoint},
    {.key = "checkpoint-every",
     .value = "N",
     .group = checkpoints,
     .kind = Kind::output,
     .read_by = runs,
     .doc = "Complete the checkpoint every N launches, not every minute and at the end",
     .minimum = 1,
     .field = &Options::checkpoint_every},
    {.key = "resume",
     .value = "FILE",
     .group = checkpoints,
     .kind = Kind::host,
     .read_by = runs,
     .doc = "Go on from this checkpoint: its launches are not run again",
     .path = true,
     .field = &Options::resume},
    // No option of a command line: commands say these.
    {.key = "cache", .doc = "What a cache study does (cache/options.h)", .field = &Options::cache},
    {.key = "predict", .doc = "What a prediction does (gpu/prediction.h)", .field = &Options::predict},
    {.key = "check", .doc = "What is checked, of `simtlab check`", .field = &Options::check},
    {.key = "pulse",
     .kind = Kind::host,
     .doc = "Where a program tells how far it is",
     .field = &Options::pulse},
});

}  // namespace

std::span<const Row> rows() { return all_rows; }

namespace {

[[noreturn]] void refuse(const Row& row, std::string_view what, std::string hint) {
  throw Error(ExitCode::bad_input, "config-value", fmt::format("{}: {}", row.key, what), std::move(hint));
}

bool is_choice(std::string_view choices, std::string_view text) {
  while (!choices.empty()) {
    const std::size_t end = std::min(choices.find('|'), choices.size());
    if (choices.substr(0, end) == text) return true;
    choices.remove_prefix(std::min(end + 1, choices.size()));
  }
  return false;
}

void check_text(const Row& row, const std::string& text) {
  if (row.read_by == Studies()) return;  // a command says it
  if (text.empty()) refuse(row, "is empty", std::string(row.doc));
  if (!row.choices.empty() && !is_choice(row.choices, text))
    refuse(row, fmt::format("unknown value '{}'", shown(text, 40)), fmt::format("one of {}", row.choices));
  if (row.key == "what-if") device::parse_what_if(text);  // says what is wrong with it
}

std::uint64_t whole(const Row& row, const std::string& text) {
  const std::uint64_t value = parse_whole_quantity(text, row.unit);
  if (value >= row.minimum && value <= row.maximum) return value;
  refuse(row, fmt::format("'{}' is out of range", shown(text, 40)),
         row.maximum == UINT64_MAX ? fmt::format("{} or more", row.minimum)
                                   : fmt::format("{} to {}", row.minimum, row.maximum));
}

}  // namespace

const Row* find_row(std::string_view key) {
  const auto found = std::ranges::find(rows(), key, &Row::key);
  return found == rows().end() ? nullptr : &*found;
}

void store(const Row& row, const std::string& text, Options& out) {
  try {
    if (const auto* words = std::get_if<std::string Options::*>(&row.field)) {
      check_text(row, text);
      out.** words = text;
    } else if (const auto* flag = std::get_if<bool Options::*>(&row.field)) {
      check_text(row, text);
      out.** flag = text == "on";
    } else if (const auto* real = std::get_if<double Options::*>(&row.field)) {
      const double value = parse_quantity(text, row.unit);
      if (value > row.largest)
        refuse(row, fmt::format("'{}' is out of range", shown(text, 40)),
               fmt::format("0 to {:g}", row.largest));
      out.** real = value;
    } else if (const auto* number = std::get_if<std::uint64_t Options::*>(&row.field)) {
      out.** number = whole(row, text);
    }
  } catch (const Error& e) {
    if (e.id() != "quantity") throw;
    refuse(row, e.diagnostics().front().message, e.diagnostics().front().hint);
  }
}

Options defaults() {
  Options out;
  for (const Row& row : rows())
    if (!row.default_value.empty()) store(row, std::string(row.default_value), out);
  return out;
}

}  // namespace simtlab::options
