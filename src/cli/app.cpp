#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <new>
#include <sstream>

#include "base/error.h"
#include "base/shown.h"
#include "cli/cli.h"
#include "cli/compile.h"
#include "cli/execute.h"
#include "cli/host.h"
#include "cli/manifest.h"
#include "cli/option_tree.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/output_option.h"
#include "compile/nvcc_options.h"

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

// Commands whose `--` is followed by a program or its arguments.
bool takes_program(const std::string& command) {
  return command == "run" || command == "cache" || command == "predict" || command == "corun" ||
         command == "sweep";
}

struct Arguments {
  std::vector<std::string> ours;  // in the reverse order that CLI11 wants
  std::optional<std::vector<std::string>> after_dashes;
};

// What follows `--` is the program's. `--json` alone must not take the next argument as its value.
Arguments arguments(std::vector<std::string> all) {
  // `simtlab help run` means `simtlab run --help`.
  if (!all.empty() && all.front() == "help") {
    all.erase(all.begin());
    all.emplace_back("--help");
  }
  Arguments out;
  const auto dashes = !all.empty() && takes_program(all.front()) ? std::ranges::find(all, "--") : all.end();
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
  std::ranges::reverse(out.ours);
  return out;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// Commands that only hold others (simtlab itself, list, config) do nothing by themselves.
bool has_action(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; }).empty();
}

// Counts (their value is called N) are read as numbers without a sign, which would wrap around.
void refuse_negative_counts(CLI::App& app) {
  const auto check = [](std::string& value) {
    return value.starts_with("-") && value.find_first_of("0123456789") == 1 ? value + " is below 0"
                                                                            : std::string();
  };
  for (CLI::Option* option : app.get_options())
    if (option->get_type_name() == "N") option->check(CLI::Validator(check, ""));
  for (CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    refuse_negative_counts(*sub);
}

// What most people want of the commands with more options than a screen has lines; the rest is in --help-all.
const std::map<std::string, std::vector<std::string>>& frequent_options() {
  static const std::map<std::string, std::vector<std::string>> all = {
      {"run",
       {"--gpu", "--set", "--mode", "--dram", "--lines", "--what-if", "--sample", "--kernels", "--launch",
        "--grid", "--block", "--arg", "--json", "--output"}},
      {"cache",
       {"--gpu", "--set", "--order", "--prefetch", "--plot", "--sweep", "--compare", "--grid", "--block",
        "--arg", "--json", "--output"}},
      {"predict",
       {"--gpu", "--counts", "--model", "--explain", "--static", "--sweep", "--loop", "--params", "--run",
        "--simulate", "--grid", "--block", "--arg", "--json"}},
      {"dram",
       {"--dram", "--channels", "--controller", "--generate", "--requests", "--read-share", "--sweep-load",
        "--timeline", "--check", "--json", "--output"}},
      {"corun",
       {"--policy", "--limit", "--mix", "--mixes", "--size", "--profiles", "--host", "--gpu",
        "--applications", "--log", "--json"}},
      {"probe",
       {"--gpu", "--device", "--quick", "--only", "--method", "--base", "--curves", "--analyse", "--compare",
        "--output", "--json"}},
      {"sweep",
       {"--axis", "--kernels", "--design", "--points", "--constraint", "--repeats", "--metric", "--minimise",
        "--maximise", "--db", "--jobs", "--retry-failed", "--engine", "--html", "--json", "--csv"}},
  };
  return all;
}

void add_all_commands(CLI::App& app, Action& chosen,
                      const std::optional<std::vector<std::string>>& after_dashes) {
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  add_run(app, chosen, after_dashes);
  add_cache(app, chosen, after_dashes);
  add_build(app, chosen);
  add_nvcc(app, chosen);
  add_toolkit(app, chosen);
  add_suite(app, chosen);
  add_dram(app, chosen);
  add_predict(app, chosen, after_dashes);
  add_probe(app, chosen);
  add_corun(app, chosen, after_dashes);
  add_sweep(app, chosen, after_dashes);
  add_trace(app, chosen);
  add_report(app, chosen);
  add_compare(app, chosen);
  add_view(app, chosen);
  add_rerun(app, chosen);
  add_list(app, chosen);
  add_config(app, chosen);
  add_explain(app, chosen);
  add_validate(app, chosen);
  add_doctor(app, chosen);
  add_completion(app, chosen);
  add_man(app, chosen);
  add_version(app, chosen);
  for (const auto& [name, options] : frequent_options()) {
    CLI::App* const command = app.get_subcommand(name);
    command->set_help_all_flag("--help-all", "Every option");
    for (const std::string& option : options)
      SIMTLAB_ASSERT(command->get_option_no_throw(option) != nullptr,
                     "a frequent option is none of its command");
  }
  refuse_negative_counts(app);
  app.set_version_flag("--version", "simtlab " + std::string(version()));
}

// Of commands that compile: a value of one of nvcc's options is none of the command's own. `ours` is in
// CLI11's order.
void keep_values(const CLI::App& app, std::vector<std::string>& ours) {
  if (std::ranges::none_of(ours, is_source)) return;
  std::vector<std::string> words(ours.rbegin(), ours.rend());
  const CLI::App* command = &app;
  std::size_t first = 0;
  for (bool found = true; found && first < words.size(); first += found ? 1 : 0) {
    found = false;
    for (const CLI::App* sub : command->get_subcommands([](const CLI::App*) { return true; }))
      if (sub->get_name() == words[first]) command = sub, found = true;
  }
  if (!command->get_allow_extras() || command->get_prefix_command()) return;
  const std::vector<std::string> joined = compile::with_values_joined(
      {words.begin() + static_cast<std::ptrdiff_t>(first), words.end()}, option_names(*command));
  words.resize(first);
  words.insert(words.end(), joined.begin(), joined.end());
  ours.assign(words.rbegin(), words.rend());
}

// "simtlab validate dram".
std::string path_of(const CLI::App& command) {
  const CLI::App* const above = command.get_parent();
  return above == nullptr ? "simtlab" : path_of(*above) + " " + command.get_name();
}

// Hides what is not frequent. Returns how many options that are.
std::size_t shorten_help(CLI::App& command) {
  const auto found = frequent_options().find(command.get_name());
  if (found == frequent_options().end()) return 0;
  std::size_t hidden = 0;
  for (CLI::Option* option : command.get_options()) {
    const bool keep =
        option->get_positional() || option->check_lname("help") || option->check_lname("help-all") ||
        std::ranges::any_of(found->second,
                            [&](const std::string& name) { return option->check_lname(name.substr(2)); });
    if (keep || option->get_group().empty()) continue;
    option->group("");
    ++hidden;
  }
  return hidden;
}

// Sets `chosen` (see Action). A code: of --help and --version, of which the text was printed, or of a command
// that only holds others.
std::optional<int> parse(CLI::App& app, std::vector<std::string> ours) {
  keep_values(app, ours);
  try {
    app.parse(std::move(ours));
  } catch (const CLI::CallForHelp&) {
    CLI::App& command = const_cast<CLI::App&>(innermost(app));
    const std::size_t more = shorten_help(command);
    print(app.help());
    if (more > 0) print(fmt::format("\n{} more options: {} --help-all\n", more, path_of(command)));
    return 0;
  } catch (const CLI::CallForAllHelp&) {
    print(app.help());
    return 0;
  } catch (const CLI::Success& e) {
    std::ostringstream text;
    const int code = app.exit(e, text, text);  // --help, --version
    print(text.str());
    return code;
  } catch (const CLI::ParseError& e) {
    const std::vector<std::string> rest = app.remaining(true);
    if (dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr && !rest.empty())
      unexpected_argument(app, rest.front());
    // No sub-command was recognised: either a word is misspelt, or there is none.
    if (dynamic_cast<const CLI::RequiredError*>(&e) != nullptr && !has_action(innermost(app))) {
      if (!rest.empty()) unexpected_argument(app, rest.front());
      talk(innermost(app).help());
      return static_cast<int>(ExitCode::usage);
    }
    throw Error(ExitCode::usage, "option-value", shown_lines(e.what(), 400),
                "simtlab --help, simtlab COMMAND --help");
  }
  return std::nullopt;
}

}  // namespace

bool understood(const std::vector<std::string>& words) {
  const WithoutTrying looking;
  Arguments split = arguments(words);
  CLI::App app(description, "simtlab");
  Action chosen;
  add_all_commands(app, chosen, split.after_dashes);
  return !parse(app, std::move(split.ours)) && chosen != nullptr;
}

bool reads(const std::vector<std::string>& words, const std::string& name) {
  const WithoutTrying looking;
  try {
    Arguments split = arguments(words);
    CLI::App app(description, "simtlab");
    Action chosen;
    add_all_commands(app, chosen, split.after_dashes);
    if (parse(app, std::move(split.ours)) || chosen == nullptr) return false;
    const CLI::Option* const option = innermost(app).get_option_no_throw("--" + name);
    if (option == nullptr) return false;
    const options::Studies studies = readers_of(*option);
    if (studies == options::Studies::all() || studies.one()) return true;
    const Asking asking;
    try {
      chosen();
    } catch (const Asked& asked) { return studies.contains(asked.study); }
  } catch (const Error&) {}
  return true;
}

int parse_and_run(const std::vector<std::string>& words) {
  Arguments split = arguments(words);
  CLI::App app(description, "simtlab");
  Action chosen;
  add_all_commands(app, chosen, split.after_dashes);
  if (const std::optional<int> code = parse(app, std::move(split.ours))) return *code;
  if (host() != nullptr) check_embedded(innermost(app));
  try {
    return chosen();
  } catch (const std::filesystem::filesystem_error& e) {
    throw Error(ExitCode::failure, "file-system",
                fmt::format("{}: {}", shown(e.path1().string()), e.code().message()),
                "is it a folder or file that you may use, and is there room?");
  }
}

TreeCommand whole_tree() {
  CLI::App app(description, "simtlab");
  Action chosen;
  const std::optional<std::vector<std::string>> none;
  add_all_commands(app, chosen, none);
  TreeCommand tree = option_tree(app);
  for (TreeCommand& command : tree.commands) command.program = takes_program(command.name);
  return tree;
}

namespace {

// What somebody wanted who gave a file instead of a command; empty: it is no file that can be run.
std::string line_to_run(const std::string& file) {
  std::error_code ignored;
  const std::string name = shown(file);
  const auto ends = [&](std::initializer_list<const char*> endings) {
    return std::ranges::any_of(endings, [&](const char* e) { return file.ends_with(e); });
  };
  if (ends({".ptx"})) return fmt::format("simtlab run {} --launch FILE", name);
  if (ends({".cl"})) return fmt::format("simtlab run {} --global N --local N --arg ...", name);
  if (is_source(file) || ends({".simt", "kernelslist.g"})) return "simtlab run " + name;
  if (ends({".json"})) return "simtlab report " + name;
  if (std::filesystem::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0)
    return fmt::format("simtlab run -- {}{}", file.find('/') == std::string::npos ? "./" : "", name);
  return {};
}

}  // namespace

void unexpected_argument(const CLI::App& app, const std::string& argument) {
  const CLI::App& command = innermost(app);
  const std::string where = path_of(command);
  if (argument.starts_with("-") && argument.size() > 1) {
    const std::string name = argument.substr(0, argument.find('='));
    const std::string near = nearest_name(name.substr(0, 200), option_names(command));
    throw Error(
        ExitCode::usage, "option-unknown", fmt::format("{} has no option {}", where, shown(name)),
        near.empty() ? fmt::format("{} --help lists them", where) : fmt::format("did you mean {}?", near));
  }
  const std::string given = shown(argument);
  std::vector<std::string> names;
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  // `simtlab show` means `simtlab config show`.
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
    for (const CLI::App* below : sub->get_subcommands([](const CLI::App*) { return true; }))
      if (below->get_name() == argument)
        throw Error(ExitCode::usage, "command-unknown", fmt::format("{} has no command '{}'", where, given),
                    fmt::format("did you mean '{} {} {}'?", where, sub->get_name(), argument));
  if (command.get_parent() == nullptr)
    if (const std::string line = line_to_run(argument); !line.empty())
      throw Error(ExitCode::usage, "command-unknown",
                  fmt::format("{} needs a command before '{}'", where, given), line);
  const std::string near = nearest_name(argument.substr(0, 200), names);
  if (!names.empty())
    throw Error(
        ExitCode::usage, "command-unknown", fmt::format("{} has no command '{}'", where, given),
        near.empty() ? fmt::format("{} --help lists them", where) : fmt::format("did you mean '{}'?", near));
  throw Error(ExitCode::usage, "argument-unexpected",
              fmt::format("{} takes no argument '{}' here", where, given),
              fmt::format("{} --help shows the usage", where));
}

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
