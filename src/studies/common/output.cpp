#include "studies/common/output.h"

#include <fmt/format.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "report/format.h"
#include "studies/common/command.h"
#include "studies/common/host.h"
#include "studies/common/status.h"
#include "studies/common/terminal_text.h"

namespace simtlab::studies {
namespace {

bool environment_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}
// CLICOLOR=0, CLICOLOR_FORCE=0: what older programs take for "not".
bool environment_says_no(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && std::string_view(value) == "0";
}

// no-color.org and bixense.com/clicolors: who wants no colour is heard first.
bool wants_colour(bool terminal) {
  if (environment_set("NO_COLOR")) return false;
  if (environment_set("CLICOLOR_FORCE") && !environment_says_no("CLICOLOR_FORCE")) return true;
  return terminal && can_move_cursor() && !environment_says_no("CLICOLOR");
}

std::atomic<bool> stdout_reader_left{false};

// The same for two names of one file: device and inode, or of a file that does not exist its path without
// links.
std::string identity(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return fmt::format("{}:{}", status.st_dev, status.st_ino);
  std::error_code code;
  const std::filesystem::path real =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path, code), code);
  return (code ? path : real).string();
}

struct NamedOutput {
  std::string what;  // "--json=a"
  std::string id;
};

std::vector<NamedOutput> named_outputs(const OutputOptions& options) {
  std::vector<NamedOutput> out;
  // What the shell opened is written to, too; a terminal, a pipe or /dev/null may be shared.
  struct stat status {};
  if (host() == nullptr && ::fstat(STDOUT_FILENO, &status) == 0 && S_ISREG(status.st_mode))
    out.push_back({"standard output", fmt::format("{}:{}", status.st_dev, status.st_ino)});
  const auto add = [&](const char* option, const std::string& file) {
    if (file.empty() || file == "-" || file == "/dev/null") return;
    out.push_back({fmt::format("{}{}", option, shown(file)), identity(file)});
  };
  add("--json=", options.json);
  add("--csv=", options.csv);
  add("-o ", options.output);
  for (const OutputOptions::More& m : options.more) add((std::string(m.option) + " ").c_str(), *m.file);
  return out;
}

}  // namespace

report::Style style_for(int descriptor, const std::string& color) {
  report::Style style;
  if (host() != nullptr) return style;  // text that nobody's terminal shows
  const bool terminal = ::isatty(descriptor) == 1;
  style.colour = color == "always" || (color == "auto" && wants_colour(terminal));
  style.unicode = std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
  winsize size{};
  if (terminal && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.width = size.ws_col;
  else if (const char* columns = std::getenv("COLUMNS"))
    style.width = static_cast<unsigned>(std::strtoul(columns, nullptr, 10));
  style.width = std::clamp(style.width == 0 ? 100u : style.width, 40u, 400u);
  return style;
}

void write_stream(int descriptor, std::string_view text) {
  if (Host* const served = host()) return served->add_message(text);
  if (write_past_status(descriptor, text)) return;
  const bool left = errno == EPIPE;  // the reader has seen enough
  if (left && descriptor == STDOUT_FILENO) stdout_reader_left = true;
  if (left || descriptor == STDERR_FILENO) return;
  throw Error(ExitCode::failure, "file-write",
              fmt::format("cannot write to stdout: {}", std::strerror(errno)));
}

void narrate(const OutputOptions& options, unsigned level, std::string_view text) {
  if (options.verbose >= level && !options.quiet) talk(fmt::format("simtlab: {}\n", text));
}

bool reader_has_left() { return stdout_reader_left; }
void talk(std::string_view text) { write_stream(STDERR_FILENO, terminal_text(text)); }
void pass_on(std::string_view text) { write_stream(STDERR_FILENO, text); }

void talk_error(std::string_view formatted, const std::string& color) {
  const report::Style style = style_for(STDERR_FILENO, color);
  if (!style.colour) return talk(formatted);
  std::string out;
  while (!formatted.empty()) {
    const std::size_t end = std::min(formatted.find('\n'), formatted.size() - 1) + 1;
    const std::string_view line = formatted.substr(0, end);
    formatted.remove_prefix(end);
    // Lines of the source that is quoted are indented; they may say anything.
    const bool quoted = line.starts_with(' '), hints = line.starts_with("  hint: ");
    const std::string_view word = hints ? "hint:" : "error:";
    const std::size_t at = quoted && !hints ? line.npos : line.find(word);
    if (at == line.npos) {
      out += line;
      continue;
    }
    if (at > 0 && !hints)
      out += report::painted(line.substr(0, at), report::Paint::bold, style);
    else
      out += line.substr(0, at);
    out += report::painted(word, hints ? report::Paint::accent : report::Paint::bad, style);
    out += line.substr(at + word.size());
  }
  talk(out);
}

void check_outputs(OutputOptions& options) {
  std::vector<std::string*> files = {&options.output, &options.json, &options.csv};
  for (const OutputOptions::More& m : options.more) files.push_back(m.file);
  for (std::string* file : files)
    if (*file == "/dev/stdout" || *file == "/dev/fd/1" || *file == "/proc/self/fd/1") *file = "-";
  options.more_on_stdout =
      std::ranges::any_of(options.more, [](const OutputOptions::More& m) { return *m.file == "-"; });
  const auto on_stdout = std::ranges::count_if(files, [](const std::string* file) { return *file == "-"; });
  if (on_stdout > 1)
    throw Error(ExitCode::usage, "option-conflict", "two outputs would share stdout",
                "give all but one a file: --json=FILE, --csv=FILE, -o FILE");
  const std::vector<NamedOutput> outputs = named_outputs(options);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (outputs[i].id == outputs[k].id)
        throw Error(ExitCode::usage, "option-conflict",
                    fmt::format("{} and {} would write to the same file", outputs[k].what, outputs[i].what),
                    "give each a file of its own");
}

void check_inputs(const OutputOptions& options, const std::vector<std::filesystem::path>& inputs) {
  const std::vector<NamedOutput> outputs = named_outputs(options);
  for (const std::filesystem::path& input : inputs)
    for (const NamedOutput& output : outputs)
      if (output.id == identity(input))
        throw Error(ExitCode::usage, "option-conflict",
                    fmt::format("{} would overwrite {}, which this command reads", output.what,
                                shown(input.string())),
                    "choose another file");
}

bool data_on_stdout(const OutputOptions& options) {
  return options.json == "-" || options.csv == "-" || options.more_on_stdout;
}

bool Writing::operator()(const std::function<void()>& write) {
  try {
    write();
    return true;
  } catch (const Error& error) {
    if (!failed_) {
      failed_ = error;
      return false;
    }
    std::vector<Diagnostic> all = failed_->diagnostics();
    all.insert(all.end(), error.diagnostics().begin(), error.diagnostics().end());
    failed_ = Error(failed_->code(), failed_->id(), std::move(all));
    return false;
  }
}

void Writing::end() const {
  if (failed_) throw Error(*failed_);
}

void add_output_options(Command& command, OutputOptions& options) {
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
  only_shown(command.add_option("--color", options.color, "auto (default), always or never")
                 ->check(one_of({"auto", "always", "never"}))
                 ->type_name("WHEN")
                 ->group(group));
  only_shown(
      command.add_flag("--all", options.all, "Every kernel, stall reason and metric in the text report")
          ->group(group));
  only_shown(
      command
          .add_flag("-q,--quiet", options.quiet,
                    "Errors and warnings only: no notes, no progress, no report on stderr, and none on "
                    "stdout where a file (as --json=FILE) has the result")
          ->group(group));
  only_shown(command
                 .add_flag("-v,--verbose", options.verbose,
                           "As --all, and say what is being done on stderr; twice (-vv): which files are "
                           "read, and a program's environment, too")
                 ->group(group));
}

void add_progress_option(Command& command, OutputOptions& options) {
  only_shown(command
                 .add_option("--progress", options.progress,
                             "auto (default: a line on the terminal), plain (a line on stderr every ten "
                             "seconds) or none")
                 ->check(one_of({"auto", "plain", "none"}))
                 ->type_name("HOW")
                 ->group("Output"));
}

void add_live_option(Command& command, OutputOptions& options) {
  command
      .add_option("--live", options.live,
                  "Write how far the run is to FILE as it goes on, for `simtlab view FILE`")
      ->check(output_file())
      ->type_name("FILE")
      ->group("Output");
}

}  // namespace simtlab::studies
