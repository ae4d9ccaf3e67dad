#include "studies/explain/rerun.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/shell.h"
#include "base/shown.h"
#include "options/rows.h"
#include "result/json.h"
#include "studies/common/temporary.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;

// Commands whose --json is a result file that can be made again.
bool has_result(const std::vector<std::string>& words) {
  static constexpr std::array commands = {"run", "cache", "dram", "predict", "probe", "corun", "validate"};
  // Of corun: what they do depends on other processes
  static constexpr std::array live = {"exec", "serve", "top"};
  if (words.size() < 2 || std::ranges::find(commands, words[1]) == commands.end()) return false;
  return words[1] != "corun" || words.size() < 3 || std::ranges::find(live, words[2]) == live.end();
}

// That which the words, of which the first is the tool's name, call.
const Command& command_of(const Command& tool, const std::vector<std::string>& words) {
  const Command* out = &tool;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const Command* const below = out->find_command(words[i]);
    if (below == nullptr) break;
    out = below;
  }
  return *out;
}

// The words behind the tool's name without the options that `leaves_out` names.
std::vector<std::string> without(const Command& tool, const std::vector<std::string>& words,
                                 const std::function<bool(const Option&)>& leaves_out) {
  const Command& command = command_of(tool, words);
  std::vector<std::string> out;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& w = words[i];
    if (w == "--") {
      out.insert(out.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      break;
    }
    const bool is_short = w.size() > 2 && w[0] == '-' && w[1] != '-';  // -oFILE, -vv
    const Option* const option = command.find_option(is_short ? w.substr(0, 2) : w.substr(0, w.find('=')));
    if (option == nullptr || !leaves_out(*option))
      out.push_back(w);
    else if (!option->flag() && !option->value_optional() && !is_short && w.find('=') == std::string::npos)
      ++i;  // its value is the next word
  }
  return out;
}

bool is_of_output(const Option& option) { return option.output || option.shown; }

// What `explain` wants to be as it says: observers and lifted limits. Launches that a checkpoint holds would
// not be run.
bool is_of_explain(const Option& option) {
  return std::ranges::any_of(option.long_, [](const std::string& name) {
    const options::Row* const row = options::find_row(name);
    return row != nullptr &&
           (row->kind == options::Kind::observed || row->key == "what-if" || row->key == "resume");
  });
}

constexpr const char* plot_anywhere = "--plot=@";  // the folder is made when the run is repeated

constexpr std::size_t most_output = 4000;  // of a failed run in our message

std::string last_lines(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return {};
  std::string text = read_file(file, 64u << 20, "output");
  if (text.size() > most_output) text.erase(0, text.size() - most_output);
  return text;
}

int run_in(const fs::path& folder, const std::vector<std::string>& arguments, const fs::path& output) {
  std::vector<std::string> words = arguments;
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0)
    throw Error(ExitCode::failure, "program-start",
                fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (child == 0) {
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (nothing < 0 || out < 0 || ::dup2(nothing, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(out, 2) < 0)
      ::_exit(127);
    if (::chdir(folder.c_str()) != 0) ::_exit(127);
    ::execv("/proc/self/exe", argv.data());
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Changes no simulated time.
bool is_of_the_host(std::string_view key) {
  const options::Row* const row = options::find_row(key);
  return row != nullptr && row->kind == options::Kind::host;
}

std::map<std::string, std::string> effective(const result::Manifest& m) {
  std::map<std::string, std::string> out;
  for (const result::ConfigValue& c : m.configuration)
    if (!is_of_the_host(c.key) && c.key != "what-if") out[c.key] = c.value;
  return out;
}

void check_configuration(const result::Manifest& before, const result::Manifest& now) {
  const auto a = effective(before), b = effective(now);
  for (const auto& [key, value] : a) {
    const auto found = b.find(key);
    if (found != b.end() && found->second == value) continue;
    throw Error(ExitCode::check_failed, "rerun-differs",
                fmt::format("the run cannot be repeated: '{}' was {} and is {} now", shown(key, 60),
                            shown(value, 60), found == b.end() ? "not known" : shown(found->second, 60)),
                "configuration files, SIMTLAB_GPU, SIMTLAB_SET and device files must be as they were; or "
                "make a new result");
  }
}

}  // namespace

std::vector<std::string> repeatable_arguments(const Command& tool, const std::vector<std::string>& words) {
  if (words.size() < 2 || words[1] != "run") return {};
  return without(tool, words, [](const Option& o) { return is_of_output(o) || is_of_explain(o); });
}

std::vector<std::string> same_arguments(const Command& tool, const std::vector<std::string>& words) {
  if (!has_result(words)) return {};
  std::vector<std::string> out = without(tool, words, is_of_output);
  // What is observed for a timeline or for pictures is in the result, too: it is written where nobody sees
  // it.
  const auto asked = [&](const std::string& option) {
    return std::ranges::any_of(
        words, [&](const std::string& w) { return w == option || w.starts_with(option + "="); });
  };
  if (asked("--timeline")) out.insert(out.begin() + 1, "--timeline=/dev/null");
  if (asked("--plot")) out.insert(out.begin() + 1, plot_anywhere);
  return out;
}

void check_inputs_unchanged(const result::Manifest& manifest) {
  for (const result::InputHash& input : manifest.inputs) {
    const fs::path path = fs::path(manifest.working_directory) / input.path;
    std::error_code ignored;
    const bool there = fs::is_regular_file(path, ignored);
    if (there && hash_file(path) == input.xxh64) continue;
    throw Error(ExitCode::check_failed, "input-changed",
                fmt::format("{} {} since the result was made", shown(path.string()),
                            there ? "has changed" : "is gone, or was no plain file"),
                "run it again for a new result; `simtlab explain` without --rerun explains the old one");
  }
}

Rerun::Rerun(const Command& tool, const result::Manifest& manifest, What what)
    : manifest_(manifest),
      arguments_(
          (what == What::run ? repeatable_arguments : same_arguments)(tool, unquoted(manifest.command_line))),
      what_(what) {
  if (arguments_.empty() && what == What::everything)
    throw Error(
        ExitCode::bad_input, "rerun-command",
        fmt::format("the result does not say by which command it was made, or that cannot be repeated: '{}'",
                    shown(manifest.command_line, 100)),
        "results of run, cache, dram, predict, probe, corun and validate can");
  if (arguments_.empty())
    throw Error(ExitCode::bad_input, "explain-result",
                "the result does not say by which `simtlab run` it was made: it cannot be repeated",
                "without --rerun it is explained from what the file holds");
  if (what == What::everything) return;  // the command line says it
  for (const result::ConfigValue& c : manifest.configuration)
    if (c.key == "what-if" && c.value != "none") lifted_ = c.value;
}

result::Result Rerun::run(const std::string& what_if, bool lines) const {
  check_inputs_unchanged(manifest_);
  const TemporaryDirectory folder;
  const fs::path json = folder.path() / "result.json", output = folder.path() / "output";
  std::vector<std::string> words = {"simtlab"};
  const std::string pictures = "--plot=" + (folder.path() / "pictures").string();
  // Before a `--`, behind everything that they override.
  const auto dashes = std::ranges::find(arguments_, "--");
  words.insert(words.end(), arguments_.begin(), dashes);
  std::ranges::replace(words, std::string(plot_anywhere), pictures);
  words.insert(words.end(), {"-q", "--json=" + json.string()});
  if (lines) words.emplace_back("--lines");
  const std::string limits = lifted_ + (lifted_.empty() || what_if.empty() ? "" : ",") + what_if;
  if (!limits.empty()) words.push_back("--what-if=" + limits);
  words.insert(words.end(), dashes, arguments_.end());
  const int status = run_in(manifest_.working_directory, words, output);
  std::error_code ignored;
  const bool failed_before = what_ == What::everything &&
                             (!manifest_.failure.empty() || manifest_.program_exit_status.value_or(0) != 0);
  if ((status != 0 && !failed_before) || !fs::exists(json, ignored))
    throw Error(ExitCode::failure, "rerun-failed",
                fmt::format("the run could not be repeated: it ended with status {}", status),
                shown_lines(last_lines(output), most_output));
  result::Result out = result::read_result_file(json);
  check_configuration(manifest_, out.manifest);
  return out;
}

}  // namespace simtlab::studies
