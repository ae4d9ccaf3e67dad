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
#include "cli/parser.h"
#include "compile/nvcc_options.h"
#include "studies/common/compile.h"
#include "studies/common/host.h"
#include "studies/common/manifest.h"
#include "studies/common/signals.h"

namespace simtlab::cli {
namespace {

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
  for (std::string& a : out.ours) {
    if (compiles) break;
    const Option* const option = a.starts_with("--") ? command->find_option(a) : nullptr;
    if (a == "--json" || a == "--csv" || (option != nullptr && option->value_optional())) a += "=-";
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
  std::unique_ptr<Command> tool;
  Parsed parsed;
  std::optional<std::vector<std::string>> after_dashes;

  Understood(Maker make, const std::vector<std::string>& words) : tool(make()), make_(make) {
    Arguments split = arguments(*tool, words);
    after_dashes = std::move(split.after_dashes);
    keep_values(*tool, split.ours);
    parsed = parse(*tool, std::move(split.ours));
  }
  Outcome act() const {
    const auto reads_option = [make = make_](const std::vector<std::string>& words,
                                             const std::string& option) {
      return reads(make, words, option);
    };
    return parsed.command->act({*parsed.command, parsed.rest, after_dashes, reads_option});
  }

 private:
  Maker make_;
};

}  // namespace

bool understood(Maker tool, const std::vector<std::string>& words) {
  const WithoutTrying looking;
  return Understood(tool, words).parsed.command != nullptr;
}

bool reads(Maker tool, const std::vector<std::string>& words, const std::string& name) {
  const WithoutTrying looking;
  try {
    const Understood line(tool, words);
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

int parse_and_run(Maker tool, const std::vector<std::string>& words) {
  const Understood line(tool, words);
  if (line.parsed.command == nullptr) {
    line.parsed.error ? talk(line.parsed.text) : print(line.parsed.text);
    return line.parsed.code;
  }
  const Outcome outcome = line.act();
  const Signals signals(0);  // what has been found is written, whoever is impatient
  return deliver(outcome);
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

int run(int argc, char** argv, Maker tool) {
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
    return parse_and_run(tool, {words.begin() + 1, words.end()});
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
