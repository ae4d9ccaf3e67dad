#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <filesystem>
#include <new>

#include "base/error.h"
#include "base/shown.h"
#include "cli/cli.h"
#include "cli/frequent.h"
#include "cli/option_tree.h"
#include "cli/parser.h"
#include "compile/nvcc_options.h"
#include "studies/common/compile.h"
#include "studies/common/host.h"
#include "studies/common/manifest.h"
#include "studies/common/signals.h"
#include "studies/common/studies.h"

namespace simtlab::cli {
namespace {

constexpr const char* description =
    "simtlab: a GPU performance laboratory. Runs CUDA programs and PTX kernels on a simulated GPU and says "
    "how long they\n"
    "take and why.\n\n"
    "  simtlab run app.cu --gpu a100            compile and run a CUDA program\n"
    "  simtlab run -- ./app 1024                run an executable built with -cudart shared\n"
    "  simtlab run kernel.ptx --launch l.toml   run one kernel without a host program\n"
    "  simtlab cache app.cu --gpu gtx480        what it does to L1 and L2, and why it misses\n"
    "  simtlab dram TRACE --dram ddr4-3200      drive a memory on its own\n"
    "  simtlab predict --counts c.toml          analytical models from counts given by hand\n"
    "  simtlab corun --policy mps,shark         several applications on one GPU\n"
    "  simtlab sweep study.toml                 a command at many points, on all cores\n"
    "  simtlab validate timing                  the simulator beside published measurements\n"
    "  simtlab report RESULT.json --html=r.html a result as a page; --md, --csv, --sqlite, --timeline\n"
    "  simtlab compare A.json B.json            what differs between two results, and why\n"
    "  simtlab explain long_scoreboard          what a word of the report means\n";

struct Arguments {
  std::vector<std::string> ours;
  std::optional<std::vector<std::string>> after_dashes;
};

// What follows `--` is the program's. `--json` alone must not take the next argument as its value.
Arguments arguments(const Command& tool, std::vector<std::string> all) {
  // `simtlab help run` means `simtlab run --help`.
  if (!all.empty() && all.front() == "help") {
    all.erase(all.begin());
    all.emplace_back("--help");
  }
  Arguments out;
  const Command* command = &tool;
  for (const std::string& word : all) {
    const Command* const below = command->find_command(word);
    if (below == nullptr) break;
    command = below;
  }
  const auto dashes = command->program() ? std::ranges::find(all, "--") : all.end();
  out.ours.assign(all.begin(), dashes);
  if (dashes != all.end()) out.after_dashes.emplace(dashes + 1, all.end());
  // Their options are the compiler's.
  const bool compiles = !all.empty() && (all.front() == "build" || all.front() == "nvcc");
  const bool prints = !all.empty() && all.front() == "report";  // elsewhere --timeline takes the next word
  for (std::string& a : out.ours) {
    if (compiles) break;
    if (a == "--json" || a == "--csv") a += "=-";
    if (a == "--html" && all.front() == "validate") a += "=-";
    if (prints && (a == "--md" || a == "--html" || a == "--timeline" || a == "--sqlite")) a += "=-";
    // CLI11 would take the next argument for the value.
    if (a.starts_with("--") && a.find('=') + 1 == a.size())
      throw Error(ExitCode::usage, "option-value", fmt::format("{} has no value", shown(a)),
                  "something must follow the =");
  }
  // `simtlab explain --lines` asks about the option; alone, no option of explain has a meaning. One with a
  // value is meant as an option.
  if (all.size() == 2 && all.front() == "explain" && all.back().starts_with("--") && all.back() != "--help" &&
      all.back() != "--" && all.back().find('=') == std::string::npos)
    out.ours = {"explain", "--", all.back()};
  return out;
}

// Of commands that compile: a value of one of nvcc's options is none of the command's own.
void keep_values(const Command& tool, std::vector<std::string>& words) {
  if (std::ranges::none_of(words, is_source)) return;
  const Command* command = &tool;
  std::size_t first = 0;
  while (first < words.size() && command->find_command(words[first]) != nullptr)
    command = command->find_command(words[first++]);
  if (!command->extras() || command->prefix()) return;
  const std::vector<std::string> joined = compile::with_values_joined(
      {words.begin() + static_cast<std::ptrdiff_t>(first), words.end()}, command->option_names());
  words.resize(first);
  words.insert(words.end(), joined.begin(), joined.end());
}

// A command line whose words have been read.
struct Understood {
  std::unique_ptr<Command> tool = all_commands();
  Parsed parsed;
  std::optional<std::vector<std::string>> after_dashes;

  explicit Understood(const std::vector<std::string>& words) {
    Arguments split = arguments(*tool, words);
    after_dashes = std::move(split.after_dashes);
    keep_values(*tool, split.ours);
    parsed = parse(*tool, std::move(split.ours));
  }
  Outcome act() const {
    return parsed.command->action()({*parsed.command, parsed.rest, after_dashes, reads});
  }
};

}  // namespace

std::unique_ptr<Command> all_commands() {
  auto tool = std::make_unique<Command>("simtlab", description);
  tool->require_subcommand(1, 1);
  add_run(*tool);
  add_cache(*tool);
  add_build(*tool);
  add_nvcc(*tool);
  add_toolkit(*tool);
  add_suite(*tool);
  add_dram(*tool);
  add_predict(*tool);
  add_probe(*tool);
  add_corun(*tool);
  Command& corun = *tool->find_command("corun");
  add_corun_serve(corun);
  add_corun_exec(corun);
  add_corun_top(corun);
  add_sweep(*tool);
  add_trace(*tool);
  add_report(*tool);
  add_compare(*tool);
  add_view(*tool);
  add_rerun(*tool);
  add_list(*tool);
  add_config(*tool);
  add_explain(*tool);
  add_validate(*tool);
  add_doctor(*tool);
  add_completion(*tool);
  add_man(*tool);
  add_version(*tool);
  name_frequent_options(*tool);
  return tool;
}

bool understood(const std::vector<std::string>& words) {
  const WithoutTrying looking;
  return Understood(words).parsed.command != nullptr;
}

bool reads(const std::vector<std::string>& words, const std::string& name) {
  const WithoutTrying looking;
  try {
    const Understood line(words);
    if (line.parsed.command == nullptr) return false;
    const Option* const option = line.parsed.command->find_option("--" + name);
    if (option == nullptr) return false;
    if (option->readers == options::Studies::all() || option->readers.one()) return true;
    const Asking asking;
    try {
      line.act();
    } catch (const Asked& asked) { return option->readers.contains(asked.study); }
  } catch (const Error&) {}
  return true;
}

int parse_and_run(const std::vector<std::string>& words) {
  const Understood line(words);
  if (line.parsed.command == nullptr) {
    line.parsed.error ? talk(line.parsed.text) : print(line.parsed.text);
    return line.parsed.code;
  }
  try {
    const Outcome outcome = line.act();
    const Signals signals(0);  // what has been found is written, whoever is impatient
    return deliver(outcome);
  } catch (const std::filesystem::filesystem_error& e) {
    throw Error(ExitCode::failure, "file-system",
                fmt::format("{}: {}", shown(e.path1().string()), e.code().message()),
                "is it a folder or file that you may use, and is there room?");
  }
}

TreeCommand whole_tree() { return option_tree(*all_commands()); }

namespace {

// --color, also of a command line that is wrong. What follows -- is the program's.
std::string color_in(const std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    if (words[i].starts_with("--color=")) return words[i].substr(8);
    if (words[i] == "--color" && i + 1 < words.size()) return words[i + 1];
  }
  return "auto";
}

// Whoever starts us without standard streams must not find a result file in the place of one. What takes the
// place can't be written to (read from): that nobody sees the output stays an error.
void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) [[maybe_unused]]
      const int held = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

int run(int argc, char** argv) {
  hold_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error of its writing
  std::setlocale(LC_CTYPE, "");
  try {
    std::vector<std::string> words(argv, argv + argc);
    // bin/nvcc of a toolkit that `simtlab toolkit` laid out.
    if (!words.empty() && std::filesystem::path(words.front()).filename() == "nvcc")
      words.insert(words.begin() + 1, "nvcc");
    remember_command_line(words);
    return parse_and_run({words.begin() + 1, words.end()});
  } catch (const Error& e) {
    talk_error(e.format(), color_in({argv, argv + argc}));
    return static_cast<int>(e.code());
  } catch (const std::bad_alloc&) {
    talk(
        "error: the host has no memory left [host-memory]\n  hint: a smaller problem, or --max-memory to be "
        "told earlier\n");
  } catch (const std::exception& e) {
    talk(fmt::format(
        "error: {} [internal]\n  hint: this is a fault of simtlab; please report it with the command line\n",
        e.what()));
  }
  return static_cast<int>(ExitCode::failure);
}

}  // namespace simtlab::cli
